package olmv1

import (
	"regexp"
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

// explanations reads the pages of docs/refusals, which have this form.
var explanations = sync.OnceValue(func() []Explanation {
	form := regexp.MustCompile("(?s)^# `([a-z-]+)`: ([^\n]+)\n\n" +
		`\*Rules: ([^` + "\n" + `]+)\.\*` + "\n\n(.+?)\n" +
		"\n## Example\n\n```text\n(.+?)\n```\n\n## Usual fix\n\n(.+?)\n$")
	var all []Explanation
	for _, m := range page.All("refusals", form) {
		all = append(all, Explanation{Code: RefusalCode(m[1]), Title: m[2], Rules: m[3], Text: m[4], Example: m[5], Fix: m[6], markdown: m[0]})
	}
	return all
})
