package resolver_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// TestAdviceTexts compares, for each situation, the advice as text and as JSON, the reasons for the choices, and the
// reason why the bundle in the file why-not is not chosen (H40). The first line of a file states what a reader should
// learn from it.
func TestAdviceTexts(t *testing.T) {
	paths, err := filepath.Glob("testdata/advice/*.txtar")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d situations, %v: want 7 or more", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sol, err := resolver.Resolve(context.Background(), readCase(t, a))
			if err != nil {
				t.Fatal(err)
			}
			list, err := sol.Advice(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			not, err := sol.WhyNot(context.Background(), strings.TrimSpace(file(t, a, "why-not")))
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, x := range list {
				fixes, err := sol.Fixes(context.Background(), &x, 0)
				if err != nil {
					t.Fatal(err)
				}
				text += string(x.Kind) + ": " + x.String() + "\n" + "short: " + x.Summary() + "\n" + resolver.FixesText(fixes, 100, nil)
				if len(x.Nearer) > 0 {
					text += "more:\n" + x.More(100, nil)
				}
			}
			section(t, path, a, "advice", text)
			section(t, path, a, "why", whyText(t, sol))
			section(t, path, a, "because", not.Text(100, nil))
			section(t, path, a, "advice.json", jsonText(t, list))
			section(t, path, a, "because.json", jsonText(t, not))
		})
	}
}

// whyText returns the reasons for the bundles and operators of the subscriptions.
func whyText(t *testing.T, sol *resolver.Solution) string {
	t.Helper()
	var names []string
	for _, s := range sol.Selected {
		names = append(names, s.Name)
	}
	for _, s := range sol.Stayed {
		names = append(names, s.Name)
	}
	chains, err := sol.Why(context.Background(), names...)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, c := range chains {
		text += c.Text(100, nil)
	}
	return text
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// H40: a way that begins with the downgrade of the channel does not avoid it, so the summary does not offer it instead.
func TestDowngradeOnTheWay(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(`
{"schema":"olm.package","name":"app","defaultChannel":"s"}
{"schema":"olm.channel","package":"app","name":"s","entries":[{"name":"app.v1"},{"name":"app.v1-fix","skips":["app.v1"]},{"name":"app.v2","replaces":"app.v1-fix"}]}
{"schema":"olm.channel","package":"app","name":"next","entries":[{"name":"app.v3","replaces":"app.v2"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v1-fix","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0-fix"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v2","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v3","properties":[{"type":"olm.package","value":{"packageName":"app","version":"3.0.0"}}]}
`), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := resolver.Resolve(t.Context(), resolver.Problem{
		Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "ns", Graph: c}},
		Subscriptions: []resolver.Subscription{{Package: "app", Channel: "s", InstalledCSV: "app.v1"}},
		Installed:     []resolver.Installed{{Name: "app.v1", Package: "app", Version: "1.0.0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Advice(t.Context())
	if err != nil || len(list) != 1 || list[0].Kind != resolver.AdviceDowngrade {
		t.Fatalf("Advice: %v, %v", list, err)
	}
	const want = ". To get to 3.0.0, stay in channel s until 2.0.0 is installed, then switch to channel next"
	if got := list[0].Summary(); !strings.HasSuffix(got, want) {
		t.Errorf("Summary: %s", got)
	}
}
