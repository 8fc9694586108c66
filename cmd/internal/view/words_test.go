package view

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
)

// spoken is a catalog with descriptions: a package with a description, a head with metadata, another head whose
// display name changed, and a package whose bundle includes its manifest.
var spoken = `{"schema":"olm.package","name":"db","defaultChannel":"stable","description":"Keeps rows.\n\n\n  Safely.  "}
{"schema":"olm.channel","package":"db","name":"beta","entries":[{"name":"db.v2.0.0"}]}
{"schema":"olm.channel","package":"db","name":"stable","entries":[{"name":"db.v1.0.0"},{"name":"db.v1.1.0","replaces":"db.v1.0.0"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}},{"type":"olm.csv.metadata","value":{"displayName":"nobody asks"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.1.0"}},{"type":"olm.csv.metadata","value":{"displayName":"Data\n Base","description":"long","provider":{"name":"ACME"},"keywords":["sql"," sql ","rows"],"annotations":{"description":"Rows and more"}}}]}
{"schema":"olm.bundle","package":"db","name":"db.v2.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"2.0.0"}},{"type":"olm.csv.metadata","value":{"displayName":"Data Base 2","annotations":{"description":"Rows and more"}}}]}
{"schema":"olm.package","name":"old","defaultChannel":"c"}
{"schema":"olm.channel","package":"old","name":"c","entries":[{"name":"old.v1.0.0"}]}
{"schema":"olm.bundle","package":"old","name":"old.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"old","version":"1.0.0"}},` +
	`{"type":"olm.bundle.object","value":{"data":` + encoded(`{"kind":"Service"}`) + `}},` +
	`{"type":"olm.bundle.object","value":{"data":` + encoded("kind: ClusterServiceVersion\nmetadata: {annotations: {description: From a manifest}}\nspec: {displayName: Old}\n") + `}}]}
`

func encoded(s string) string { return fmt.Sprintf("%q", base64.StdEncoding.EncodeToString([]byte(s))) }

func wordsData(t *testing.T, c *graph.Catalog) *catalogData {
	t.Helper()
	d, err := newCatalog(t.Context(), Catalog{Name: "x", Graph: c}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWords(t *testing.T) {
	d := wordsData(t, load(t, spoken))
	db := d.Packages[0]
	got := pkgData{Title: db.Title, Summary: db.Summary, About: db.About, Provider: db.Provider, Keywords: db.Keywords}
	want := pkgData{Title: "Data Base", Summary: "Rows and more", About: "Keeps rows.\n\n  Safely.", Provider: "ACME", Keywords: []string{"sql", "rows"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the package (-want +got):\n%s", diff)
	}
	titles := map[string]string{}
	for _, n := range db.Nodes {
		titles[n.Name] = n.Title + "|" + n.Summary
	}
	if diff := cmp.Diff(map[string]string{"db.v1.0.0": "|", "db.v1.1.0": "|", "db.v2.0.0": "Data Base 2|"}, titles); diff != "" {
		t.Errorf("the bundles (-want +got):\n%s", diff)
	}
	if old := d.Packages[1]; old.Title != "Old" || old.Summary != "From a manifest" || old.About != "" {
		t.Errorf("of the manifest it tells %q, %q, %q", old.Title, old.Summary, old.About)
	}
}

// TestWordsOfIndex checks that an index without its files has no words, and that the page reports it.
func TestWordsOfIndex(t *testing.T) {
	var file bytes.Buffer
	if err := graph.WriteIndex(t.Context(), &file, load(t, spoken), ""); err != nil {
		t.Fatal(err)
	}
	open := func(o *graph.Options) *graph.Catalog {
		c, err := graph.ReadIndex(bytes.NewReader(file.Bytes()), int64(file.Len()), o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if d := wordsData(t, open(nil)); !d.NoWords || d.Packages[0].Title != "" || d.NumProblems != 0 {
		t.Errorf("without files: NoWords is %v, the title %q, problems %q", d.NoWords, d.Packages[0].Title, d.Problems)
	}
	files := fstest.MapFS{"catalog.yaml": {Data: []byte(spoken)}}
	if d := wordsData(t, open(&graph.Options{Source: files})); d.NoWords || d.Packages[0].Title != "Data Base" {
		t.Errorf("with files: NoWords is %v, the title %q", d.NoWords, d.Packages[0].Title)
	}
	// Changed files are reported as a problem, but the page is still generated.
	changed := fstest.MapFS{"catalog.yaml": {Data: []byte(strings.Replace(spoken, `{"schema":"olm.bundle"`, "\n"+`{"schema":"olm.bundle"`, 1))}}
	if d := wordsData(t, open(&graph.Options{Source: changed})); d.NumProblems == 0 || !strings.Contains(d.Problems[0], "is missing") {
		t.Errorf("with other files it tells the problems %q", d.Problems)
	}
}

// TestWordsAreBounded checks that a page has little text, however much the catalog has (A16).
func TestWordsAreBounded(t *testing.T) {
	long := strings.Repeat("ä b\\n", 100_000)
	c := load(t, `{"schema":"olm.package","name":"p","defaultChannel":"c","description":"`+long+`"}
{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1.0.0"}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}},{"type":"olm.csv.metadata","value":{"displayName":"`+long+`","provider":{"name":"`+long+`"},"annotations":{"description":"`+long+`"},"keywords":["`+long+`"`+strings.Repeat(`,"k","l`+long[:50]+`"`, 50)+`]}}]}
`)
	p := wordsData(t, c).Packages[0]
	for _, x := range []struct {
		name, text string
		most       int
	}{{"title", p.Title, maxTitle}, {"summary", p.Summary, maxSummary}, {"about", p.About, maxAbout}, {"provider", p.Provider, maxTitle}, {"keyword", p.Keywords[0], maxKeyword}} {
		if n := utf8.RuneCountInString(x.text); n > x.most || n < x.most-2 || !strings.HasSuffix(x.text, "…") {
			t.Errorf("the %s has %d characters, want %d: %q", x.name, n, x.most, x.text)
		}
	}
	if len(p.Keywords) > maxKeywords {
		t.Errorf("%d keywords", len(p.Keywords))
	}
	for _, tt := range []struct{ in, want string }{{"", ""}, {"abc", "abc"}, {"abcd", "ab…"}, {"äöü", "äöü"}, {"äöüß", "äö…"}, {"a bcd", "a…"}} {
		if got := cut(tt.in, 3); got != tt.want {
			t.Errorf("cut(%q, 3) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestWordsOfAnything checks that words of other types are ignored.
func TestWordsOfAnything(t *testing.T) {
	for _, value := range []string{`{"displayName":1}`, `[]`, `"text"`, `{}`, `{"keywords":"sql"}`} {
		c := load(t, `{"schema":"olm.package","name":"p","defaultChannel":"c"}
{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1.0.0"}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}},{"type":"olm.csv.metadata","value":`+value+`},{"type":"olm.bundle.object","value":{"data":"%"}}]}
`)
		if p := wordsData(t, c).Packages[0]; p.Title != "" || p.About != "" || p.Keywords != nil {
			t.Errorf("of %s it tells %+v", value, p)
		}
	}
}

// TestWordsContext checks that reading stops when the context ends (D18).
func TestWordsContext(t *testing.T) {
	c := load(t, spoken)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	p, _ := c.Package("db")
	b := pkgBuilder{pkg: p, number: map[graph.Node]int{}}
	b.build(nil)
	if err := b.addWords(&wordReader{ctx: ctx}); !errors.Is(err, stop) {
		t.Errorf("addWords = %v, want %v", err, stop)
	}
}
