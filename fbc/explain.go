package fbc

import (
	"regexp"
	"slices"
	"sync"

	"github.com/olmkit/olmkit/internal/page"
)

// An Explanation explains the findings of one code.
type Explanation struct {
	Code     Code
	Severity Severity
	// Title is the finding in one line.
	Title string
	// Rules are the ids of the underlying rules, such as "A7". They
	// are defined in docs/rules.md.
	Rules string
	// Text explains why the finding matters and how to fix it.
	Text string
	// Bad is an example, parts of a catalog in YAML. Good is the example with the
	// finding fixed. Both are empty if a catalog cannot show the finding.
	Bad, Good string

	markdown string
}

// Explanations returns the explanations of all codes, sorted by code.
func Explanations() []Explanation { return slices.Clone(explanations()) }

// Markdown returns the page of the code in docs/codes, with absolute links.
func (e Explanation) Markdown() string { return e.markdown }

// explanations reads the pages of docs/codes, which have this form.
var explanations = sync.OnceValue(func() []Explanation {
	form := regexp.MustCompile("(?s)^# `([a-z-]+)`: ([^\n]+)\n\n" +
		`\*Severity: [a-z]+\. Rules: ([^` + "\n" + `]+)\.\*` + "\n\n(.+?)\n" +
		"(?:\n## Example\n\n```yaml\n(.+?)```\n\n## Fix\n\n```yaml\n(.+?)```\n)?$")
	var all []Explanation
	for _, m := range page.All("codes", form) {
		code := Code(m[1])
		all = append(all, Explanation{Code: code, Severity: code.Severity(), Title: m[2], Rules: m[3], Text: m[4], Bad: m[5], Good: m[6], markdown: m[0]})
	}
	return all
})
