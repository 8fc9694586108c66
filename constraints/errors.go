package constraints

import (
	"fmt"
	"strings"
)

// An Error says what is wrong with a requirement property, and where.
type Error struct {
	// Type is the property's type: "olm.constraint", "olm.gvk.required" ….
	Type string
	// Path is the JSON pointer, within the value, of the element at fault:
	// "/all/constraints/1/package/versionRange". It is empty when that is the
	// value itself.
	Path string
	// Limit is the name of the field of Limits that was exceeded, else "".
	Limit string
	// Err is the fault, without the place. It is a *RangeError for a bad range.
	Err error
}

// Error returns the type, the path if there is one, and the fault.
func (e *Error) Error() string {
	s := e.Type + ": "
	if e.Path != "" {
		s += shortPath(e.Path) + ": "
	}
	return s + e.Err.Error()
}

// shortPath leaves out the middle of the path to something very deep.
func shortPath(path string) string {
	const most, ends = 240, 100
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:ends], "") + "/…" + strings.ToValidUTF8(path[len(path)-ends:], "")
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }

// A limitError is the fault of an Error that names a limit.
type limitError struct {
	limit string // the field of Limits
	fault string
}

func (e *limitError) Error() string {
	return e.fault + " (Limits." + e.limit + " raises it)"
}

func limitErrorf(limit, format string, args ...any) error {
	return &limitError{limit, fmt.Sprintf(format, args...)}
}
