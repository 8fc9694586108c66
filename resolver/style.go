package resolver

// A Part is a kind of text in an explanation, for a [Styler].
type Part int

const (
	// PartPlain is all other text.
	PartPlain Part = iota
	// PartHeadline is a headline.
	PartHeadline
	// PartOrigin is a position in a catalog.
	PartOrigin
	// PartQuote is a message of an author.
	PartQuote
	// PartHelp is a possible fix.
	PartHelp
)

// A Styler adds colors or other styles to text. It is called for each line, without
// indentation, and must not change the width.
type Styler interface {
	Style(part Part, line string) string
}

// plain adds no style.
type plain struct{}

func (plain) Style(_ Part, line string) string { return line }
