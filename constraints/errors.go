package constraints

import (
	"fmt"
	"strings"
)

// An Error reports an invalid requirement property.
type Error struct {
	// Type is the property's type: "olm.constraint", "olm.gvk.required" ….
	Type string
	// Path is the JSON pointer to the invalid element in the value, such as
	// "/all/constraints/1/package/versionRange", or "" for the value itself.
	Path string
	// Limit is the name of the exceeded field of Limits, or "".
	Limit string
	// Err is the cause, without the position. It is a *RangeError for an
	// invalid range.
	Err error
}

// Error returns the type, the path, if any, and the cause.
func (e *Error) Error() string {
	s := e.Type + ": "
	if e.Path != "" {
		s += shortPath(e.Path) + ": "
	}
	return s + e.Err.Error()
}

// shortPath removes the middle of a very long path.
func shortPath(path string) string {
	const most, ends = 240, 100
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:ends], "") + "/…" + strings.ToValidUTF8(path[len(path)-ends:], "")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A limitError is a cause that names a limit.
type limitError struct {
	limit string // the field of Limits
	fault string
}

func (e *limitError) Error() string {
	return e.fault + "; raise limit " + e.limit + " to allow it"
}

func limitErrorf(limit, format string, args ...any) error {
	return &limitError{limit, fmt.Sprintf(format, args...)}
}
