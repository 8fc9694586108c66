package extension

import (
	"fmt"
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

func (d *deprecation) unknown(reason, message string) {
	d.status, d.reason, d.message = metav1.ConditionUnknown, reason, message
}

func (d *deprecation) known(messages []string) {
	if len(messages) == 0 {
		d.status, d.reason, d.message = metav1.ConditionFalse, reasonNotDeprecated, ""
		return
	}
	d.status, d.reason, d.message = metav1.ConditionTrue, reasonDeprecated, strings.Join(messages, "; ")
}

// deprecations returns the deprecation conditions for the package, the
// requested channels and the installed bundle, according to the first catalog
// (C5).
func deprecations(o Outcome) []deprecation {
	pkg := deprecation{typ: typePackageDeprecated}
	channel := deprecation{typ: typeChannelDeprecated}
	bundle := deprecation{typ: typeBundleDeprecated}
	all := deprecation{typ: typeDeprecated}
	if o.Decision == nil || len(o.Decision.catalogs) == 0 {
		text := "no readable catalog has the package"
		if o.Decision == nil || len(o.Decision.request.Catalogs) == 0 {
			text = "no catalog was read"
		}
		for _, d := range []*deprecation{&pkg, &channel, &bundle, &all} {
			d.unknown(reasonDeprecationUnknown, text)
		}
		return []deprecation{pkg, channel, bundle, all}
	}
	var messages []string
	p, _ := o.Decision.catalogs[0].Graph.Package(o.Decision.request.Package)
	if m, ok := p.Deprecation(); ok {
		messages = []string{m}
	}
	pkg.known(messages)

	var channels []string
	for _, name := range slices.Sorted(slices.Values(o.Decision.request.Channels)) {
		ch, ok := p.Channel(name)
		if !ok {
			continue
		}
		if m, ok := ch.Deprecation(); ok {
			channels = append(channels, fmt.Sprintf("channel %s: %s", name, m))
		}
	}
	channel.known(slices.Compact(channels))
	messages = append(messages, slices.Compact(channels)...)

	switch b, ok := o.installedBundle(); {
	case o.InstalledErr != nil:
		bundle.unknown(reasonDeprecationUnknown, "the installed bundle is unknown")
	case o.Installed == nil:
		bundle.unknown(reasonAbsent, "no bundle is installed")
	case !ok:
		bundle.unknown(reasonDeprecationUnknown, fmt.Sprintf("no catalog has bundle %s", o.Installed.Name))
	default:
		var list []string
		if m, ok := b.Deprecation(); ok {
			list = []string{m}
		}
		bundle.known(list)
		messages = append(messages, list...)
	}
	all.known(messages)
	return []deprecation{pkg, channel, bundle, all}
}

// installedBundle returns the installed bundle in the first catalog that has it.
func (o Outcome) installedBundle() (graph.Bundle, bool) {
	if o.Installed == nil {
		return graph.Bundle{}, false
	}
	for _, c := range o.Decision.catalogs {
		p, _ := c.Graph.Package(o.Decision.request.Package)
		if b, ok := p.Bundle(o.Installed.Name); ok {
			return b, true
		}
	}
	return graph.Bundle{}, false
}
