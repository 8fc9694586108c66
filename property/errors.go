package property

// An Error reports an invalid property value.
type Error struct {
	// Type is the property's type, such as "olm.gvk".
	Type string
	// Path is the JSON pointer to the invalid element in the value, such as
	// "/version", or "" for the value itself.
	Path string
	// Err is the cause, without the position.
	Err error
}

// Error returns the type, the path and the cause, as in `olm.gvk: /version: want
// a string, found a number`.
func (e *Error) Error() string {
	s := e.Type + ": "
	if e.Path != "" {
		s += e.Path + ": "
	}
	return s + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
