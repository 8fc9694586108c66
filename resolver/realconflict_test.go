package resolver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// A realCase is a conflict over a published catalog.
type realCase struct {
	name, catalog string
	subs          []resolver.Subscription // an InstalledCSV is installed as it is in the catalog
}

var realCases = []realCase{
	{"kogito-operator", "community", []resolver.Subscription{{Package: "kogito-operator", Channel: "alpha", StartingCSV: "kogito-operator.v0.14.0"}}},
	{"lib-bucket-provisioner", "community", []resolver.Subscription{{Package: "lib-bucket-provisioner", Channel: "alpha", StartingCSV: "lib-bucket-provisioner.v2.0.0"}, {Package: "awss3-operator-registry", Channel: "alpha"}}},
	{"mercury-operator", "community", []resolver.Subscription{{Package: "mercury-operator", Channel: "1.0.x"}}},
	{"mercury-operator-installed", "community", []resolver.Subscription{{Package: "mercury-operator", Channel: "stable", InstalledCSV: "mercury-operator.v1.0.2"}}},
	{"silicom-sts-operator", "community", []resolver.Subscription{{Package: "silicom-sts-operator", Channel: "alpha", StartingCSV: "silicom-sts-operator.v0.0.1"}}},
	{"node-healthcheck-operator", "community", []resolver.Subscription{{Package: "node-healthcheck-operator", StartingCSV: "node-healthcheck-operator.v0.1.1"}}},
	{"pelorus-operator", "community", []resolver.Subscription{{Package: "pelorus-operator", Channel: "alpha"}}},
	{"pelorus-operator-installed", "community", []resolver.Subscription{{Package: "pelorus-operator", Channel: "alpha", InstalledCSV: "pelorus-operator.v0.0.1"}}},
	{"bpfman-operator", "community", []resolver.Subscription{{Package: "bpfman-operator", Channel: "alpha", InstalledCSV: "bpfman-operator.v0.5.1"}, {Package: "loki-operator"}}},
	{"special-resource-operator", "community", []resolver.Subscription{{Package: "special-resource-operator", Channel: "alpha"}}},
	{"eclipse-che", "community", []resolver.Subscription{{Package: "eclipse-che", Channel: "stable", InstalledCSV: "eclipse-che.v7.77.0"}}},
	{"sn-operator", "community", []resolver.Subscription{{Package: "sn-operator", Channel: "alpha", InstalledCSV: "sn-operator.v0.7.10"}, {Package: "pulsar-operator", Channel: "alpha", InstalledCSV: "pulsar-operator.v0.17.5"}}},
	{"shipwright-operator", "openshift-v4.16", []resolver.Subscription{{Package: "shipwright-operator", Channel: "alpha"}}},
	{"alloydb-omni-operator", "openshift-v4.19", []resolver.Subscription{{Package: "alloydb-omni-operator", Channel: "stable"}}},
}

// problem returns the problem of a case.
func (c *realCase) problem(t testing.TB) resolver.Problem {
	g := tree(t, c.catalog)
	p := resolver.Problem{
		Namespace: "operators", Subscriptions: c.subs,
		Catalogs: []resolver.Catalog{{Name: c.catalog, Namespace: "olm", Graph: g}},
	}
	for _, s := range c.subs {
		if s.InstalledCSV != "" {
			p.Installed = append(p.Installed, installedOf(t, g, s.Package, s.InstalledCSV))
		}
	}
	return p
}

// installedOf returns a bundle as an installed operator.
func installedOf(t testing.TB, g *graph.Catalog, pkg, name string) resolver.Installed {
	p, _ := g.Package(pkg)
	b, ok := p.Bundle(name)
	if !ok {
		t.Fatalf("package %s has no bundle %s", pkg, name)
	}
	in := resolver.Installed{Name: name, Version: b.Version().String(), Package: pkg}
	for q := range b.Properties() {
		if !property.IsHeavy(q.Type) {
			in.Properties = append(in.Properties, q)
		}
	}
	return in
}

// conflictOf resolves a problem that must not have a solution.
func conflictOf(t testing.TB, p resolver.Problem) *resolver.Conflict {
	t.Helper()
	sol, err := resolver.Resolve(context.Background(), p)
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		t.Fatalf("got %v, %v, want a conflict", sol, err)
	}
	return no
}

// TestRealConflicts compares the explanations of conflicts in real catalogs.
func TestRealConflicts(t *testing.T) {
	for _, c := range realCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := conflictOf(t, c.problem(t)).Text(context.Background(), 100, nil)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "real", c.name+".txt")
			if golden.Update() {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("-want +got (-update rewrites it):\n%s", cmp.Diff(string(want), got))
			}
		})
	}
}

// BenchmarkExplain measures the cost of an explanation with its fixes, in addition to the resolution. The goal is 10
// ms each.
func BenchmarkExplain(b *testing.B) {
	for _, c := range realCases {
		b.Run(c.name, func(b *testing.B) {
			no := conflictOf(b, c.problem(b))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := no.Text(context.Background(), 100, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
