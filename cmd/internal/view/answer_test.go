package view

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// joined replaces line breaks with spaces, so that texts that are wrapped at different widths can be compared.
func joined(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestConflictsAreToldAlike checks that each sentence, author's message and fix on the page is also in the text of the
// conflict, for every golden explanation of package resolver (D16).
func TestConflictsAreToldAlike(t *testing.T) {
	cases, err := filepath.Glob("../../../resolver/testdata/conflicts/*.txtar")
	if err != nil || len(cases) < 20 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	sentences := 0
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			var problem, want string
			for _, f := range ar.Files {
				switch f.Name {
				case "problem.json":
					problem = string(f.Data)
				case "want":
					want = joined(string(f.Data))
				default:
					fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			if problem == "" || want == "" {
				t.Fatal("the case has no problem, or nothing is wanted of it")
			}
			for p, err := range document.Read[resolver.Problem](strings.NewReader(problem)) {
				if err != nil {
					t.Fatal(err)
				}
				err = p.Open(t.Context(), func(ctx context.Context, dir string) (*graph.Catalog, error) {
					sub, err := fsys.Sub(dir)
					if err != nil {
						return nil, err
					}
					return graph.Load(ctx, sub, nil)
				})
				if err != nil {
					t.Fatal(err)
				}
				a, err := newAnswer(t.Context(), "case", &p)
				if err != nil {
					t.Fatal(err)
				}
				sentences += alike(t, a, want)
			}
		})
	}
	if sentences < 100 {
		t.Errorf("only %d sentences were compared", sentences)
	}
}

// alike checks that the sentences of an answer are in a text, and returns their number.
func alike(t *testing.T, a *answerData, want string) int {
	t.Helper()
	if a.OK || len(a.Cores) == 0 {
		t.Errorf("there is no conflict: %+v", a)
	}
	n := 0
	var visit func(s *stepData)
	visit = func(s *stepData) {
		n++
		if !strings.Contains(want, joined(s.Text)) {
			t.Errorf("the page has %q, but the text does not", s.Text)
		}
		for _, m := range s.Messages {
			if !strings.Contains(want, "author's message: "+joined(m)) {
				t.Errorf("the page has the author's message %q, but the text does not", m)
			}
		}
		for i := range s.Because {
			visit(&s.Because[i])
		}
	}
	for _, c := range a.Cores {
		if joined(c.Headline) != joined(c.Steps.Text) {
			t.Errorf("the headline is %q, the first step %q", c.Headline, c.Steps.Text)
		}
		visit(c.Steps)
		for _, f := range c.Fixes {
			n++
			if !strings.Contains(want, joined(f.Text)) {
				t.Errorf("the page offers the fix %q, but the text does not", f.Text)
			}
		}
	}
	return n
}

// TestWhatStays checks installed operators outside the plan. They stay because no subscription requires them, or
// because the subscription that does has no plan (D11, G1).
func TestWhatStays(t *testing.T) {
	c := loadSample(t)
	a, err := newAnswer(t.Context(), "case", &resolver.Problem{
		Namespace: "operators", Catalogs: []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: c}},
		Subscriptions: []resolver.Subscription{
			{Package: "grafana"}, {Package: "etcd", Channel: "stable", InstalledCSV: "etcdoperator.v0.9.0"}, {Package: "etcd-backup-tool"},
		},
		Installed: []resolver.Installed{
			{Name: "etcdoperator.v0.9.0", Version: "0.9.0", Package: "etcd"}, {Name: "argocd-operator.v0.7.0", Version: "0.7.0", Package: "argocd"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range a.Nodes {
		got[n.Name] = n.Kind + ", " + n.Detail
	}
	for name, want := range map[string]string{
		"etcdoperator.v0.9.0":     "keep, stays: its subscription has no plan",
		"argocd-operator.v0.7.0":  "keep, stays: no subscription",
		"grafana-operator.v5.6.0": "install, install 5.6.0, channel v5 of sample",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestStuckOnPage checks that the page explains why an operator without a successor stays (H40).
func TestStuckOnPage(t *testing.T) {
	a, err := newAnswer(t.Context(), "case", &resolver.Problem{
		Namespace: "operators", Catalogs: []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: loadSample(t)}},
		Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable", InstalledCSV: "etcdoperator.v0.0.1"}},
		Installed:     []resolver.Installed{{Name: "etcdoperator.v0.0.1", Version: "0.0.1", Package: "etcd"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "etcdoperator.v0.0.1 is stuck: no entry of channel stable accepts an upgrade from it."
	if !slices.ContainsFunc(a.Nodes, func(n reasonNode) bool { return strings.HasPrefix(n.Detail, want) }) {
		t.Errorf("the page has %+v, want %q", a.Nodes, want)
	}
}
