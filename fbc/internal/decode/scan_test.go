package decode

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/jsonscan"
)

// accepts reports whether jsontext accepts a text as one value.
func accepts(text []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadValue(); err != nil {
		return false
	}
	_, err := dec.ReadToken()
	return err == io.EOF
}

// scans reports whether the scanner accepts a text as one value.
func scans(text []byte) bool {
	end, ok := jsonscan.Value(text, jsonscan.Space(text, 0), MaxDepth)
	return ok && jsonscan.Space(text, end) == len(text)
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
				t.Fatalf("scans(%q) = %v, jsontext wants %v", text, got, want)
			}
		}
	}
}

// FuzzScan compares the scanner with jsontext, and with the slower way to find fields.
func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	for _, s := range documentSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := scans(text), accepts(text); got != want {
			t.Fatalf("scans(%q) = %v, jsontext wants %v", text, got, want)
		}
		checkScan(t, text)
		if len(text) < 1000 {
			checkEnd(t, text)
		}
	})
}

// documentSeeds lists objects that the scanner accepts, or almost accepts.
var documentSeeds = []string{
	`{"schema":"olm.bundle","name":"a","package":"p","image":"i","defaultChannel":"c","description":"d","icon":{"base64data":""},"entries":[],"relatedImages":[],"properties":[]}`,
	`{"name":"a","n\u0061me":"b"}`, `{"schema":"a","Schema":"b"," name":1}`, `{"schema":"a","schema":"b"}`, `{}`, `{"entries":null,"properties":null,"relatedImages":null}`,
	`{"properties":[{"type":"a","value":1},{"value":{"b":[]},"type":"olm.csv.metadata"},{"type":"olm.bundle.object","value":null}]}`,
	`{"properties":[{"type":"a","value":1,"value":2}]}`, `{"properties":[null,{},[],{"type":"\u0061","value":null,"x":1}]}`, `{"properties":{"type":"a"}}`,
}

func TestScanDocuments(t *testing.T) {
	for _, s := range documentSeeds {
		checkScan(t, []byte(s))
	}
}

// TestScanEnds checks that the scanner finds the end of an object that the splitter finds
// without it, and reports each beginning of an object as too short.
func TestScanEnds(t *testing.T) {
	for _, seed := range slices.Concat(scanSeeds, documentSeeds) {
		checkEnd(t, []byte(seed))
		checkEnd(t, []byte(seed+"\n"+seed))
	}
}

func checkEnd(t *testing.T, text []byte) {
	t.Helper()
	s := scanner{depth: 100}
	_, end, ok := s.object(text, 0)
	if !ok {
		return
	}
	if want, verdict := jsonEnd(text, 0, true); verdict != complete || end != want {
		t.Fatalf("object(%q) ends at %d, jsonEnd at %d, verdict %d", text, end, want, verdict)
	}
	for n := range end {
		if _, short, ok := s.object(text[:n], 0); ok || short != n {
			t.Fatalf("object(%q) = %d, %v; want %d, false", text[:n], short, ok, n)
		}
		if _, verdict := jsonEnd(text[:n], 0, false); n > 0 && verdict != incomplete {
			t.Fatalf("jsonEnd(%q) = %d, want incomplete", text[:n], verdict)
		}
	}
}

// checkScan finds the fields of a document with the scanner and with jsontext. The scanner
// must accept every object whose fields have no errors, and find the same fields.
func checkScan(t *testing.T, text []byte) {
	t.Helper()
	limits := Limits{DocumentSize: 1 << 20, Depth: 100, Expansion: 1 << 20}
	for _, keepAll := range []bool{false, true} {
		d := NewReader(limits, keepAll)
		f, ok := d.scan(text)
		slow, err := d.fields(text)
		faulty := len(d.faults) > 0
		if deep := depth(text, limits.Depth) != nil; ok && (err != nil || faulty || deep) || !ok && err == nil && !faulty && !deep {
			t.Fatalf("scan(%q) = %v; jsontext: error %v, faults %v, too deep %v", text, ok, err, d.faults, deep)
		}
		if err != nil || !ok {
			return
		}
		a, b := reflect.ValueOf(f), reflect.ValueOf(slow)
		for i := range a.NumField() {
			if x, y := a.Field(i), b.Field(i); x.Type() == reflect.TypeFor[[]byte]() && !bytes.Equal(x.Bytes(), y.Bytes()) {
				t.Fatalf("scan(%q): %s is %q, jsontext finds %q", text, a.Type().Field(i).Name, x.Bytes(), y.Bytes())
			}
		}
	}
}
