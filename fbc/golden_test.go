package fbc

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A golden collects the results of named cases and compares them with a file of
// testdata, a txtar archive with one section for each.
type golden struct {
	file string
	got  []txtar.File
}

func (g *golden) add(name, text string) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	g.got = append(g.got, txtar.File{Name: name, Data: []byte(text)})
}

func (g *golden) check(t *testing.T) {
	t.Helper()
	path := filepath.Join("testdata", g.file)
	if *update {
		if err := os.WriteFile(path, txtar.Format(&txtar.Archive{Files: g.got}), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	for _, got := range g.got {
		i := slices.IndexFunc(want.Files, func(f txtar.File) bool { return f.Name == got.Name })
		if i < 0 {
			t.Errorf("%s: %s is not in the golden file:\n%s", path, got.Name, got.Data)
		} else if !bytes.Equal(want.Files[i].Data, got.Data) {
			t.Errorf("%s: %s (-want +got):\n%s", path, got.Name, cmp.Diff(string(want.Files[i].Data), string(got.Data)))
		}
	}
	if len(want.Files) != len(g.got) {
		t.Errorf("%s has %d cases, the test %d", path, len(want.Files), len(g.got))
	}
}

// describe tells the result of a load: the blobs, findings and errors.
func describe(c *Catalog, err error) string {
	var b strings.Builder
	if c != nil {
		for _, m := range metas(c) {
			fmt.Fprintf(&b, "%s: %s %q of %q\n", m.Pos, m.Schema, m.Name, m.Package)
		}
		for _, d := range c.Findings {
			fmt.Fprintf(&b, "%s [%s] %v\n", d.Severity, d.Code, d)
		}
	}
	switch err := err.(type) {
	case nil:
	case Diagnostics:
		for _, d := range err {
			fmt.Fprintf(&b, "refused [%s] %v\n", d.Code, d)
		}
	default:
		fmt.Fprintf(&b, "error %v\n", err)
	}
	return b.String()
}

// metas returns what all blobs have in common, in order of kind.
func metas(c *Catalog) []*Meta {
	var all []*Meta
	for _, x := range c.Packages {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Channels {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Bundles {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Deprecations {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Others {
		all = append(all, &x.Meta)
	}
	return all
}
