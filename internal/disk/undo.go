package disk

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
)

// An UndoError reports that a batch failed and could not be undone. It lists the files that remain changed, with
// backups of their content.
type UndoError struct {
	Err   error // why the batch failed
	Files []Unrestored
}

// Unrestored is a file that could not be restored.
type Unrestored struct {
	Name   string
	New    bool   // true if the file has the new content, false if it is missing
	Backup string // the file that holds the old content, or "" if there was none
	Err    error
}

func (e *UndoError) Error() string {
	var b strings.Builder
	visible.Fprintf(&b, "%s; these files could not be restored; restore them by hand:", e.Err)
	for _, f := range e.Files {
		visible.Fprintf(&b, "\n  %s", f.text())
	}
	return b.String()
}

func (e *UndoError) Unwrap() error { return e.Err }

// Lists marks the error as one whose message has several lines.
func (e *UndoError) Lists() {}

func (f Unrestored) text() string {
	switch {
	case f.Backup == "":
		return fmt.Sprintf("%s is new and could not be removed (%v)", f.Name, f.Err)
	case f.New:
		return fmt.Sprintf("%s holds the new text; its old text is in %s (%v)", f.Name, f.Backup, f.Err)
	}
	return fmt.Sprintf("%s is missing; its text is in %s (%v)", f.Name, f.Backup, f.Err)
}
