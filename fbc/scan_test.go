package fbc

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/property"
)

// accepts is what jsontext says about a text that is one value.
func accepts(text []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadValue(); err != nil {
		return false
	}
	_, err := dec.ReadToken()
	return err == io.EOF
}

// scans is what the scanner says.
func scans(text []byte) bool {
	end, ok := skipValue(text, skipSpace(text, 0), maxDepth)
	return ok && skipSpace(text, end) == len(text)
}

var scanSeeds = []string{
	`{}`, `{"a":1}`, `{"a":1,}`, `{,}`, `[1,2,]`, `[ 1 , 2 ]`, `[]`, `"a\u00e9\n"`, `"\ud800"`, `"\u12g4"`, `"\x"`, `"a`, "\"a\tb\"", "\"\x7f\xff\"",
	`0`, `-0`, `01`, `-`, `1.`, `.5`, `1.5e+10`, `1e`, `1E-`, `true`, `tru`, `truee`, `null `, ` nul`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`,
	`{"schema":"olm.bundle","properties":[{"type":"olm.gvk","value":{"group":"g","kind":"K","version":"v1"}}]}`,
	`{"12345678":"1234567\"","x":"\\\\\\"}`, `[[[[[[{"a":[{}]}]]]]]]`, `{"a":1}}`, `{"a":1} x`, "\u2028{}", "\xef\xbb\xbf{}",
}

// TestScan compares the scanner with jsontext on mutations of the seeds.
func TestScan(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	alphabet := []byte(`{}[]",:\ntrue0123456789.eE+-u` + " \t\r\n\x00\x1f\x80\xff")
	for _, seed := range scanSeeds {
		for n := range 3000 {
			text := []byte(seed)
			for range min(n, 1+n%3) {
				c := alphabet[g.IntN(len(alphabet))]
				switch at := g.IntN(len(text) + 1); {
				case g.IntN(3) == 0:
					text = append(text[:at:at], append([]byte{c}, text[at:]...)...)
				case at == len(text):
				case g.IntN(2) == 0:
					text = append(text[:at:at], text[at+1:]...)
				default:
					text[at] = c
				}
			}
			if got, want := scans(text), accepts(text); got != want {
				t.Fatalf("scans(%q) = %v, jsontext says %v", text, got, want)
			}
		}
	}
}

// FuzzScan holds the scanner to jsontext, and each short way of the decoder to
// the long one.
func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	for _, s := range documentSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := scans(text), accepts(text); got != want {
			t.Fatalf("scans(%q) = %v, jsontext says %v", text, got, want)
		}
		checkScan(t, text)
	})
}

// documentSeeds are documents that the short ways take, and nearly take.
var documentSeeds = []string{
	`{"schema":"olm.bundle","name":"a","package":"p","image":"i","defaultChannel":"c","description":"d","icon":{"base64data":""},"entries":[],"relatedImages":[],"properties":[]}`,
	`{"name":"a","n\u0061me":"b"}`, `{"schema":"a","Schema":"b"," name":1}`, `{"schema":"a","schema":"b"}`, `{}`, `{"entries":null,"properties":null,"relatedImages":null}`,
	`{"properties":[{"type":"a","value":1},{"value":{"b":[]},"type":"olm.csv.metadata"},{"type":"olm.bundle.object","value":null}]}`,
	`{"properties":[{"type":"a","value":1,"value":2}]}`, `{"properties":[{"type":"a","type":"b","value":2}]}`, `{"properties":[{"type":"","value":2}]}`,
	`{"properties":[{"type":1,"value":2}]}`, `{"properties":[{"type":"a"}]}`, `{"properties":[{"value":"a"}]}`, `{"properties":[null,{},[],{"type":"\u0061","value":null,"x":1}]}`,
	`{"properties":[{"\u0074ype":"a","type":"b","value":"c"}]}`, `{"properties":{"type":"a"}}`, `{"properties":[{"type":"a","value":"` + strings.Repeat("v", 40) + `"}]}`,
	`{"entries":[{"name":"a","replaces":"b","skipRange":"<1","skips":["c","\u0064"]},{"name":"b"}]}`, `{"entries":[{"name":"a","name":"b"}]}`,
	`{"entries":[{"name":"a","skips":["b"],"skips":["c"]}]}`, `{"entries":[{"name":"a","replaces":null,"skips":null}]}`, `{"entries":[{"name":""},{"replaces":"a"},{},1,{"name":1}]}`,
	`{"entries":[{"name":"a","skips":[1]},{"name":"a","skips":"b"},{"name":"a","x":1},{"n\u0061me":"a"}]}`,
	`{"relatedImages":[{"name":"a","image":"b"},{"image":"c"},{}]}`, `{"relatedImages":[{"name":"a","name":"b"}]}`, `{"relatedImages":[{"name":"a","n\u0061me":"b"}]}`,
	`{"relatedImages":[{"name":"a","image":"b","x":"c"}]}`, `{"relatedImages":[{"name":1}]}`, `{"relatedImages":["a"]}`, `{"relatedImages":{}}`, `{"relatedImages":[{"x":"a","y":"b"}]}`,
}

func TestScanDocuments(t *testing.T) {
	for _, s := range documentSeeds {
		checkScan(t, []byte(s))
	}
}

