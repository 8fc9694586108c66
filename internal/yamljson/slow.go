package yamljson

import (
	"fmt"
	"regexp"
	"strconv"

	"sigs.k8s.io/yaml"
)

// An Error says why the full parser did not accept a document.
type Error struct {
	Line int // line in the document, from 1, as the parser gives it; 0 if it gives none
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Slow returns the JSON form of the YAML document doc, made by sigs.k8s.io/yaml. Its errors are of type *Error.
//
// Only the first document of several is converted, without an error.
func Slow(doc []byte, opts *Options) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser panics on a few malformed inputs
			out, err = nil, &Error{Err: fmt.Errorf("yaml: %v", r)}
		}
	}()
	if opts != nil && opts.Strict {
		out, err = yaml.YAMLToJSONStrict(doc)
	} else {
		out, err = yaml.YAMLToJSON(doc)
	}
	if err != nil {
		return nil, &Error{Line: errorLine(err), Err: err}
	}
	return out, nil
}

var linePattern = regexp.MustCompile(`\bline (\d+): `)

func errorLine(err error) int {
	m := linePattern.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // at worst 0, for a number that does not fit
	return n
}
