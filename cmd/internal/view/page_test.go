package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/sample"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

// load returns the index of a catalog given as text.
func load(t testing.TB, text string) *graph.Catalog {
	t.Helper()
	c, err := graph.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func loadSample(t testing.TB) *graph.Catalog {
	t.Helper()
	c, err := graph.Load(t.Context(), sample.Catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// olderSample is the sample catalog as an older version.
const olderSample = `
schema: olm.package
name: etcd
defaultChannel: alpha
---
schema: olm.channel
package: etcd
name: alpha
entries:
- name: etcdoperator.v0.6.1
- name: etcdoperator.v0.9.0
  replaces: etcdoperator.v0.6.1
- name: etcdoperator.v0.9.4
  skipRange: ">=0.6.0 <0.9.4"
  replaces: etcdoperator.v0.9.0
---
schema: olm.channel
package: etcd
name: old
entries:
- name: etcdoperator.v0.6.1
---
schema: olm.bundle
package: etcd
name: etcdoperator.v0.6.1
image: registry.example.com/etcd:0.6.1
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.6.1}
- type: olm.gvk
  value: {group: etcd.database.coreos.com, version: v1beta2, kind: EtcdRestore}
---
schema: olm.bundle
package: etcd
name: etcdoperator.v0.9.0
image: registry.example.com/etcd/bundle:v0.9.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.0}
---
schema: olm.bundle
package: etcd
name: etcdoperator.v0.9.4
image: registry.example.com/etcd/bundle:v0.9.4
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.4}
`

// sampleInput contains everything that a page can show: an answer, a conflict and a difference.
func sampleInput(t testing.TB) *Input {
	c := loadSample(t)
	cats := []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: c}}
	return &Input{
		Catalogs: []Catalog{{Name: "sample", Graph: c}},
		Problems: []Problem{
			{"upgrade", resolver.Problem{
				Namespace: "operators", Catalogs: cats,
				Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable", InstalledCSV: "etcdoperator.v0.9.0"}, {Package: "grafana"}},
				Installed:     []resolver.Installed{{Name: "etcdoperator.v0.9.0", Version: "0.9.0", Package: "etcd"}, {Name: "argocd-operator.v0.7.0", Version: "0.7.0", Package: "argocd"}},
			}},
			{"conflict", resolver.Problem{
				Namespace: "operators", Catalogs: cats,
				Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable"}, {Package: "etcd-backup-tool"}, {Package: "argocd"}},
			}},
		},
		Old: &Catalog{Name: "older", Graph: load(t, olderSample)},
	}
}

func htmlOf(t testing.TB, in *Input) []byte {
	t.Helper()
	p, err := New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if n, err := p.WriteTo(&b); err != nil || n != int64(b.Len()) || b.Len() != len(p.text) {
		t.Fatalf("WriteTo = %d, %v; wrote %d of %d bytes", n, err, b.Len(), len(p.text))
	}
	return b.Bytes()
}

func TestDataOfSample(t *testing.T) {
	d, err := newData(t.Context(), sampleInput(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "sample.json", string(got)+"\n")
}

// TestSameBytes checks that equal inputs give equal pages.
func TestSameBytes(t *testing.T) {
	a := htmlOf(t, sampleInput(t))
	for range 5 {
		if !bytes.Equal(a, htmlOf(t, sampleInput(t))) {
			t.Fatal("two pages of one input differ")
		}
	}
}

// TestPolicy checks that the policy of the document allows exactly its script and style, and that nothing else is
// requested.
func TestPolicy(t *testing.T) {
	page := string(htmlOf(t, sampleInput(t)))
	m := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no policy")
	}
	got := html.UnescapeString(m[1])
	element := func(open, end string) string {
		_, rest, ok := strings.Cut(page, open)
		if !ok {
			t.Fatalf("no %s", open)
		}
		text, _, _ := strings.Cut(rest, end)
		return text
	}
	if want := policy([]byte(element("<script>", "</script>")), []byte(element("<style>", "</style>"))); got != want {
		t.Errorf("policy is %s\nwant %s", got, want)
	}
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(got, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if n := strings.Count(page, "</script"); n != 2 {
		t.Errorf("the page has %d </script> tags, want 2: data and code", n)
	}
	for _, bad := range []string{"<script src", "<link rel=\"stylesheet", "@import", "url(http", "<img", "<iframe"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

// TestScriptMakesNoMarkup checks that the page's own script does not use functions that turn a string into markup or
// code.
func TestScriptMakesNoMarkup(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|createContextualFragment|srcdoc|\.html\(|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(`)
	for _, name := range scripts {
		code, err := files.ReadFile("app/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(code), "\n") {
			if m := bad.FindString(line); m != "" {
				t.Errorf("app/%s:%d uses %s", name, n+1, m)
			}
		}
		if n := bytes.Count(code, []byte("\n")); n > 500 {
			t.Errorf("app/%s has %d lines, more than 500", name, n)
		}
	}
	entries, err := files.ReadDir("app")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".js") && !strings.Contains(fmt.Sprint(scripts), e.Name()) {
			t.Errorf("app/%s is not part of the page", e.Name())
		}
	}
}

// TestVisibleText checks that a page has no characters that reorder or hide text, and that paragraphs are kept (S8).
func TestVisibleText(t *testing.T) {
	evil := "a\u202eb\u200b\u2066c"
	c := load(t, fmt.Sprintf(`
{"schema":"olm.package","name":%[1]s,"defaultChannel":%[1]s,"description":"One.\u00a0Two.\r\n\r\nThree\u202e."}
---
{"schema":"olm.channel","package":%[1]s,"name":%[1]s,"entries":[{"name":%[1]s,"replaces":%[1]s,"skips":[%[1]s],"skipRange":%[1]s}]}
---
{"schema":"olm.bundle","package":%[1]s,"name":%[1]s,"image":%[1]s,"properties":[{"type":"olm.package","value":{"packageName":%[1]s,"version":"1.0.0"}},{"type":"olm.gvk","value":{"group":%[1]s,"version":"v1","kind":%[1]s}}]}
---
{"schema":"olm.deprecations","package":%[1]s,"entries":[{"reference":{"schema":"olm.package"},"message":"\u001b[1m\t"}]}
`, quote(evil)))
	problem := resolver.Problem{
		Namespace: evil, Catalogs: []resolver.Catalog{{Name: evil, Namespace: evil, Graph: c}},
		Subscriptions: []resolver.Subscription{{Name: evil, Package: evil, Channel: evil}, {Package: evil + "x"}},
	}
	page := string(htmlOf(t, &Input{Catalogs: []Catalog{{evil, c, map[string][]Verdict{evil: {{evil, evil, evil, evil, true}}}, evil}}, Problems: []Problem{{evil, problem}}, Old: &Catalog{Name: evil, Graph: c}}))
	head, rest, _ := strings.Cut(page, `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	if want := `<title>a\u202eb\u200b\u2066c – olmkit</title>`; !strings.Contains(head, want) {
		t.Errorf("the page has no %s", want)
	}
	var d pageData
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	if p := d.Catalogs[0].Packages[0]; p.Name != visible.Line(evil) || p.About != "One. Two.\n\nThree\\u202e." {
		t.Errorf("the package is %q, about %q", p.Name, p.About)
	}
	dec := json.NewDecoder(strings.NewReader(data))
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(string); ok && s != visible.Lines(s) {
			t.Errorf("the page holds %q", s)
		}
	}
}

// TestHostileText checks that the data stays one element, whatever text the catalog has.
func TestHostileText(t *testing.T) {
	evil := "</script><script>alert(1)</script><!--<script>\u2028\u2029&]]>'\""
	c := load(t, fmt.Sprintf(`
{"schema":"olm.package","name":%[1]s,"defaultChannel":%[1]s}
---
{"schema":"olm.channel","package":%[1]s,"name":%[1]s,"entries":[{"name":%[1]s,"replaces":%[1]s,"skips":[%[1]s],"skipRange":%[1]s}]}
---
{"schema":"olm.bundle","package":%[1]s,"name":%[1]s,"image":%[1]s,"properties":[{"type":"olm.package","value":{"packageName":%[1]s,"version":"1.0.0"}}]}
---
{"schema":"olm.deprecations","package":%[1]s,"entries":[{"reference":{"schema":"olm.package"},"message":%[1]s}]}
`, quote(evil)))
	page := string(htmlOf(t, &Input{Catalogs: []Catalog{{evil, c, map[string][]Verdict{evil: {{evil, evil, evil, evil, true}}}, evil}}, Old: &Catalog{Name: evil, Graph: c}}))
	if n := strings.Count(strings.ToLower(page), "<script"); n != 2 {
		t.Errorf("the page has %d scripts, want 2: data and code", n)
	}
	_, rest, _ := strings.Cut(page, `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	if strings.ContainsAny(data, "<>&\u2028\u2029") {
		t.Error("the data has characters with a meaning in HTML or JavaScript")
	}
	var d pageData
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	if d.Catalogs[0].Packages[0].Name != visible.Line(evil) {
		t.Errorf("the name of the package became %q", d.Catalogs[0].Packages[0].Name)
	}
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestSize limits the size of pages, so that they can be mailed and open quickly.
func TestSize(t *testing.T) {
	t.Run("sample", func(t *testing.T) {
		if n := len(htmlOf(t, sampleInput(t))); n > 230<<10 {
			t.Errorf("the page of the sample has %d bytes", n)
		}
	})
	// Includes descriptions, which make up most of the catalog's 64 MB.
	t.Run("community", func(t *testing.T) {
		c := realcat.Graph(t, "community-full")
		n := len(htmlOf(t, &Input{Catalogs: []Catalog{{Name: "community", Graph: c}}}))
		t.Logf("%d bytes for %d packages and %d bundles", n, c.Size().Packages, c.Size().Bundles)
		if n > 2<<20 {
			t.Errorf("the page has %d bytes", n)
		}
	})
}

func BenchmarkPage(b *testing.B) {
	c := realcat.Graph(b, "community")
	for b.Loop() {
		if _, err := New(b.Context(), &Input{Catalogs: []Catalog{{Name: "community", Graph: c}}}); err != nil {
			b.Fatal(err)
		}
	}
}
