package resolver

// A Part is a kind of text in an explanation, for a [Styler].
type Part int

const (
	// Plain is all other text.
	Plain Part = iota
	// Headline says what is wrong.
	Headline
	// Origin says where a catalog says so.
	Origin
	// Quote is an author's own word.
	Quote
	// Help introduces what would help.
	Help
)

// A Styler colours text. It is called for each line, without its indentation,
// and must not change the width.
type Styler interface {
	Style(part Part, line string) string
}

// plain colours nothing.
type plain struct{}

func (plain) Style(_ Part, line string) string { return line }
