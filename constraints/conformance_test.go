package constraints

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/property"
)

// conformance reads the cases of a file of recorded answers. It skips the test
// if the file, which is not in the repository, is missing.
func conformance[T any](t *testing.T, name string) []T {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "conformance", name)
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("no conformance cases here: %v", err)
	}
	defer f.Close()
	var cases []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c T
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

// stricter lists the cases that OLM accepts and we refuse, with the rule that
// makes the difference.
var stricter = map[string]string{
	"constraint-1-2":   "D4: over 64 KiB",
	"constraint-1-3":   "D4: over 64 KiB",
	"constraint-1-4":   "D4: over 64 KiB",
	"constraint-1-8":   "D4: over 64 KiB",
	"constraint-1-9":   "D4: over 64 KiB",
	"constraint-1-10":  "D4: over 64 KiB",
	"constraint-1-38":  "D3, H8: an empty list",
	"constraint-1-55":  "D3, H8: an empty list",
	"constraint-1-240": "D3, H8: an empty list",
	"constraint-1-43":  "D3, H20: text after the value",
	"constraint-1-74":  "D3, H8: two kinds",
	"constraint-1-114": "D3, H8: two kinds",
	"constraint-1-152": "D3, H8: two kinds",
	"constraint-1-153": "D3, H8: two kinds",
	"constraint-1-57":  "D3, H20: a repeated key",
	"constraint-1-250": "D4: nested too deep",
	"constraint-1-159": "D3, H20: a repeated key",
	"constraint-1-215": "D3: no package name",
	"constraint-1-229": "D3: an empty package name",
}

func TestConformanceConstraints(t *testing.T) {
	type testCase struct {
		ID    string
		Value string
		PadTo int
		Want  struct{ OK bool }
		Note  string
		Eval  []struct {
			Properties []property.Property
			Match      bool
		}
	}
	c := NewCompiler(nil)
	eval := NewEvaluator(Cluster{}, nil)
	var parsed, evaluated, differs, bad int
	for _, tt := range conformance[testCase](t, "constraints.jsonl") {
		raw := tt.Value
		if tt.PadTo > 0 {
			n := tt.PadTo - len(raw) + len("@PAD@")
			raw = strings.Replace(raw, "@PAD@", strings.Repeat("x", n), 1)
		}
		x, err := c.Parse([]byte(raw))
		reason, differ := stricter[tt.ID]
		if differ {
			differs++
			if err == nil {
				t.Errorf("%s: accepted; expected to refuse it (%s)\n%.300s", tt.ID, reason, raw)
			} else {
				t.Logf("%s: differs on purpose, %s: %.200v", tt.ID, reason, err)
			}
			continue
		}
		parsed++
		if (err == nil) != tt.Want.OK {
			t.Errorf("%s (note %q): %v; want ok = %t\n%.300s", tt.ID, tt.Note, err, tt.Want.OK, raw)
			bad++
			continue
		}
		if err != nil {
			continue
		}
		for i, e := range tt.Eval {
			evaluated++
			b := NewPropertyList(e.Properties, nil)
			res, err := eval.Satisfies(t.Context(), x, b)
			if err != nil {
				t.Fatal(err)
			}
			if res.OK != e.Match {
				t.Errorf("%s: bundle %d: %t; want %t\n%s\n%v\n%v", tt.ID, i, res.OK, e.Match, x, e.Properties, res.Problems)
				bad++
			}
		}
	}
	t.Logf("constraints.jsonl: %d of %d verdicts match OLM's (%d parsed, %d evaluated); %d cases differ on purpose",
		parsed+evaluated-bad, parsed+evaluated, parsed, evaluated, differs)
}

func TestConformanceRanges(t *testing.T) {
	type testCase struct {
		Syntax, Range, Version string
		Valid, Match           bool
	}
	n, bad := 0, 0
	for _, tt := range conformance[testCase](t, "ranges.jsonl") {
		if tt.Syntax != "blang" {
			continue
		}
		n++
		r, err := ParseRange(tt.Range)
		if (err == nil) != tt.Valid {
			t.Errorf("ParseRange(%q): %v; want valid = %t", tt.Range, err, tt.Valid)
			bad++
		} else if got := r.Contains(semver.MustParse(tt.Version)); got != tt.Match {
			t.Errorf("ParseRange(%q).Contains(%s) = %t, want %t", tt.Range, tt.Version, got, tt.Match)
			bad++
		}
	}
	t.Logf("ranges.jsonl: %d of %d blang cases match the library", n-bad, n)
}