// checkScan reads a document in the short ways and in the long ones. What a
// short way takes, it takes as the long one does, which then has nothing to
// report; and the scanner takes every object about whose fields there is nothing
// to report.
func checkScan(t *testing.T, text []byte) {
	t.Helper()
	limits := (&Limits{PropertySize: 32, Depth: 100}).WithDefaults()
	for _, keep := range []bool{false, true} {
		d := newDecoder(&source{limits: &limits, seed: maphash.MakeSeed()}, keep)
		d.at = Meta{}
		// long runs a long way and reports whether it had something to report.
		long := func(way func()) bool {
			d.faults = nil
			way()
			return len(d.faults) > 0
		}
		f, ok := d.scan(text)
		var slow fields
		var err error
		faulty := long(func() { slow, err = d.fields(text) })
		if deep := depth(text, limits.Depth) != nil; ok && (err != nil || faulty || deep) || !ok && err == nil && !faulty && !deep {
			t.Fatalf("scan(%q) = %v; the long way: error %v, faults %v, too deep %v", text, ok, err, d.faults, deep)
		}
		if err != nil {
			return
		}
		if ok {
			a, b := reflect.ValueOf(f), reflect.ValueOf(slow)
			for i := range a.NumField() {
				if a.Field(i).Kind() == reflect.Slice && !bytes.Equal(a.Field(i).Bytes(), b.Field(i).Bytes()) {
					t.Fatalf("scan(%q): %s is %q, the long way finds %q", text, a.Type().Field(i).Name, a.Field(i).Bytes(), b.Field(i).Bytes())
				}
			}
			var got []property.Property
			regular := f.regular
			if regular {
				got, regular = d.regular()
			}
			if regular {
				var want []property.Property
				if long(func() { want = d.properties(f.properties) }) || !reflect.DeepEqual(got, want) {
					t.Fatalf("regular(%q) = %+v; the long way: %+v, %v", text, got, want, d.faults)
				}
			}
		}
		if slow.relatedImages != nil && stringsOnly(slow.relatedImages) && long(func() { d.images(slow.relatedImages) }) {
			t.Fatalf("stringsOnly(%q); the long way: %v", slow.relatedImages, d.faults)
		}
		if slow.entries == nil || slow.entries[0] != '[' {
			continue
		}
		for v := range elements(slow.entries) {
			got, ok := d.plainEntry(v)
			if !ok {
				continue
			}
			var want Entry
			if long(func() { want, _ = d.entry("", v) }) || !reflect.DeepEqual(got, want) {
				t.Fatalf("plainEntry(%q) = %+v; the long way: %+v, %v", v, got, want, d.faults)
			}
		}
	}
}

// TestRepeated tells of every name that repeats, wherever it does (A4).
func TestRepeated(t *testing.T) {
	for _, c := range []struct{ doc, path string }{
		{`{"schema":"x","name":"a","name":"b"}`, "/name"},
		{`{"schema":"x","properties":[{"type":"a","value":1,"value":2}]}`, "/properties/0/value"},
		{`{"schema":"x","properties":[{"type":"a","type":"b","value":2}]}`, "/properties/0/type"},
		{`{"schema":"x","properties":[{"type":"a","value":2,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"c":2}]}`, "/properties/0/c"},
		{`{"schema":"x","properties":[{"type":"a","value":2,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"h":2}]}`, "/properties/0/h"},
		{`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"a","name":"b"}]}`, "/entries/0/name"},
		{`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"a","replaces":"b","replaces":"c"}]}`, "/entries/0/replaces"},
		{`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"a","skips":["b"],"skips":["c"]}]}`, "/entries/0/skips"},
		{`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"a","skipRange":"<1","skipRange":"<2"}]}`, "/entries/0/skipRange"},
		{`{"schema":"olm.bundle","package":"p","name":"b","image":"i","relatedImages":[{"name":"a","name":"b"}]}`, "/relatedImages/0/name"},
		{`{"schema":"olm.package","name":"p","icon":{"mediatype":"m","base64data":"YQ==","mediatype":"n"}}`, "/icon/mediatype"},
		{`{"schema":"olm.deprecations","package":"p","entries":[{"message":"m","reference":{"schema":"olm.package","schema":"olm.package"}}]}`, "/entries/0/reference/schema"},
	} {
		for _, keep := range []bool{false, true} {
			cat, err := LoadBytes(t.Context(), []byte(c.doc), "f", &LoadOptions{KeepAll: keep})
			if err != nil {
				t.Errorf("%s: %v", c.doc, err)
			} else if n := cat.Findings; len(n) != 1 || n[0].Code != codes.RepeatedKey || n[0].Path != c.path {
				t.Errorf("%s: findings %v, want one about %s", c.doc, n, c.path)
			}
		}
	}
}

// TestManyMembers reads objects of a great many members, in a time that grows
// with their number and not with its square (A16).
func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&b, `"k%d":0,`, i)
	}
	many := b.String()
	for _, doc := range []string{
		`{"schema":"x","properties":[{` + many + `"type":"a","value":1}]}`,
		`{"schema":"olm.package","name":"p","icon":{` + many + `"mediatype":"m","base64data":"YQ=="}}`,
	} {
		if _, err := LoadBytes(t.Context(), []byte(doc), "f", nil); err != nil {
			t.Error(err)
		}
	}
}
