package resolver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/resolver"
)

// brackets marks styled text with brackets.
func brackets() *resolver.Style {
	in := func(part string) func(string) string {
		return func(line string) string { return "<" + part + ">" + line }
	}
	return &resolver.Style{Headline: in("h"), Origin: in("o"), Quote: in("q"), Help: in("H"), Places: true}
}

// TestReports compares one report as data and in every rendering.
func TestReports(t *testing.T) {
	const path = "testdata/report.txtar"
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := conflictOf(t, readCase(t, a)).Report(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	section(t, path, a, "text", r.Text(80, nil))
	section(t, path, a, "styled", r.Text(80, brackets()))
	section(t, path, a, "markdown", r.Markdown(brackets()))
	section(t, path, a, "event", r.Short(1024)+"\n")
	section(t, path, a, "short", r.Short(240)+"\n")
	section(t, path, a, "shorter", r.Short(60)+"\n")
	for limit := 4; limit < 2000; limit++ {
		if text := r.Short(limit); len(text) > limit || !utf8.ValidString(text) {
			t.Fatalf("Short(%d) returns %d bytes: %q", limit, len(text), text)
		}
	}
	section(t, path, a, "json", indented(t, r))
	section(t, path, a, "conflict.json", indented(t, conflictOf(t, readCase(t, a))))
}

func indented(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}

// TestHostileText checks that text from a catalog cannot break out of Markdown.
func TestHostileText(t *testing.T) {
	a, err := txtar.ParseFile("testdata/conflicts/failure-message.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Files {
		a.Files[i].Data = bytes.ReplaceAll(a.Files[i].Data, []byte("app needs a database operator; subscribe to db 2 or later"), []byte(`<script>\n# [x](http://y) **z**`))
	}
	r, err := conflictOf(t, readCase(t, a)).Report(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	md := r.Markdown(nil)
	for _, bad := range []string{"<script>", "\n# [", "[x](", "**z"} {
		if strings.Contains(md, bad) {
			t.Errorf("%q got through:\n%s", bad, md)
		}
	}
	if text := r.Text(100, nil); strings.Contains(text, "\n# [") {
		t.Errorf("a message broke a line:\n%s", text)
	}
}
