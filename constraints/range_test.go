package constraints

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/blang/semver/v4"
)

// TestRangeErrors compares the errors with a golden file (H11).
func TestRangeErrors(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{
		"", "  ", "*", "x", "X", "1", "5 || 1.0.0", "latest", "v", ">", ">=", ">= ", "||", ">=1.0.0 ||", "|| >=1.0.0", ">=1.0.0 || || <0.5.0",
		"^1.2.3", "^0.2.3", "^0.0.3", "^1", "~1.2.3", "~1.2", "~1", "~>1.2.3", ">=1.0.0 ^2.0.0",
		">=1.0", "=1", ">=1.0-rc.1", "1.0.0.0", ">=v1.0.0", "v1.0.0", ">=V1", ">=1.0.0, <2.0.0", "1.0.0,2.0.0,^1", ",",
		"=<1.0.0", "=>1.0.0", "===1.0.0", "<>1.0.0", "!!1.0.0", "@1.0.0", "(>=1.0.0)", ">=1.0.0||<0.5.0", ">=1.0.0<2.0.0",
		"1.*", "1.X", "*.1", ">=1.X", "1.x.2", ">1.x.2", "=1.0.0-next", ">1.0.0-x", "01.2.3", "1.02.3", ">=1.0.0-alpha..1", ">=1.0.0-rc_1",
		">=1.0.0\n", ">=1.0.0\t<2.0.0", "99999999999999999999.0.0", "-1.0.0", ">=1.0.0 and <2.0.0",
		strings.Repeat(">=1.0.0 ", 20) + "xx",
	} {
		r, err := ParseRange(text)
		var e *RangeError
		if !errors.As(err, &e) {
			t.Errorf("ParseRange(%q) = %v, %v; want a *RangeError", text, r, err)
			continue
		}
		fmt.Fprintf(&b, "%v\n", err)
		if e.Instead != "" {
			if _, err := ParseRange(e.Instead); err != nil {
				t.Errorf("ParseRange(%q) proposes %q: %v", text, e.Instead, err)
			}
		}
	}
	golden.File(t, "ranges.golden", b.String())
}

