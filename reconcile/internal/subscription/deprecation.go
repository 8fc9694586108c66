package subscription

import (
	"cmp"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// deprecations sets the conditions for deprecated packages, channels and bundles, with the
// messages of the catalog, and the condition that summarizes them (E5). The bundle is the
// installed one or, before there is one, the chosen one. A channel that the subscription does
// not name is ignored. While the catalog cannot be read, the conditions stay.
func (p *planner) deprecations(s *olm.Subscription, catalogs []catalog.Health) {
	var pkg graph.Package
	found := false
	for _, h := range catalogs {
		m := &h.Source.Metadata
		if m.Name != s.Spec.Source || m.Namespace != s.Spec.SourceNamespace {
			continue
		}
		if h.Entry.Graph == nil {
			return
		}
		pkg, found = h.Entry.Graph.Package(s.Spec.Package)
	}
	messages := map[string]string{}
	if found {
		if text, ok := pkg.Deprecation(); ok {
			messages[world.PackageDeprecated] = text
		}
		if ch, ok := pkg.Channel(s.Spec.Channel); ok && s.Spec.Channel != "" {
			if text, ok := ch.Deprecation(); ok {
				messages[world.ChannelDeprecated] = text
			}
		}
		if b, ok := pkg.Bundle(cmp.Or(s.Status.InstalledCSV, s.Status.CurrentCSV)); ok {
			if text, ok := b.Deprecation(); ok {
				messages[world.BundleDeprecated] = text
			}
		}
	}
	var all []string
	for _, typ := range []string{world.PackageDeprecated, world.ChannelDeprecated, world.BundleDeprecated} {
		if text, ok := messages[typ]; ok {
			all = append(all, text)
			p.SetCondition(&s.Status.Conditions, olm.Condition{Type: typ, Status: olm.ConditionTrue, Message: text})
			continue
		}
		change.ClearCondition(&s.Status.Conditions, typ)
	}
	if len(all) == 0 {
		change.ClearCondition(&s.Status.Conditions, world.Deprecated)
		return
	}
	p.SetCondition(&s.Status.Conditions, olm.Condition{Type: world.Deprecated, Status: olm.ConditionTrue, Message: strings.Join(all, "\n")})
}
