package fbc

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonscan"
	"github.com/olmkit/olmkit/property"
)

// documentSeeds lists documents that the fast paths of the decoder accept, or almost
// accept.
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

func TestFastWays(t *testing.T) {
	for _, s := range documentSeeds {
		checkFast(t, []byte(s))
	}
}

// FuzzFastWays compares the fast paths of the decoder with the general ones.
func FuzzFastWays(f *testing.F) {
	for _, s := range documentSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(checkFast)
}

// checkFast decodes a document with the fast and the general paths. If a fast path accepts
// it, the general path must return the same result and report nothing.
func checkFast(t *testing.T, text []byte) {
	t.Helper()
	limits := (&Limits{PropertySize: 32, Depth: 100}).WithDefaults()
	for _, keep := range []bool{false, true} {
		d := newDecoder(&source{limits: &limits, seed: maphash.MakeSeed()}, keep)
		d.at = Meta{}
		_, f, _, ok := d.reader.Read(t.Context(), decode.Document{Text: text})
		if !ok {
			return
		}
		// general runs a general path and returns whether it reported something.
		general := func(way func()) bool {
			d.faults = nil
			way()
			return len(d.faults) > 0
		}
		if f.Regular {
			got, ok := d.regular(f.Spans)
			var want []property.Property
			if ok && (general(func() { want = d.properties(f.Properties) }) || !reflect.DeepEqual(got, want)) {
				t.Fatalf("regular(%q) = %+v; properties: %+v, %v", text, got, want, d.faults)
			}
		}
		if f.RelatedImages != nil && stringsOnly(f.RelatedImages) && general(func() { d.images(f.RelatedImages) }) {
			t.Fatalf("stringsOnly(%q); images: %v", f.RelatedImages, d.faults)
		}
		if f.Entries == nil || f.Entries[0] != '[' {
			continue
		}
		for v := range jsonscan.Elements(f.Entries) {
			got, ok := d.plainEntry(v)
			if !ok {
				continue
			}
			var want Entry
			if general(func() { want, _ = d.entry("", v) }) || !reflect.DeepEqual(got, want) {
				t.Fatalf("plainEntry(%q) = %+v; entry: %+v, %v", v, got, want, d.faults)
			}
		}
	}
}

// TestRepeated checks that every repeated name is reported, at any depth (A4).
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
			cat, err := LoadReader(t.Context(), strings.NewReader(c.doc), "f", &LoadOptions{KeepAll: keep})
			if err != nil {
				t.Errorf("%s: %v", c.doc, err)
			} else if n := cat.Findings; len(n) != 1 || n[0].Code != codes.RepeatedKey || n[0].Path != c.path {
				t.Errorf("%s: findings %v, want one about %s", c.doc, n, c.path)
			}
		}
	}
}

// TestManyMembers checks that the time to read an object grows linearly with the number of
// its members (A16).
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
		if _, err := LoadReader(t.Context(), strings.NewReader(doc), "f", nil); err != nil {
			t.Error(err)
		}
	}
}
