package version_test

import (
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/version"
)

func TestReason(t *testing.T) {
	const form = "want three numbers, such as 1.2.3 or 1.2.3-rc.1"
	for _, tc := range []struct{ text, want string }{
		{"", form},
		{"1.2", form},
		{"latest", form},
		{"1.2-3.4.5", form},
		{"1.2.3.4", form},
		{"v1.2.3", form + `, without the "v"`},
		{"v1.2", form + `, without the "v"`},
		{"1.02.3", `minor number must not contain leading zeroes "02"`},
		{"1.2.x", `invalid character(s) found in patch number "x"`},
		{"1.2.3-", "prerelease is empty"},
	} {
		_, err := version.Parse(tc.text)
		if err == nil {
			t.Errorf("%q is a semantic version", tc.text)
			continue
		}
		if got := version.Reason(tc.text, err); got != tc.want {
			t.Errorf("Reason(%q) = %q, want %q", tc.text, got, tc.want)
		}
	}
}

// TestParse compares the fast version parser with semver's.
func TestParse(t *testing.T) {
	for _, s := range []string{
		"1.2.3", "0.0.0", "10.20.30", "01.2.3", "1.02.3", "1.2.03", "1.2", "1.2.3.4", "1..3", "", "..", "1.2.3-a.1+b", "1.2.x", "v1.2.3",
		"999999999999999999.0.0", "18446744073709551615.0.0", "18446744073709551616.0.0", "1.2.-3", "1.2.3 ", " 1.2.3", "1.2.+3", "+1.2.3",
	} {
		want, wantErr := semver.Parse(s)
		got, err := version.Parse(s)
		if (err == nil) != (wantErr == nil) || err == nil && got.String() != want.String() {
			t.Errorf("Parse(%q) = %v, %v; want %v, %v", s, got, err, want, wantErr)
		}
	}
}
