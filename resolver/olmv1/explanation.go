package olmv1

import (
	"slices"
	"sync"

	"github.com/olmkit/olmkit/internal/page"
)

// An Explanation explains the refusals of one code.
type Explanation struct {
	Code RefusalCode
	// Title is the reason in one line, Text explains it, and Fix is the usual fix.
	Title, Text, Fix string
	// Rules are the ids of the underlying rules, such as "C4". They are defined in
	// docs/rules.md.
	Rules string
	// Example is the text of such a refusal.
	Example string

	markdown string
}

// Explanations returns the explanations of all codes, sorted by code.
func Explanations() []Explanation { return slices.Clone(explanations()) }

// Markdown returns the page of the code in docs/refusals, with absolute links.
func (e Explanation) Markdown() string { return e.markdown }

// explanations reads the pages of docs/refusals.
var explanations = sync.OnceValue(func() []Explanation {
	var all []Explanation
	for _, p := range page.Explanations("refusals") {
		all = append(all, Explanation{RefusalCode(p.Code), p.Title, p.Text, p.Fix, p.Rules, p.Example, p.Markdown})
	}
	return all
})
