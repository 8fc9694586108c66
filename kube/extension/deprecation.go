package extension

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/graph"
)

// A deprecation is the content of one of the deprecation conditions.
type deprecation struct {
	typ, reason, message string
	status               metav1.ConditionStatus
}

// unknownDeprecation returns the condition of a type that no catalog has data about.
func unknownDeprecation(typ string) deprecation {
	return deprecation{typ, reasonDeprecationUnknown, "deprecation status unknown: catalog data unavailable", metav1.ConditionUnknown}
}

// deprecated returns the condition for the messages about what a type describes, which are nil
// if it is not deprecated.
func deprecated(typ, not string, messages []string) deprecation {
	if messages == nil {
		return deprecation{typ, reasonNotDeprecated, not, metav1.ConditionFalse}
	}
	return deprecation{typ, reasonDeprecated, strings.Join(messages, "\n"), metav1.ConditionTrue}
}

// deprecations returns the deprecation conditions for the package, the
// requested channels or else all channels, and the installed bundle, according
// to the first catalog (C5). Deprecations without a message count only for the
// bundle.
func deprecations(o Outcome) []deprecation { // K104
	if o.Decision == nil || len(o.Decision.Catalogs) == 0 {
		return []deprecation{unknownDeprecation(typePackageDeprecated), unknownDeprecation(typeChannelDeprecated), unknownDeprecation(typeBundleDeprecated), unknownDeprecation(typeDeprecated)}
	}
	var pkg, channels, bundle []string
	p, _ := o.Decision.Catalogs[0].Graph.Package(o.Decision.Request.Package)
	if m, ok := p.Deprecation(); ok && m != "" {
		pkg = []string{m}
	}
	requested := o.Decision.Request.Channels
	for ch := range p.Channels() {
		if m, ok := ch.Deprecation(); ok && m != "" && (len(requested) == 0 || slices.Contains(requested, ch.Name())) && !slices.Contains(channels, m) {
			channels = append(channels, m)
		}
	}
	out := []deprecation{
		deprecated(typePackageDeprecated, "package not deprecated", pkg),
		deprecated(typeChannelDeprecated, "channel not deprecated", channels),
	}
	b, ok := o.installedBundle()
	switch {
	case o.Installed == nil && o.InstalledErr == nil:
		out = append(out, deprecation{typeBundleDeprecated, reasonAbsent, "no bundle installed yet", metav1.ConditionUnknown})
	case !ok:
		out = append(out, unknownDeprecation(typeBundleDeprecated))
	default:
		if m, ok := b.Deprecation(); ok {
			bundle = []string{m}
		}
		out = append(out, deprecated(typeBundleDeprecated, "bundle not deprecated", bundle))
	}
	all := slices.DeleteFunc(slices.Concat(pkg, channels, bundle), func(m string) bool { return m == "" })
	if len(all) == 0 {
		all = nil
	}
	return append(out, deprecated(typeDeprecated, "not deprecated", all))
}

// installedBundle returns the installed bundle in the first catalog that has it.
func (o Outcome) installedBundle() (graph.Bundle, bool) {
	if o.Installed == nil {
		return graph.Bundle{}, false
	}
	for _, c := range o.Decision.Catalogs {
		p, _ := c.Graph.Package(o.Decision.Request.Package)
		if b, ok := p.Bundle(o.Installed.Name); ok {
			return b, true
		}
	}
	return graph.Bundle{}, false
}
