package cli

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/visible"
)

// A catalogError reports that the catalog at a path cannot be used.
type catalogError struct {
	path string
	err  error
}

// maxFindings is how many findings an error lists before it counts the rest.
const maxFindings = 10

// Error lists the first findings, one a line, and is of one line otherwise.
func (e *catalogError) Error() string {
	name := "catalog " + display(e.path)
	var findings fbc.Diagnostics
	var file *fs.PathError
	switch {
	case errors.As(e.err, &findings) && len(findings) == 1:
		return name + ": " + visible.Line(findings[0].Error())
	case errors.As(e.err, &findings):
		var b strings.Builder
		visible.Fprintf(&b, "%s has %d errors:", visible.Block(name), len(findings))
		for i, d := range findings {
			if i == maxFindings {
				visible.Fprintf(&b, "\n  and %d more; \"olmkit validate\" lists them all", len(findings)-i)
				break
			}
			visible.Fprintf(&b, "\n  %v", d)
		}
		return b.String()
	case errors.Is(e.err, fs.ErrNotExist):
		return name + " does not exist; name a directory of .yaml or .json files, or one such file"
	case errors.As(e.err, &file):
		return name + ": " + visible.Line(file.Err.Error())
	}
	return name + ": " + visible.Line(e.err.Error())
}

func (e *catalogError) Unwrap() error { return e.err }
