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

// defaultWidth is how wide prose is without a terminal.
const defaultWidth = 100

// minWidth is the narrowest that prose gets: below it, long names make a mess of
// any layout.
const minWidth = 40

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// A screen is where a command prints text to, with what its user wants of it. What
// is not printable is written as an escape, except for the colours: the names and
// messages of a catalog cannot steer a terminal.
type screen struct {
	*visible.Writer
	raw io.Writer
	// color is what --color says; nil and "" are auto.
	color *string
}

func newScreen(w io.Writer, color *string) *screen {
	s := &screen{raw: w, color: color}
	s.Writer = visible.NewWriter(w, func() []string {
		if colored(s) {
			return sequences
		}
		return nil
	})
	return s
}

// exact returns a writer for what must arrive as it is: files, pages and indexes.
func exact(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.raw
	}
	return w
}

// errorText returns an error for people. Only a list, of what is wrong with a catalog, a
// bundle or a template or of files, has several lines.
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
	var findings fbc.Diagnostics // of a catalog in the text of a problem
	if errors.As(err, &findings) && len(findings) > 0 {
		if before, ok := strings.CutSuffix(text, ": "+findings.Error()); ok {
			return listed(visible.Block(visible.Line(before)), findings, "")
		}
	}
	return visible.Block(visible.Line(text))
}

// bare returns the error of a problem that was named before.
func bare(err error) visible.Block {
	return visible.Block(strings.TrimPrefix(string(errorText(err)), "problem: "))
}

// machine returns a writer for documents that machines read: as they are in files and
// pipes, and as text on a terminal, where JSON keeps its meaning.
func machine(w io.Writer) io.Writer {
	if terminal(w) != nil {
		return w
	}
	return exact(w)
}

// terminal returns the terminal behind a writer, nil when there is none.
func terminal(w io.Writer) *os.File {
	if f, ok := exact(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// columns returns how many characters a line of a terminal has: what COLUMNS
// says, else what the terminal says; 0 when neither does.
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

// textWidth returns how many characters a line of prose may have.
func textWidth(w io.Writer) int {
	if n := columns(w); n > 0 {
		return max(n, minWidth)
	}
	return defaultWidth
}

// tableWidth returns how many characters a row of a table may have; 0 when rows
// are as long as they are, which is always so in files and pipes.
func tableWidth(w io.Writer) int {
	if terminal(w) == nil {
		return 0
	}
	return columns(w)
}

// colored reports whether a writer wants colours: by default on a terminal, unless
// NO_COLOR or a dumb terminal speaks against it.
func colored(w io.Writer) bool {
	if s, ok := w.(*screen); ok && s.color != nil {
		switch *s.color {
		case colorAlways:
			return true
		case colorNever:
			return false
		}
	}
	return terminal(w) != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
