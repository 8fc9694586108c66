package fbc

import (
	"bytes"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
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

// FuzzScan holds the scanner to jsontext.
func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := scans(text), accepts(text); got != want {
			t.Fatalf("scans(%q) = %v, jsontext says %v", text, got, want)
		}
		limits := (*Limits)(nil).withDefaults()
		d := newDecoder(&source{limits: &limits, seed: maphash.MakeSeed()}, KeepResolution)
		f, ok := d.scan(text)
		slow, err := d.fields(text)
		if ok && err != nil {
			t.Fatalf("scan(%q) is fine, the slow way says %v", text, err)
		}
		if ok && (string(f.schema) != string(slow.schema) || string(f.properties) != string(slow.properties) || string(f.entries) != string(slow.entries)) {
			t.Fatalf("scan(%q) = %+v, the slow way finds %+v", text, f, slow)
		}
	})
}
