package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/olmkit/olmkit/resolver"
)

// styleFor returns the colours for a writer: none unless it is a terminal that
// wants them.
func styleFor(w io.Writer) resolver.Styler {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return ansi{}
}

// ansi colours explanations on a terminal.
type ansi struct{}

// Style implements resolver.Styler.
func (ansi) Style(part resolver.Part, line string) string {
	switch part {
	case resolver.Headline:
		return "\x1b[1m" + line + "\x1b[0m"
	case resolver.Origin:
		return "\x1b[2m" + line + "\x1b[0m"
	case resolver.Quote:
		return "\x1b[33m" + line + "\x1b[0m"
	case resolver.Help:
		return "\x1b[32m" + line + "\x1b[0m"
	}
	return line
}
