package fbc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/olmkit/olmkit/property"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/golden"
)

// files returns a tree of texts by name.
func files(nameText ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(nameText); i += 2 {
		tree[nameText[i]] = &fstest.MapFile{Data: []byte(nameText[i+1])}
	}
	return tree
}

const (
	pkgA    = `{"schema":"olm.package","name":"a","defaultChannel":"s"}` + "\n"
	channel = `{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"}]}` + "\n"
	bundle  = `{"schema":"olm.bundle","package":"a","name":"a.v1","image":"q/a:1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}` + "\n"
)

// utf16 returns text as UTF-16 with a byte order mark, low bytes first.
func utf16(text string) string {
	out := "\xff\xfe"
	for _, c := range []byte(text) {
		out += string([]byte{c, 0})
	}
	return out
}

// TestLoadGolden compares the results of loading valid and invalid input with
// golden files (A1, A3-A6, A8-A11, H18, H19).
func TestLoadGolden(t *testing.T) {
	g := golden.Archive{File: "load.txtar"}
	for _, c := range []struct {
		name string
		tree fs.FS
	}{
		{"no-directory", fs.FS(brokenFS{fs.ErrNotExist})},
		{"no-permission", fs.FS(brokenFS{fs.ErrPermission})},
		{"no-file-system", nil},
		{"empty", files()},
		{"only-comments", files("a.yaml", "# nothing\n---\n# here\n", "b.json", "\n\n")},
		{"not-yaml", files("README.md", "# Title\n\nSome *text*: with: colons\n")},
		{"binary", files("logo.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a.json", pkgA)},
		{"utf-16", files("a.yaml", utf16("schema: olm.package\n"))},
		{"latin-1", files("a.yaml", "schema: olm.package\nname: a\ndefaultChannel: caf\xe9\n", "b.json", `{"schema":"x","name":"caf`+"\xe9"+`"}`)},
		{"json-syntax", files("a.json", "{\n  \"schema\": \"olm.package\",\n  \"name\": \"a\",,\n}\n")},
		{"json-cut-off", files("a.json", pkgA+"{\"schema\":\"olm.package\",\n\"name\":\"b\"")},
		{"json-unclosed-string", files("a.json", pkgA+"{\"schema\":\"olm.package\",\"name\":\"b}\n"+channel)},
		{"yaml-syntax", files("a.yaml", "---\nschema: olm.package\n---\nschema: olm.package\nname: a\n bad: indent\n")},
		{"yaml-tab", files("a.yaml", "schema: olm.channel\nentries:\n\t- name: a\n")},
		{"alias-bomb", files("a.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"+
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nschema: x\n")},
		{"tag-directive", files("a.yaml", "# c\n%TAG !e! tag:x\n---\nschema: x\nname: !e!y z\n")},
		{"not-an-object", files("a.yaml", "- schema: olm.package\n", "b.json", "[{\"schema\":\"olm.package\"}]", "c.yaml", "null\n", "d.yaml", "text\n")},
		{"no-schema", files("a.yaml", "name: a\ndefaultChannel: s\n", "b.json", `{"schema":"","name":"a"}`, "c.json", `{"schema":null,"name":"a"}`, "d.json", `{"Schema":"olm.package"}`)},
		{"wrong-types", files("a.json", `{"schema":"olm.package","name":1,"defaultChannel":["s"],"icon":"x","description":{}}
{"schema":"olm.channel","package":"a","name":"s","entries":{}}
{"schema":"olm.channel","package":"a","name":"t","entries":[1,{"name":"x","replaces":2,"skips":"y","skipRange":false},{"name":"y","skips":[3,null]},{"replaces":"z"},{"name":""}]}
{"schema":"olm.bundle","package":"a","name":"b","image":3,"properties":{},"relatedImages":[{"image":1},4]}
{"schema":"olm.bundle","package":"a","name":"c","properties":["x",{"type":1,"value":2}]}
{"schema":"olm.deprecations","package":"a","entries":[{"reference":"x","message":1},{"reference":{"schema":1,"name":2}}]}
{"schema":7}
`)},
		{"required-names", files("a.json", `{"schema":"olm.package"}{"schema":"olm.channel"}{"schema":"olm.bundle","name":"","package":""}{"schema":"olm.deprecations"}`)},
		{"tolerated", files("a.json", `{"schema":"olm.bundle","package":"a","name":"b","image":"i","properties":[{"value":1},{"type":"","value":1},{"type":"x"},{"type":"y","value":null},null,{"type":"z","value":0,"value":1}]}
{"schema":"custom","package":"","properties":"text"}
{"schema":"custom","name":"twice","name":"again"}
`, "b.yaml", "schema: custom\nname: a\nname: b\n")},
		{"unknown-schema", files("a.json", `{"schema":"olm.composite","anything":{"goes":[1,2]}}{"schema":"x","name":4}`)},
		{"duplicates", files("a/a.json", pkgA+channel+bundle, "b/a.json", "\n"+pkgA+channel+bundle,
			"c.json", `{"schema":"olm.channel","package":"c","name":"s","entries":[{"name":"x"},{"name":"y"},{"name":"x","replaces":"y"}]}`)},
		{"several-faults", files("b.json", "{\n}\n{\"schema\":\"olm.package\"}\n", "a/z.yaml", "schema: olm.channel\nname: 1\n---\n: x: y\n", "c.yaml", "schema: [\n")},
		{"mixed", files("a.yaml", "---\nschema: x\nname: one\n---\n{\"schema\":\"x\",\"name\":\"two\"}\n{\"schema\":\"x\",\n\"name\":\"three\"}{\"schema\":\"x\",\"name\":\"four\"}\nschema: x\nname: five\n...\n---\nschema: x\nname: six\n")},
		{"no-suffix-needed", files("Makefile", pkgA, "x/.hidden", channel)},
		{"empty-package-allowed", files("a.json", `{"schema":"x","package":"p"}`)},

		// H19: opm keeps the first document of these, or refuses them.
		{"h19-bom", files("a.json", "\ufeff"+pkgA+channel)},
		{"h19-bom-in-the-middle", files("a.json", pkgA+"\ufeff"+channel, "b.yaml", "---\n\ufeffschema: x\n\ufeff---\nschema: z\n")},
		{"h19-comment", files("a.json", "# made by hand\n"+pkgA+"# more\n"+channel)},
		{"h19-huge-number", files("a.json", `{"schema":"x","name":"a","n":1e999}`+pkgA)},
		{"h19-single-quotes", files("a.json", "{'schema': 'x', 'name': 'a}'}\n{'schema': 'x', 'name': 'b'} # end }\n{schema: x, # {\n name: it's}\n")},
		{"h19-broken-flow-keeps-nothing-silently", files("a.yaml", "{schema: x, name: \"over\n two lines\"}\n{schema: x, name: lost}\n")},
		{"h19-comment-before-dashes", files("a.yaml", "# c\n\n---\nschema: x\n")},
		{"h19-empty-middle", files("a.yaml", "---\nschema: x\n---\n---\n# c\n---\nschema: z\n---\n")},
		{"h19-carriage-returns", files("a.yaml", "schema: x\r---\rschema: z\r", "b.yaml", "schema: x\r\nname: a\r\n---\r\nschema: z\r\n")},
		{"h19-unicode-line-breaks", files("a.yaml", "schema: x\u2028---\u2028schema: z\n")},
		{"directives", files("a.yaml", "%YAML 1.1\n---\nschema: x\n---\nschema: z\n")},
		{"lone-surrogate", files("a.json", `{"schema":"x","name":"\ud800"}`)},
		{"escaped-names", files("a.json", `{"\u0073chema":"x","n\u0061me":"\u00fc\u00e4"}`)},
		{"block-text-with-dashes", files("a.yaml", "schema: x\nname: a\ntext: |\n  ---\n  ...\n---\nschema: z\n")},
	} {
		c2, err := Load(context.Background(), c.tree, nil)
		g.Add(c.name, describe(c2, err))
	}
	g.Check(t)
}

// A brokenFS cannot be opened.
type brokenFS struct{ err error }

func (b brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}

// TestLoadReadError checks that a read error in the middle of a file is
// reported with its position, in addition to all other errors (A1).
func TestLoadReadError(t *testing.T) {
	disk := errors.New("input/output error")
	tree := faultyFS{files("a.json", pkgA+strings.Repeat(" ", 4096)+channel, "b.json", "{", "c.json", pkgA), map[string]fault{
		"a.json": {at: 3000, err: disk},
		"c.json": {err: fs.ErrPermission},
	}}
	_, err := Load(context.Background(), tree, &LoadOptions{chunk: 512})
	want := `a.json:1: reading stopped after 3000 bytes: input/output error
b.json:1: invalid JSON: the document ends inside a value
c.json: permission denied`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if !errors.Is(err, disk) || !errors.Is(err, fs.ErrPermission) {
		t.Error("the causes are lost")
	}
	var ds Diagnostics
	if !errors.As(err, &ds) || ds[0].Code != codes.Unreadable {
		t.Errorf("got %#v, want a Diagnostics of unreadable", err)
	}
}

type fault struct {
	at  int // bytes that can be read
	err error
}

// A faultyFS fails to read some files after at bytes, or to open them if at is
// 0.
type faultyFS struct {
	fs.FS
	faults map[string]fault
}

func (f faultyFS) Open(name string) (fs.File, error) {
	bad, ok := f.faults[name]
	if ok && bad.at == 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: bad.err}
	}
	file, err := f.FS.Open(name)
	if !ok || err != nil {
		return file, err
	}
	return faultyFile{file, io.MultiReader(io.LimitReader(file, int64(bad.at)), failing{bad.err})}, nil
}

