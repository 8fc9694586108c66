package olmv1_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestEveryRefusalExplained checks that each code of a refusal has a page, whose example is such a refusal, and that
// docs/refusals/README.md lists the pages (G6).
func TestEveryRefusalExplained(t *testing.T) {
	read := func(text string) *graph.Catalog {
		t.Helper()
		c, err := graph.LoadReader(t.Context(), strings.NewReader(text), "catalog.yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := []olmv1.Catalog{{Name: "c", Graph: read(fixCatalog)}}
	none := []olmv1.Catalog{{Name: "c", Graph: read(strings.ReplaceAll(fixCatalog, "version: 1.0.0", "version: one"))}}
	requests := map[olmv1.RefusalCode]olmv1.Request{
		olmv1.RefusedCatalogs:   {Package: "app", Catalogs: one, Selector: &olmv1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}},
		olmv1.RefusedPackage:    {Package: "ap", Catalogs: one},
		olmv1.RefusedChannels:   {Package: "app", Catalogs: one, Channels: []string{"stable-2.1"}},
		olmv1.RefusedRange:      {Package: "app", Catalogs: one, Version: ">=3"},
		olmv1.RefusedSuccessors: {Package: "app", Catalogs: one, Version: "1.2.0", Installed: &olmv1.Installed{Name: "app.v1.0.0", Version: "1.0.0"}},
		olmv1.RefusedTie:        {Package: "cert", Catalogs: []olmv1.Catalog{one[0], {Name: "d", Graph: one[0].Graph}}},
		olmv1.RefusedVersion:    {Package: "cert", Catalogs: none},
		olmv1.RefusedDependency: {Package: "app", Catalogs: one},
	}
	index := "# Refusals\n\nWhen OLM v1 would install no bundle, the refusal has one of these codes. `olmkit explain CODE` prints\n" +
		"its page. This list is written by `go test ./resolver/olmv1 -run TestEveryRefusalExplained -update`.\n\n"
	dir := filepath.Join("..", "..", "docs", "refusals")
	for _, e := range olmv1.Explanations() {
		index += fmt.Sprintf("- [`%[1]s`](%[1]s.md): %[2]s\n", e.Code, e.Title)
		r, ok := requests[e.Code]
		if !ok {
			t.Errorf("no refusal has the code %s", e.Code)
			continue
		}
		delete(requests, e.Code)
		var no *olmv1.Refusal
		if _, err := olmv1.Select(t.Context(), r); !errors.As(err, &no) || no.Code != e.Code {
			t.Errorf("%s: %v", e.Code, err)
			continue
		}
		if diff := cmp.Diff(no.Error(), e.Example); diff != "" && !golden.Update() {
			t.Errorf("the example of %s differs (-refusal +example; -update writes it):\n%s", e.Code, diff)
		} else if diff != "" {
			rewrite(t, filepath.Join(dir, string(e.Code)+".md"), "```text\n"+e.Example, "```text\n"+no.Error())
		}
	}
	for code := range requests {
		t.Errorf("docs/refusals has no page for %s", code)
	}
	name := filepath.Join(dir, "README.md")
	if golden.Update() {
		if err := os.WriteFile(name, []byte(index), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(index, string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", name, diff)
	}
}

// rewrite replaces a text in a file.
func rewrite(t *testing.T, name, old, text string) {
	t.Helper()
	was, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(was), old, text, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}
