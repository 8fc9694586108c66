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
		_, err := semver.Parse(tc.text)
		if err == nil {
			t.Errorf("%q is a semantic version", tc.text)
			continue
		}
		if got := version.Reason(tc.text, err); got != tc.want {
			t.Errorf("Reason(%q) = %q, want %q", tc.text, got, tc.want)
		}
	}
}
