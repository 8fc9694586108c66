package cli

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/visible"
)

// defaultWidth is the width of prose without a terminal.
const defaultWidth = 100

// minWidth is the minimum width of prose: below it, long names break every layout.
const minWidth = 40

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// A screen is a writer for text. It escapes everything that is not printable, except its
// own colors, so that names and messages in a catalog cannot control the terminal.
type screen struct {
	*visible.Writer
	raw      io.Writer
	settings *settings
}

func newScreen(w io.Writer, to *settings) *screen {
	s := &screen{raw: w, settings: to}
	s.Writer = visible.NewWriter(w, func() []string {
		if colored(s) {
			return sequences
		}
		return nil
	})
	return s
}

// exact returns a writer that does not escape anything, for files, pages and indexes.
func exact(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.raw
	}
	return w
}

// errorText returns the text of an error. Only lists of findings or files have several
// lines.
func errorText(err error) visible.Block {
	text := err.Error()
	var list interface {
		error
		Lists()
	}
	if errors.As(err, &list) {
		if before, ok := strings.CutSuffix(text, list.Error()); ok {
			return visible.Block(visible.Line(before) + list.Error())
		}
	}
	var findings fbc.Diagnostics // of an inline catalog in a problem
	if errors.As(err, &findings) && len(findings) > 0 {
		if before, ok := strings.CutSuffix(text, ": "+findings.Error()); ok {
			return listed(visible.Block(visible.Line(before)), findings, "")
		}
	}
	return visible.Block(visible.Line(text))
}

// bare returns the text of an error without the name of the problem, which is printed
// before it.
func bare(err error) visible.Block {
	return visible.Block(strings.TrimPrefix(string(errorText(err)), "problem: "))
}

// machine returns a writer for documents that machines read. It writes them unchanged to
// files and pipes, and escaped like text to a terminal; escaped JSON keeps its meaning.
func machine(w io.Writer) io.Writer {
	if terminal(w) != nil {
		return w
	}
	return exact(w)
}

// terminal returns the terminal behind a writer, or nil.
func terminal(w io.Writer) *os.File {
	if f, ok := exact(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// columns returns the width of a terminal in characters: COLUMNS, or else the terminal's
// own width, or 0 if both are unknown.
func columns(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f := terminal(w); f != nil {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

// textWidth returns the maximum width of a line of prose.
func textWidth(w io.Writer) int {
	if n := columns(w); n > 0 {
		return max(n, minWidth)
	}
	return defaultWidth
}

// tableWidth returns the maximum width of a row of a table, or 0 for no limit, as in files
// and pipes.
func tableWidth(w io.Writer) int {
	if terminal(w) == nil {
		return 0
	}
	return columns(w)
}

// colored reports whether to print colors to a writer: by default on a terminal, unless
// NO_COLOR is set or the terminal is dumb.
func colored(w io.Writer) bool {
	if s, ok := w.(*screen); ok {
		switch s.settings.color {
		case colorAlways:
			return true
		case colorNever:
			return false
		}
	}
	return terminal(w) != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
