package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// defaultWidth is how wide prose is where no terminal tells.
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

// A screen is where a command prints to, with what its user wants of it.
type screen struct {
	io.Writer
	// color is what --color says; nil and "" are auto.
	color *string
}

// terminal returns the terminal behind a writer, nil when there is none.
func terminal(w io.Writer) *os.File {
	if s, ok := w.(*screen); ok {
		w = s.Writer
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
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
