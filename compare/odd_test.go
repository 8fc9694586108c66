package compare_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// TestOddlyInstalled checks that olmkit treats unusual installed operators like the running OLM, in a problem and in a
// namespace, unless a rule requires otherwise (H22, H23, H24).
func TestOddlyInstalled(t *testing.T) {
	const catalog = `{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","name":"s","package":"a","entries":[{"name":"a1"}]}
{"schema":"olm.bundle","name":"a1","package":"a","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.package","name":"e","defaultChannel":"s"}
{"schema":"olm.channel","name":"s","package":"e","entries":[{"name":"e1"}]}
{"schema":"olm.bundle","name":"e1","package":"e","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"e","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"a","versionRange":"<=1.0.0"}}]}
{"schema":"olm.package","name":"g","defaultChannel":"s"}
{"schema":"olm.channel","name":"s","package":"g","entries":[{"name":"g1"}]}
{"schema":"olm.bundle","name":"g1","package":"g","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"g","version":"1.0.0"}},{"type":"olm.label.required","value":{"label":"gold"}}]}`
	const next = `
{"schema":"olm.package","name":"h","defaultChannel":"s"}
{"schema":"olm.channel","name":"s","package":"h","entries":[{"name":"h1","replaces":"h0"}]}
{"schema":"olm.bundle","name":"h1","package":"h","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"h","version":"1.0.0"}}]}`
	pkg := func(name, version string) property.Property {
		return property.New(property.TypePackage, property.Package{PackageName: name, Version: version})
	}
	gold := property.Property{Type: property.TypeLabel, Value: []byte(`{"label":"gold"}`)}
	to := func(name string, more ...string) resolver.Subscription {
		s := resolver.Subscription{Name: name, Package: name, Channel: "s", Catalog: "c", CatalogNamespace: "olm"}
		if len(more) > 0 {
			s.InstalledCSV = more[0]
		}
		return s
	}
	with := func(name string, props ...property.Property) resolver.Installed {
		return resolver.Installed{Name: name, Version: "1.0.0", Properties: props}
	}
	for _, c := range []struct {
		name      string
		installed []resolver.Installed
		subs      []resolver.Subscription
		want      string
		olm       string // OLM's answer, if it differs
	}{
		{"empty version", []resolver.Installed{with("a0", pkg("a", ""))}, []resolver.Subscription{to("a")}, refused, ""},
		{"empty version meets", []resolver.Installed{with("a0", pkg("a", ""))}, []resolver.Subscription{to("e")}, "e1", ""},
		{"no annotation", []resolver.Installed{with("a0")}, []resolver.Subscription{to("a", "a0"), to("e")}, "e1", ""},
		{"no annotation, orphan", []resolver.Installed{with("a0")}, []resolver.Subscription{to("e")}, "a1 e1", ""},
		{"two packages", []resolver.Installed{with("x", pkg("b", "1.0.0"), pkg("a", "1.0.0"))}, []resolver.Subscription{to("a")}, refused, ""},
		{"one package twice", []resolver.Installed{with("a0", pkg("a", "1.0.0"), pkg("a", "1.0.0"))}, nil, refused, ""},
		{"orphan meets an open subscription", []resolver.Installed{with("z1", pkg("z", "1.0.0"))}, []resolver.Subscription{{Name: "s", Package: "z"}}, "", ""},
		{"orphan before a catalog", []resolver.Installed{with("a0", pkg("a", "1.0.0"))}, []resolver.Subscription{{Name: "s", Package: "a"}}, "", ""},
		{"orphan, with a channel", []resolver.Installed{with("z1", pkg("z", "1.0.0"))}, []resolver.Subscription{{Name: "s", Package: "z", Channel: "s"}}, refused, ""},
		{"orphan, another startingCSV", []resolver.Installed{with("z1", pkg("z", "1.0.0"))}, []resolver.Subscription{{Name: "s", Package: "z", StartingCSV: "z2"}}, refused, ""},
		{"package vanished, open subscription", []resolver.Installed{with("z1", pkg("z", "1.0.0"))}, []resolver.Subscription{{Name: "s", Package: "z", InstalledCSV: "z1"}}, "", ""},
		{"package vanished", []resolver.Installed{with("z1", pkg("z", "1.0.0"))}, []resolver.Subscription{to("z", "z1")}, refused, ""},
		{"two satisfy a requirement", []resolver.Installed{with("x1", gold), with("x2", gold)}, []resolver.Subscription{to("g")}, "g1", ""},
		{"two of a package satisfy a requirement (H24)", []resolver.Installed{with("h0", pkg("h", "0.1.0"), pkg("k", "1.0.0"), gold), with("k1", pkg("k", "1.0.0"), gold)},
			[]resolver.Subscription{to("g"), to("h", "h0")}, "g1 h1", refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := catalog + next
			p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: &text}}, Installed: c.installed, Subscriptions: c.subs}
			p.Options.Semantics = resolver.PerBundle
			g, err := graph.LoadReader(t.Context(), strings.NewReader(text), "c", nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Catalogs[0].Graph = g
			got := refused
			sol, err := resolver.Resolve(t.Context(), p)
			var no *resolver.Conflict
			switch {
			case err == nil:
				var names []string
				for _, s := range sol.Selected {
					names = append(names, s.Name)
				}
				got = strings.Join(names, " ")
			case !errors.As(err, &no):
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("olmkit: %q, want %q", got, c.want)
			}
			want := c.olm
			if want == "" {
				want = c.want
			}
			if got := namespaceOf(t, p, text); got != want {
				t.Errorf("OLM: %q, want %q", got, want)
			}
		})
	}
}

