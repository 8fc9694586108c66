package fbc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"
)

// TestEdits applies every kind of edit to the base catalog and compares the
// differences with a golden file.
func TestEdits(t *testing.T) {
	text := strings.Replace(baseCatalog, "  replaces: etcd.v0.9.0\n", "  replaces: etcd.v0.9.0\n  note: kept\n", 1) + "---\nschema: olm.bundle\npackage: etcd\nname: etcd.v1.0.0\nimage: i\nproperties:\n- type: olm.package\n  value: {packageName: etcd, version: 1.0.0}\n"
	c, err := LoadReader(t.Context(), strings.NewReader(text), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	before := string(written(t, c, YAML))
	deprecated, err := c.Deprecate(ctx, "etcd", Deprecation{Schema: SchemaBundle, Name: "etcd.v0.9.0", Message: "old"})
	if err != nil {
		t.Fatal(err)
	}
	skipping, err := c.EditEntry(ctx, "etcd", "stable", "etcd.v0.9.2", func(e *Entry) { e.Skips = append(e.Skips, "x", "y", "x") })
	if err != nil {
		t.Fatal(err)
	}
	edit := func(c *Catalog, channel, entry string, do func(*Entry)) func() (*Catalog, error) {
		return func() (*Catalog, error) { return c.EditEntry(ctx, "etcd", channel, entry, do) }
	}
	replaces := func(name string) func(*Entry) { return func(e *Entry) { e.Replaces = name } }
	skips := func(names ...string) func(*Entry) { return func(e *Entry) { e.Skips = names } }
	skipRange := func(text string) func(*Entry) { return func(e *Entry) { e.SkipRange = text } }
	g := golden.Archive{File: "edit.txtar"}
	for _, e := range []struct {
		name string
		edit func() (*Catalog, error)
	}{
		{"promote-over-the-head", func() (*Catalog, error) { return c.Promote(ctx, "etcd", "stable", Entry{Name: "etcd.v1.0.0"}) }},
		{"promote-with-edges", func() (*Catalog, error) {
			return c.Promote(ctx, "etcd", "stable", Entry{Name: "etcd.v1.0.0", Skips: []string{"etcd.v0.9.2"}, SkipRange: "<1.0.0"})
		}},
		{"promote-to-a-new-channel", func() (*Catalog, error) { return c.Promote(ctx, "etcd", "beta", Entry{Name: "etcd.v1.0.0"}) }},
		{"promote-twice", func() (*Catalog, error) { return c.Promote(ctx, "etcd", "stable", Entry{Name: "etcd.v0.9.0"}) }},
		{"promote-unknown", func() (*Catalog, error) { return c.Promote(ctx, "etcd", "stable", Entry{Name: "etcd.v9"}) }},
		{"default-channel-unknown", func() (*Catalog, error) { return c.SetDefaultChannel(ctx, "etcd", "beta") }},
		{"default-channel-of-no-package", func() (*Catalog, error) { return c.SetDefaultChannel(ctx, "vault", "beta") }},
		{"default-channel", func() (*Catalog, error) {
			c, err := c.Promote(ctx, "etcd", "beta", Entry{Name: "etcd.v1.0.0"})
			if err != nil {
				return nil, err
			}
			return c.SetDefaultChannel(ctx, "etcd", "beta")
		}},
		{"replaces", edit(c, "stable", "etcd.v0.9.2", replaces("etcd.v0.9.1"))},
		{"replaces-nothing", edit(c, "stable", "etcd.v0.9.2", replaces(""))},
		{"replaces-itself", edit(c, "stable", "etcd.v0.9.2", replaces("etcd.v0.9.2"))},
		{"replaces-of-no-entry", edit(c, "stable", "etcd.v1.0.0", replaces("x"))},
		{"replaces-of-no-channel", edit(c, "beta", "etcd.v1.0.0", replaces("x"))},
		{"skips", func() (*Catalog, error) { return skipping, nil }},
		{"skips-itself", edit(c, "stable", "etcd.v0.9.2", skips("etcd.v0.9.2"))},
		{"skips-nothing", edit(c, "stable", "etcd.v0.9.2", skips(""))},
		{"fewer-skips", edit(skipping, "stable", "etcd.v0.9.2", skips("y"))},
		{"no-skips", edit(skipping, "stable", "etcd.v0.9.2", skips())},
		{"skip-range", edit(c, "stable", "etcd.v0.9.2", skipRange("<0.9.2"))},
		{"skip-range-malformed", edit(c, "stable", "etcd.v0.9.2", skipRange("^1"))},
		{"rename-entry", edit(c, "stable", "etcd.v0.9.2", func(e *Entry) { e.Name = "x" })},
		{"remove-entry", func() (*Catalog, error) { return c.RemoveEntry(ctx, "etcd", "stable", "etcd.v0.9.0") }},
		{"remove-no-entry", func() (*Catalog, error) { return c.RemoveEntry(ctx, "etcd", "stable", "x") }},
		{"deprecate", func() (*Catalog, error) { return deprecated, nil }},
		{"deprecate-more", func() (*Catalog, error) {
			return deprecated.Deprecate(ctx, "etcd", Deprecation{Schema: SchemaPackage, Message: "all"})
		}},
		{"deprecate-again", func() (*Catalog, error) {
			return deprecated.Deprecate(ctx, "etcd", Deprecation{Schema: SchemaBundle, Name: "etcd.v0.9.0", Message: "very old"})
		}},
		{"deprecate-no-more", func() (*Catalog, error) {
			return deprecated.Deprecate(ctx, "etcd", Deprecation{Schema: SchemaBundle, Name: "etcd.v0.9.0"})
		}},
		{"deprecate-unknown", func() (*Catalog, error) {
			return c.Deprecate(ctx, "etcd", Deprecation{Schema: SchemaChannel, Name: "beta", Message: "m"})
		}},
		{"deprecate-no-package", func() (*Catalog, error) {
			return c.Deprecate(ctx, "vault", Deprecation{Schema: SchemaPackage, Message: "m"})
		}},
	} {
		made, err := e.edit()
		if err != nil {
			g.Add(e.name, "error: "+err.Error())
			continue
		}
		g.Add(e.name, lineDiff(before, string(written(t, made, YAML))))
		if after := written(t, c, YAML); !bytes.Equal(after, []byte(before)) {
			t.Fatalf("%s changed the catalog it began with", e.name)
		}
	}
	g.Check(t)
}

// lineDiff returns the removed (-) and added (+) lines, by the longest common
// subsequence.
func lineDiff(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	n := make([][]int, len(x)+1)
	for i := range n {
		n[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case j < len(y) && (i == len(x) || n[i][j+1] > n[i+1][j]):
			out.WriteString("+" + y[j])
			j++
		default:
			out.WriteString("-" + x[i])
			i++
		}
	}
	return out.String()
}
