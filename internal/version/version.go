// Package version explains why text is not a semantic version.
package version

import (
	"fmt"
	"strings"
)

// Error returns an error that quotes text, which is not a semantic version, and states
// why. err is the error of semver.Parse.
func Error(text string, err error) error {
	return fmt.Errorf("%q is not a semantic version: %s", text, Reason(text, err))
}

// Reason returns why text is not a semantic version, or how to write it. err is the error
// of semver.Parse.
func Reason(text string, err error) string {
	core := text
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		core = text[:i]
	}
	switch reason := err.Error(); {
	case strings.HasPrefix(text, "v") || strings.HasPrefix(text, "V"):
		return fmt.Sprintf("want three numbers, such as 1.2.3 or 1.2.3-rc.1, without the %q", text[:1])
	case strings.Count(core, ".") != 2:
		return "want three numbers, such as 1.2.3 or 1.2.3-rc.1"
	default:
		return strings.ToLower(reason[:1]) + reason[1:]
	}
}
