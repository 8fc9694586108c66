package resolver_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/resolver"
)

// TestAdviceTexts compares the advice for each situation as text and as JSON, and the reason
// why the bundle in the file why-not is not chosen (H40). The first line of a file states
// what a person should learn from it.
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
				text += string(x.Kind) + ": " + x.String() + "\n"
			}
			golden(t, path, a, "advice", text)
			golden(t, path, a, "because", not.Text(100, nil))
			golden(t, path, a, "advice.json", jsonText(t, list))
			golden(t, path, a, "because.json", jsonText(t, not))
		})
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}
