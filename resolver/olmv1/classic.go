package olmv1

import (
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver"
)

// classicNamespace is the namespace for operators of classic OLM.
const classicNamespace = "operators"

// classic returns the fix that installs the chosen bundle with classic OLM, or else the highest requested one, with
// what it requires, or nil if classic OLM does not. There is none for an upgrade: the two do not take over
// each other's operators.
func (s *selecting) classic(ctx context.Context, r *Refusal) (*Fix, error) {
	if s.Installed != nil {
		return nil, nil
	}
	p := resolver.Problem{Namespace: classicNamespace, Installed: s.Options.OtherInstalled}
	for _, c := range s.catalogs {
		p.Catalogs = append(p.Catalogs, resolver.Catalog{Name: c.Name, Namespace: p.Namespace, Priority: c.Priority, Graph: c.Graph})
	}
	var channels []string // the default one first
	for e := range r.chosen.Entries() {
		if ch := e.Channel(); len(s.Channels) > 0 && !slices.Contains(s.Channels, ch.Name()) {
			continue
		} else if ch.IsDefault() {
			channels = slices.Insert(channels, 0, ch.Name())
		} else {
			channels = append(channels, ch.Name())
		}
	}
	var best *Fix
	var highest graph.VersionRelease
	for _, ch := range channels[:min(len(channels), 3)] {
		p.Subscriptions = []resolver.Subscription{{Package: s.Package, Channel: ch}}
		sol, err := resolver.Resolve(ctx, p)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		for _, x := range sol.Selected {
			n := graph.Node{Name: x.Name, Version: x.Version}
			v, err := semver.Parse(x.Version)
			if x.Package != s.Package || err != nil || !s.rng.Contains(v) {
				continue
			}
			if at := graph.ReadRelease(v); best == nil || at.Compare(highest) > 0 {
				best, highest = s.classicIn(ch, x.Catalog, n, sol.Selected), at
			}
		}
	}
	return best, nil
}

// classicIn returns the fix that a Subscription to a channel of a catalog installs a bundle and others.
func (s *selecting) classicIn(channel, catalog string, n graph.Node, list []resolver.Selected) *Fix {
	var names []string
	for _, x := range list {
		names = append(names, x.Name)
	}
	is := "are"
	if len(names) == 1 {
		is = "is"
	}
	return &Fix{
		Command: kubectl.Apply(map[string]any{
			"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
			"metadata": map[string]any{"name": s.Package, "namespace": classicNamespace},
			"spec": map[string]any{
				"name": s.Package, "channel": channel, "source": catalog, "sourceNamespace": resolver.DefaultGlobalNamespace,
			},
		}),
		Kind: FixClassic, Package: s.Package, Channels: []string{channel}, Course: Course{Catalog: catalog, Selected: n},
		Text: fmt.Sprintf("use classic OLM: create a Subscription to package %s, channel %s, in place of the ClusterExtension; then %s %s installed, "+
			"if CatalogSource %s in namespace %s has this catalog", s.Package, channel, phrase.And(names), is, catalog, resolver.DefaultGlobalNamespace),
	}
}
