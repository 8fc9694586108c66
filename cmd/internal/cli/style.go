package cli

import (
	"io"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

// The escape sequences of a terminal.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// sequences are all of them.
var sequences = []string{bold, dim, red, green, yellow, reset}

// paint returns text in a colour where the writer wants colours.
func paint(w io.Writer, color, text string) visible.Block {
	text = visible.Line(text)
	if colored(w) {
		text = color + text + reset
	}
	return visible.Block(text)
}

// styleFor returns the colours of explanations for a writer, nil where it wants
// none.
func styleFor(w io.Writer) resolver.Styler {
	if !colored(w) {
		return nil
	}
	return ansi{}
}

// ansi colours explanations on a terminal.
type ansi struct{}

// Style implements resolver.Styler.
func (ansi) Style(part resolver.Part, line string) string {
	switch part {
	case resolver.PartHeadline:
		return bold + line + reset
	case resolver.PartOrigin:
		return dim + line + reset
	case resolver.PartQuote:
		return yellow + line + reset
	case resolver.PartHelp:
		return green + line + reset
	}
	return line
}