type faultyFile struct {
	fs.File
	r io.Reader
}

func (f faultyFile) Read(p []byte) (int, error) { return f.r.Read(p) }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A shuffledFS lists directories in random order.
type shuffledFS struct{ fstest.MapFS }

func (s shuffledFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := s.MapFS.ReadDir(name)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, err
}

// sameCatalog compares two catalogs, ignoring the source of their text.
var sameCatalog = cmp.Options{
	cmpopts.IgnoreUnexported(Catalog{}, Meta{}),
	cmp.Comparer(func(a, b *Diagnostic) bool { return a.Error() == b.Error() && a.Code == b.Code }),
}

// TestLoadOrder checks that the result does not depend on concurrency, buffer
// size or the order of directory entries (A1, D15).
func TestLoadOrder(t *testing.T) {
	tree := fstest.MapFS{}
	for _, dir := range []string{"a", "a/b", "b", "z", "a-b"} {
		for _, f := range []string{"1.json", "2.yaml", "0"} {
			var text strings.Builder
			for i := range 50 {
				name := fmt.Sprintf("%s%s.%d", dir, f, i)
				if f == "2.yaml" {
					text.WriteString("---\nschema: olm.bundle\npackage: p\nname: \"" + name + "\"\nproperties:\n- type: t\n  value: {\"n\": [1, 2]}\n- type: broken\n")
				} else {
					text.WriteString(`{"schema":"olm.bundle","package":"p","name":"` + name + `","properties":[{"type":"t","value":{"n":[1,2]}}]}` + "\n")
				}
			}
			tree[dir+"/"+f] = &fstest.MapFile{Data: []byte(text.String())}
		}
	}
	want, err := Load(context.Background(), tree, &LoadOptions{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := want.Len(); n != 750 {
		t.Fatalf("%d blobs, want 750", n)
	}
	if first, last := want.Bundles[0].Pos.String(), want.Bundles[749].Pos.String(); first != "a/0:1" || last != "z/2.yaml:394" {
		t.Errorf("from %s to %s; directories come in the order of names", first, last)
	}
	for i := range 20 {
		got, err := Load(context.Background(), shuffledFS{tree}, &LoadOptions{Concurrency: 1 + i%7, chunk: 1 + i*i*13})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameCatalog); diff != "" {
			t.Fatalf("run %d differs (-want +got):\n%.2000s", i, diff)
		}
	}
}

// TestLoadInterning checks that a load keeps one copy of equal strings and
// values, and no heavy values.
func TestLoadInterning(t *testing.T) {
	text := strings.Repeat(`{"schema":"olm.bundle","package":"some-package","name":"n","image":"i","properties":[{"type":"olm.gvk","value":{"a":1}},{"type":"olm.csv.metadata","value":{"b":2}}]}`, 1) +
		`{"schema":"olm.bundle","package":"some-package","name":"m","image":"i","properties":[{"type":"olm.gvk","value":{"a":1}},{"type":"olm.bundle.object","value":{"b":2}}]}`
	c, err := LoadReader(context.Background(), strings.NewReader(text), "a.json", &LoadOptions{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Bundles[0], c.Bundles[1]
	if &a.Properties[0].Value[0] != &b.Properties[0].Value[0] {
		t.Error("equal values are two copies")
	}
	for _, x := range c.Bundles {
		if p := x.Properties[1]; p.Value != nil {
			t.Errorf("%s is kept: %s", p.Type, p.Value)
		}
	}
	if c, err = LoadReader(context.Background(), strings.NewReader(text), "a.json", &LoadOptions{KeepAll: true}); err != nil {
		t.Fatal(err)
	}
	want := []property.Property{{Type: "olm.gvk", Value: []byte(`{"a":1}`)}, {Type: "olm.csv.metadata", Value: []byte(`{"b":2}`)}}
	if diff := cmp.Diff(want, c.Bundles[0].Properties); diff != "" {
		t.Errorf("KeepAll (-want +got):\n%s", diff)
	}
}

// TestRaw reads values that a load left in the source, and checks the errors if
// the source has changed.
func TestRaw(t *testing.T) {
	heavy := `{"schema":"olm.bundle","package":"a","name":"a.v1","properties":[{"type":"olm.csv.metadata","value":{"d":"long"}}],"extra":1}`
	yaml := "---\nschema: olm.package\nname: b\ndefaultChannel: s\ndescription: long\n"
	tree := files("a.json", pkgA+heavy, "b.yaml", "# first\n"+yaml)
	for name, fsys := range map[string]fs.FS{"ReaderAt": tree, "Seeker": hideFS{tree, true}, "Reader": hideFS{tree, false}} {
		c, err := Load(t.Context(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			b    Blob
			want string
		}{{c.Bundles[0], heavy}, {c.Packages[1], `{"schema":"olm.package","name":"b","defaultChannel":"s","description":"long"}`}} {
			if got, err := c.Raw(t.Context(), x.b); err != nil || string(got) != x.want {
				t.Errorf("%s: Raw = %s, %v; want %s", name, got, err, x.want)
			}
		}
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Raw(stopped, c.Bundles[0]); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Raw after the end of the context: %v", name, err)
		}
	}

	c, err := Load(t.Context(), tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := golden.Archive{File: "raw.txtar"}
	for _, change := range []struct{ name, text string }{
		{"other-text-same-name", strings.Replace(pkgA+heavy, "long", "LONG", 1)},
		{"shifted", " " + pkgA + heavy},
		{"cut-off", pkgA},
	} {
		tree["a.json"].Data = []byte(change.text)
		_, err := c.Raw(t.Context(), c.Bundles[0])
		g.Add(change.name, errText(err))
	}
	delete(tree, "a.json")
	_, err = c.Raw(t.Context(), c.Bundles[0])
	g.Add("deleted", errText(err))
	c, err = LoadReader(t.Context(), io.MultiReader(strings.NewReader(heavy)), "stdin", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Raw(t.Context(), c.Bundles[0])
	g.Add("stream", errText(err))
	g.Check(t)

	c, err = LoadReader(t.Context(), strings.NewReader(heavy), "memory", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Raw(t.Context(), c.Bundles[0]); err != nil || string(got) != heavy {
		t.Errorf("Raw after LoadReader = %s, %v", got, err)
	}
}

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// A hideFS hides all methods of its files except Read.
type hideFS struct {
	fs.FS
	seek bool
}

func (h hideFS) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if _, dir := f.(fs.ReadDirFile); dir {
		return f, nil
	}
	if s, ok := f.(io.Seeker); ok && h.seek {
		return struct {
			fs.File
			io.Seeker
		}{f, s}, nil
	}
	return struct{ fs.File }{f}, nil
}

// TestLoadContext checks that a load stops promptly if the context is canceled
// before it, in the middle of a file, or while a read hangs (D18).
func TestLoadContext(t *testing.T) {
	stopped, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("no more time")
	cancel(cause)
	if _, err := Load(stopped, files("a.json", pkgA), nil); err != cause {
		t.Errorf("before the load: %v", err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	at := 0
	endless := readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = pkgA[at%len(pkgA)]
			at++
		}
		return len(p), nil
	})
	n := 0
	_, err := LoadReader(ctx, endless, "endless", &LoadOptions{chunk: 4096, Progress: func(Progress) {
		if n++; n == 3 {
			cancel(cause)
		}
	}})
	if err != cause {
		t.Errorf("in the middle: %v", err)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	oneLong := readerFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = '{'
		}
		cancel(cause)
		return len(p), nil
	})
	if _, err := LoadReader(ctx, oneLong, "long", nil); err != cause {
		t.Errorf("in a long document: %v", err)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	release := make(chan struct{})
	defer close(release)
	hangs := readerFunc(func(p []byte) (int, error) {
		cancel(cause)
		<-release
		return 0, io.EOF
	})
	if _, err := LoadReader(ctx, hangs, "hangs", nil); err != cause {
		t.Errorf("while a read hangs: %v", err)
	}
}

// TestLoadLeavesNoWork checks that all decoding has stopped when a canceled
// load returns, even if a read still hangs (S1, D18).
func TestLoadLeavesNoWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	doc := `{"schema":"x","v":[0` + strings.Repeat(",[0,1]", 1<<21) + "]}\n"
	text := strings.NewReader(doc + strings.Repeat(" ", len(doc)))
	hangs := readerFunc(func(p []byte) (int, error) {
		if n, err := text.Read(p); err == nil {
			return n, nil
		}
		cancel()
		<-release
		return 0, io.EOF
	})
	if _, err := LoadReader(ctx, hangs, "hangs", nil); err != context.Canceled {
		t.Error(err)
	}
	stacks := make([]byte, 1<<20)
	if stacks = stacks[:runtime.Stack(stacks, true)]; bytes.Contains(stacks, []byte("fbc.(*decoder)")) {
		t.Errorf("a document is being decoded after the call returned:\n%s", stacks)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestLoadNoProgress checks the error for a reader that keeps returning no
// bytes.
func TestLoadNoProgress(t *testing.T) {
	_, err := LoadReader(t.Context(), readerFunc(func([]byte) (int, error) { return 0, nil }), "idle", nil)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

// TestLoadProgress checks that the end of an empty load is reported too.
func TestLoadProgress(t *testing.T) {
	calls := 0
	_, err := Load(t.Context(), files(), &LoadOptions{AllowEmpty: true, Progress: func(Progress) { calls++ }})
	if err != nil || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
}
