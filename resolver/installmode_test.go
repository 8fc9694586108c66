package resolver_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// TestInstallModes checks which bundles an operator group excludes (G7, F2): the newest version that supports its
// targets is chosen.
func TestInstallModes(t *testing.T) {
	a := txtar.Parse([]byte(`
-- c/catalog.yaml --
schema: olm.package
name: app
defaultChannel: stable
---
schema: olm.channel
package: app
name: stable
entries: [{name: app.v3, replaces: app.v2}, {name: app.v2, replaces: app.v1}, {name: app.v1}]
---
schema: olm.bundle
package: app
name: app.v1
image: i
properties:
- {type: olm.package, value: {packageName: app, version: 1.0.0}}
---
schema: olm.bundle
package: app
name: app.v2
image: i
properties:
- {type: olm.package, value: {packageName: app, version: 2.0.0}}
- {type: olm.csv.metadata, value: {installModes: [{type: OwnNamespace, supported: true}, {type: SingleNamespace, supported: true}]}}
---
schema: olm.bundle
package: app
name: app.v3
image: i
properties:
- {type: olm.package, value: {packageName: app, version: 3.0.0}}
- {type: olm.csv.metadata, value: {installModes: [{type: AllNamespaces, supported: true}]}}
-- problem.json --
{"catalogs":[{"name":"c","namespace":"olm","dir":"c"}],"namespace":"ns","subscriptions":[{"package":"app"}],"installed":[]}
`))
	p := readCase(t, a)
	// An index of the catalog gives the same answer.
	var file bytes.Buffer
	if err := graph.WriteIndex(context.Background(), &file, p.Catalogs[0].Graph, ""); err != nil {
		t.Fatal(err)
	}
	index, err := graph.ReadIndex(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := p
	opened.Catalogs = slices.Clone(p.Catalogs)
	opened.Catalogs[0].Graph = index
	for _, tt := range []struct {
		name    string
		group   *resolver.OperatorGroup
		want    string
		without string // an excluded range
	}{
		{"no group", nil, "app.v3", ""},
		{"all", &resolver.OperatorGroup{TargetNamespaces: []string{""}}, "app.v3", ""},
		{"own", &resolver.OperatorGroup{TargetNamespaces: []string{"ns"}}, "app.v2", ""},
		{"one other", &resolver.OperatorGroup{TargetNamespaces: []string{"other"}}, "app.v2", ""},
		// A bundle without stated modes is not excluded.
		{"several", &resolver.OperatorGroup{TargetNamespaces: []string{"a", "b"}}, "app.v1", ""},
		{"all, without the only one", &resolver.OperatorGroup{TargetNamespaces: []string{""}}, "", "=3.0.0 || =1.0.0"},
	} {
		for _, p := range []resolver.Problem{p, opened} {
			p.OperatorGroup = tt.group
			if tt.without != "" {
				p.Policies = []resolver.Policy{{Package: "app", Exclude: tt.without}}
			}
			sol, err := resolver.Resolve(context.Background(), p)
			var no *resolver.Conflict
			switch {
			case tt.want == "" && !errors.As(err, &no):
				t.Errorf("%s: got %v, %v, want a conflict", tt.name, sol, err)
			case tt.want != "" && (err != nil || len(sol.Selected) != 1 || sol.Selected[0].Name != tt.want):
				t.Errorf("%s: got %v, %v, want %s", tt.name, sol, err, tt.want)
			}
		}
	}
}
