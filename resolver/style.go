package resolver

// A Part is a kind of text in an explanation, for a [Styler].
type Part int

const (
	// PartPlain is all other text.
	PartPlain Part = iota
	// PartHeadline says what is wrong.
	PartHeadline
	// PartOrigin says where a catalog says so.
	PartOrigin
	// PartQuote is an author's own word.
	PartQuote
	// PartHelp introduces what would help.
	PartHelp
)

// A Styler colours text. It is called for each line, without its indentation,
// and must not change the width.
type Styler interface {
	Style(part Part, line string) string
}

// plain colours nothing.
type plain struct{}

func (plain) Style(_ Part, line string) string { return line }
