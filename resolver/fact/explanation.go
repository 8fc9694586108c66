package fact

import (
	"slices"
	"sync"

	"github.com/olmkit/olmkit/internal/page"
)

// An Explanation explains the facts, or the steps of derivations, of one code.
type Explanation struct {
	Code Code
	// Title is the fact in one line, Text explains it, and Fix is the usual fix.
	Title, Text, Fix string
	// Rules are the ids of the underlying rules, such as "D10". They are defined in
	// docs/rules.md.
	Rules string
	// Example is the text of a conflict with such a fact. It may be empty.
	Example string

	markdown string
}

// Explanations returns the explanations of all codes, sorted by code.
func Explanations() []Explanation { return slices.Clone(explanations()) }

// Markdown returns the page of the code in docs/facts, with absolute links.
func (e Explanation) Markdown() string { return e.markdown }

// explanations reads the pages of docs/facts.
var explanations = sync.OnceValue(func() []Explanation {
	var all []Explanation
	for _, p := range page.Explanations("facts") {
		all = append(all, Explanation{Code(p.Code), p.Title, p.Text, p.Fix, p.Rules, p.Example, p.Markdown})
	}
	return all
})