// namespaceOf returns the bundles that OLM installs in the namespace of a problem with one catalog.
func namespaceOf(t *testing.T, p resolver.Problem, text string) string {
	s := &reconcile.Snapshot{Namespace: p.Namespace, GlobalNamespace: "olm"}
	head := func(version, kind, name string) olm.Header {
		return olm.Header{APIVersion: version, Kind: kind, Metadata: olm.Metadata{Name: name, Namespace: p.Namespace}}
	}
	s.OperatorGroups = []*olm.OperatorGroup{{Header: head(olm.V1, olm.KindOperatorGroup, "og")}}
	for _, in := range p.Installed {
		c := &olm.ClusterServiceVersion{Header: head(olm.V1Alpha1, olm.KindClusterServiceVersion, in.Name)}
		c.Spec.Version = in.Version
		if in.Properties != nil {
			var list []string
			for _, x := range in.Properties {
				list = append(list, fmt.Sprintf(`{"type":%q,"value":%s}`, x.Type, x.Value))
			}
			c.Metadata.SetAnnotation(property.ProjectedAnnotation, `{"properties":[`+strings.Join(list, ",")+`]}`)
		}
		s.CSVs = append(s.CSVs, c)
	}
	for _, x := range p.Subscriptions {
		y := &olm.Subscription{Header: head(olm.V1Alpha1, olm.KindSubscription, x.Name)}
		y.Spec.Package, y.Spec.Channel, y.Spec.StartingCSV = x.Package, x.Channel, x.StartingCSV
		y.Spec.Source, y.Spec.SourceNamespace = x.Catalog, x.CatalogNamespace
		y.Status.InstalledCSV, y.Status.CurrentCSV = x.InstalledCSV, x.InstalledCSV
		s.Subscriptions = append(s.Subscriptions, y)
	}
	m, err := peer.Load(context.Background(), fstest.MapFS{"catalog.json": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	id := resolver.CatalogID{Name: "c", Namespace: "olm"}
	snapshot, err := peer.Snapshot(context.Background(), m, id)
	if err != nil {
		t.Fatal(err)
	}
	n, err := peer.NewNamespace(s, map[resolver.CatalogID]*cache.Snapshot{id: snapshot})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := n.Plan()
	if err != nil {
		return refused
	}
	var names []string
	for line := range strings.Lines(plan.Steps) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
