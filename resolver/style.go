package resolver

import (
	"github.com/olmkit/olmkit/internal/prose"
)

// A Style adds colors or other styles to the lines of an explanation. Each function is
// called with a line without its indentation and must not change its width. A nil
// function adds no style.
type Style struct {
	// Headline styles the headline.
	Headline func(line string) string
	// Origin styles a position in a catalog.
	Origin func(line string) string
	// Quote styles a message from an author.
	Quote func(line string) string
	// Help styles a possible fix.
	Help func(line string) string
	// Places includes the positions in catalogs, which authors need.
	Places bool
}

func newWriter(width int, style *Style) *prose.Writer {
	return prose.NewWriter(width, (*prose.Style)(style))
}
