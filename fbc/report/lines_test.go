package report_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/internal/codes"
)

// TestLines checks the lines of fields in YAML and JSON, in streams and in multi-line
// documents (A1).
func TestLines(t *testing.T) {
	tree := fstest.MapFS{
		"a.yaml": {Data: []byte("---\n# A comment.\nschema: olm.package\nname: a\n---\nschema: olm.channel\nname: c\nentries:\n- name: x\n  skips:\n  - y\n- name: z\n  a/b~c: 1\n---\nschema: late\nname: n\n")},
		"b.json": {Data: []byte("{\"schema\": \"one\"}\n{\n \"schema\": \"two\",\n \"entries\": [\n  {\"name\": \"x\"},\n  {\n   \"name\": \"y\"\n  }\n ]\n}\n")},
		"c.yaml": {Data: []byte("schema: [\n")},
	}
	at := func(file string, line int) fbc.Pos { return fbc.Pos{File: file, Line: line} }
	found := fbc.Diagnostics{
		{Pos: at("a.yaml", 3), Path: "/name"},
		{Pos: at("a.yaml", 6), Path: "/entries"},
		{Pos: at("a.yaml", 6), Path: "/entries/0/skips/0"},
		{Pos: at("a.yaml", 6), Path: "/entries/1"},
		{Pos: at("a.yaml", 6), Path: "/entries/1/a~1b~0c"},
		{Pos: at("a.yaml", 6), Path: "/entries/1/replaces"}, // a missing field has the line of its entry
		{Pos: at("a.yaml", 15), Path: "/name"},
		{Pos: at("a.yaml", 15), Path: "/nothing"},
		{Pos: at("a.yaml", 15)},
		{Pos: at("b.json", 1), Path: "/schema"},
		{Pos: at("b.json", 2), Path: "/entries/0"},
		{Pos: at("b.json", 2), Path: "/entries/1/name"},
		{Pos: at("c.yaml", 1), Path: "/schema"},
		{Pos: at("gone.yaml", 1), Path: "/schema"},
		{Pos: at("a.yaml", 1000), Path: "/schema"},
		{Path: "/schema"},
	}
	want := []int{4, 8, 11, 12, 13, 12, 16, 0, 0, 1, 5, 7, 0, 0, 0, 0}
	var got []int
	for _, d := range report.Locate(t.Context(), tree, found) {
		got = append(got, d.FieldLine)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestSource checks that every format has the line of the field.
func TestSource(t *testing.T) {
	tree := fstest.MapFS{"a.yaml": {Data: []byte("schema: olm.package\nname: a\n\ndefaultChannel: x\n")}}
	found := fbc.Diagnostics{{Code: codes.Unreadable, Pos: fbc.Pos{File: "a.yaml", Line: 1}, Path: "/defaultChannel", Err: errors.New("is wrong")}}
	for format, want := range map[report.Format]string{
		report.Text: "a.yaml:4: ", report.GitHub: "line=4,", report.SARIF: `"startLine": 4`, report.JSON: "\"line\": 1,\n      \"fieldLine\": 4",
	} {
		var b bytes.Buffer
		if err := report.Write(t.Context(), &b, format, found, &report.Options{Source: tree}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: no %q in %s", format, want, &b)
		}
	}
}

// FuzzLines checks that lines are within the text, for any text.
func FuzzLines(f *testing.F) {
	f.Add("schema: a\nentries:\n- name: x\n", 1, "/entries/0/name")
	f.Add("---\na: &x {b: 1}\nc: *x\n", 2, "/c/b")
	f.Add("{\"a\": [\n1,\n{\"b\": 2}]}", 1, "/a/1/b")
	f.Add("{\"a\":\n", 1, "/a")
	f.Add("\tx: [", 1, "/x/0")
	f.Fuzz(func(t *testing.T, text string, line int, path string) {
		if len(text) > 1<<12 || line < 1 || line > 1<<12 || path != "" && !strings.HasPrefix(path, "/") {
			return
		}
		tree := fstest.MapFS{"f": {Data: []byte(text)}}
		got := report.Locate(t.Context(), tree, fbc.Diagnostics{{Pos: fbc.Pos{File: "f", Line: line}, Path: path}})[0].FieldLine
		if got != 0 && (got < line || got > 2+strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\u0085")+strings.Count(text, "\u2028")+strings.Count(text, "\u2029")) {
			t.Errorf("%q of line %d is on line %d of %q", path, line, got, text)
		}
	})
}