func TestRangeContains(t *testing.T) {
	for _, tt := range []struct {
		text, in, out string // versions
	}{
		{">=1.0.0 <2.0.0", "1.0.0 1.9.9 2.0.0-rc.1 1.0.0+1", "0.9.9 2.0.0 1.0.0-rc.1"},
		{"1.x", "1.0.0 1.99.0 2.0.0-rc.1", "0.9.0 2.0.0 1.0.0-rc.1"}, // H11
		{"1.x.x", "1.0.3", "1.2.3"},                // H11
		{"1.0.0 - 2.0.0", "", "1.0.0 1.5.0 2.0.0"}, // H11: parses, matches nothing
		{"<1.0.0 || >2.0.0 !3.0.0", "0.1.0 2.1.0", "1.0.0 3.0.0"},
		{"1.0.0 || 2.0.0 || 3.0.0", "1.0.0 2.0.0 3.0.0", "4.0.0"},
	} {
		r, err := ParseRange(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if r.String() != tt.text || r.IsZero() {
			t.Errorf("ParseRange(%q).String() = %q, IsZero() = %t", tt.text, r, r.IsZero())
		}
		for _, v := range strings.Fields(tt.in) {
			if !r.Contains(semver.MustParse(v)) {
				t.Errorf("%q does not contain %s", tt.text, v)
			}
		}
		for _, v := range strings.Fields(tt.out) {
			if r.Contains(semver.MustParse(v)) {
				t.Errorf("%q contains %s", tt.text, v)
			}
		}
	}
	var zero Range
	if !zero.IsZero() || zero.Contains(semver.MustParse("1.0.0")) {
		t.Error("the zero Range is not empty")
	}
}

func TestMaxRangeSize(t *testing.T) {
	at := ">=1.0.0" + strings.Repeat(" ", maxRangeSize-len(">=1.0.0"))
	if _, err := ParseRange(at); err != nil {
		t.Errorf("ParseRange of %d bytes: %v", len(at), err)
	}
	if _, err := ParseRange(at + " "); err == nil {
		t.Errorf("ParseRange of %d bytes succeeded", len(at)+1)
	}
}

func FuzzRange(f *testing.F) {
	for _, s := range []string{
		">=1.0.0 <2.0.0", "1.x || 2.2.x", "5 || 1.0.0", "1.0.0 || 5 || 2.0.0", "1.0.0 > || 2.0.0", ">= 1.0.0", "=1.0.0-next",
		"^1.2", "~0.1", "1,2", "!1.0.0", "1.0.0 - 2.0.0", "<=9223372036854775807.x", "1.x.x", "\xff", "=<1.0.0", "1.x.2", "||", "1.0.0||2.0.0",
	} {
		f.Add(s, "1.2.3-rc.1")
	}
	f.Add("^"+strings.Repeat("\x9c", 3000)+"0A ", "1.0.0") // caused a very long error
	f.Fuzz(func(t *testing.T, text, version string) {
		r, err := ParseRange(text)
		v, verr := semver.Parse(version)
		if err != nil {
			var e *RangeError
			if !errors.As(err, &e) || e.Reason == "" {
				t.Fatalf("ParseRange(%q): %#v", text, err)
			}
			if len(err.Error()) > 2000 {
				t.Fatalf("ParseRange(%q): an error of %d bytes", text, len(err.Error()))
			}
			if e.Instead != "" {
				if _, err := ParseRange(e.Instead); err != nil {
					t.Fatalf("ParseRange(%q) proposes %q: %v", text, e.Instead, err)
				}
			}
		}
		if err == nil {
			versions := around(r)
			if verr == nil {
				at, _ := slices.BinarySearchFunc(versions, v, semver.Version.Compare)
				versions = slices.Insert(versions, at, v)
			}
			checkSpans(t, r, versions)
		}
		want, valid, panics := libraryRange(text, v)
		switch {
		case panics: // an alternative without a comparison
			if err == nil {
				t.Fatalf("ParseRange(%q) succeeded; the library panics", text)
			}
		case (err == nil) != valid && len(text) <= maxRangeSize && !emptyAlternative(text):
			t.Fatalf("ParseRange(%q): %v; the library accepts it: %t", text, err, valid)
		case err == nil && verr == nil && r.Contains(v) != want:
			t.Fatalf("ParseRange(%q).Contains(%s) = %t; the library: %t", text, version, !want, want)
		}
	})
}

// libraryRange asks the library whether a range is valid and contains v.
func libraryRange(text string, v semver.Version) (in, valid, panics bool) {
	defer func() { panics = recover() != nil }()
	r, err := semver.ParseRange(text)
	if err != nil {
		return false, false, false
	}
	return r(v), true, false
}

// emptyAlternative reports whether some alternative of the range has no
// comparison that the library would see: it drops words of one byte.
func emptyAlternative(text string) bool {
	for alt := range alternatives(text) {
		if _, err := semver.ParseRange(alt); err != nil && strings.Contains(err.Error(), "Last element") {
			return true
		}
	}
	return false
}

func TestRangeWarnings(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string
	}{
		{">=1.0.0 <2.0.0 || 3.x", ""},
		{">=1.0.0-next <2.x", ""},
		{"1.0.0 - 2.0.0", `"-" is ignored, because it has only one character`},
		{">=1.0.0 | <0.5.0 5", `"|" is ignored, because it has only one character; "5" is ignored, because it has only one character`},
		{"^1.x", `"^1.x" is parsed as an exact version, because the parser does not report unknown comparison operators next to an x`},
		{"x.1.0", `"x.1.0" is parsed as an exact version, because the parser does not report unknown comparison operators next to an x`},
		{"0.5.0 || >=1.x.x", `">=1.x.x" includes only minor version 0; write ">=1.x"`},
	} {
		r, err := ParseRange(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Warnings(), "; "); got != tt.want {
			t.Errorf("ParseRange(%q).Warnings() = %s, want %s", tt.text, got, tt.want)
		}
	}
}
