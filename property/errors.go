package property

// An Error says what is wrong with the value of a property, and where.
type Error struct {
	// Type is the property's type, such as "olm.gvk".
	Type string
	// Path is the JSON pointer, within the value, of the element at fault:
	// "/version". It is empty when that is the value itself.
	Path string
	// Err is the fault, without the place.
	Err error
}

// Error returns the type, the path if there is one, and the fault:
// `olm.gvk: /version: want a string, found a number`.
func (e *Error) Error() string {
	s := e.Type + ": "
	if e.Path != "" {
		s += e.Path + ": "
	}
	return s + e.Err.Error()
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }
