package fbc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
)

// A Diagnostic is one finding about a catalog, with its position. It is an error: use
// errors.As to inspect a failed load.
type Diagnostic struct {
	Code     Code
	Severity Severity
	// Pos is the file and the first line of the blob.
	Pos Pos
	// FieldLine is the line of Path in the file; 0 if it is unknown. Loading leaves it 0:
	// Locate in package report finds it.
	FieldLine int
	// Schema, Package and Name identify the blob, as far as they could be read.
	Schema, Package, Name string
	// Path is the JSON pointer of the fault within the blob.
	Path string
	// Err states what is wrong and, unless that is obvious, how to fix it.
	Err error
}

// Error returns "file:line: schema "name" of package "p": path: message" on one line.
// Characters that are not printable are escaped.
func (d *Diagnostic) Error() string {
	return visible.Line(d.Pos.String() + ": " + d.Text())
}

// Text returns the message of Error without the position. Unlike Error, it does not escape
// characters that are not printable.
func (d *Diagnostic) Text() string {
	var b strings.Builder
	if d.Schema != "" {
		b.WriteString(d.Schema)
		if d.Name != "" {
			fmt.Fprintf(&b, " %q", d.Name)
		}
		if d.Package != "" && d.Package != d.Name {
			fmt.Fprintf(&b, " of package %q", d.Package)
		}
		b.WriteString(": ")
	}
	if d.Path != "" {
		b.WriteString(d.Path)
		b.WriteString(": ")
	}
	if d.Err != nil {
		b.WriteString(d.Err.Error())
	} else {
		b.WriteString(string(d.Code))
	}
	return b.String()
}

// Unwrap returns the cause.
func (d *Diagnostic) Unwrap() error { return d.Err }

// Compare orders diagnostics by position, then path, code and text.
func (d *Diagnostic) Compare(e *Diagnostic) int {
	if c := cmp.Or(d.Pos.Compare(e.Pos), comparePaths(d.Path, e.Path), cmp.Compare(d.Code, e.Code)); c != 0 {
		return c
	}
	return cmp.Compare(d.Error(), e.Error())
}

// comparePaths orders JSON pointers, list indexes by number.
func comparePaths(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a[1:], "/")
		y, b, _ = strings.Cut(b[1:], "/")
		if c := cmp.Compare(x, y); c != 0 {
			if digits(x) && digits(y) {
				c = cmp.Or(cmp.Compare(len(x), len(y)), c)
			}
			return c
		}
		if a != "" {
			a = "/" + a
		}
		if b != "" {
			b = "/" + b
		}
	}
	return cmp.Compare(a, b)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Diagnostics is a list of findings in order of position. As an error it prints one
// finding per line and unwraps to all of them.
type Diagnostics []*Diagnostic

// Error returns one finding per line.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the findings as errors.
func (ds Diagnostics) Unwrap() []error {
	errs := make([]error, len(ds))
	for i, d := range ds {
		errs[i] = d
	}
	return errs
}

// Errors returns the findings of severity Error, in order.
func (ds Diagnostics) Errors() Diagnostics { return ds.only(Error) }

// Warnings returns the findings of severity Warning, in order.
func (ds Diagnostics) Warnings() Diagnostics { return ds.only(Warning) }

func (ds Diagnostics) only(s Severity) Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d *Diagnostic) bool { return d.Severity != s })
}

// Err returns the findings of severity Error as one error, or nil if there are none.
func (ds Diagnostics) Err() error {
	if e := ds.Errors(); len(e) > 0 {
		return e
	}
	return nil
}

func (ds Diagnostics) sort() { slices.SortStableFunc(ds, (*Diagnostic).Compare) }

// A LimitError reports that an input exceeds a limit. It is the cause of a Diagnostic
// with [Code] "limit".
type LimitError struct {
	Limit string // the name of a field of Limits
	What  string // what was too large: "file", "document", …
	Size  int64  // what was found; 0 when reading stopped at the limit
	Max   int64
}

// Error names the limit and explains how to raise it.
func (e *LimitError) Error() string {
	found := ""
	if e.Size > 0 {
		found = fmt.Sprintf(" (found %d)", e.Size)
	}
	return fmt.Sprintf("%s exceeds limit %s=%d%s; raise the limit if this input is trusted", e.What, e.Limit, e.Max, found)
}

var errEmpty = errors.New(`the catalog has no blobs; a catalog directory contains .yaml or .json files with documents such as {"schema":"olm.package",…}`)
