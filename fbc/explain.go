package fbc

import (
	"fmt"
	"slices"
	"strings"
)

// An Explanation tells about the findings of one code.
type Explanation struct {
	Code     Code
	Severity Severity
	// Title says in one line what is found.
	Title string
	// Rules are the rules of catalogs behind it, such as "A7".
	Rules string
	// Text says why it matters and what to do.
	Text string
	// Bad is an example, parts of a catalog in YAML; Good is the same without the finding.
	// Both are empty where no text shows the matter.
	Bad, Good string
}

// Explain returns the explanation of a code. It reports false for a code that
// this package does not have.
func Explain(c Code) (Explanation, bool) {
	all := Explanations()
	i := slices.IndexFunc(all, func(e Explanation) bool { return e.Code == c })
	if i < 0 {
		return Explanation{}, false
	}
	return all[i], true
}

// Explanations returns the explanations of all codes: of what a load finds, of
// errors, and of warnings.
func Explanations() []Explanation {
	all := slices.Concat(loadExplanations, graphExplanations, bundleExplanations, blobWarnings, upgradeWarnings, bundleWarnings)
	for i := range all {
		e := &all[i]
		e.Severity = e.Code.Severity()
		e.Text = strings.TrimSpace(e.Text)
		e.Bad, e.Good = strings.TrimPrefix(e.Bad, "\n"), strings.TrimPrefix(e.Good, "\n")
	}
	return all
}

// Markdown returns the page of the code in the documentation.
func (e Explanation) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# `%s`: %s\n\n*Severity: %s. Rules: %s.*\n\n%s\n", e.Code, e.Title, e.Severity, e.Rules, e.Text)
	if e.Bad != "" {
		fmt.Fprintf(&b, "\n## Example\n\n```yaml\n%s```\n\n## Fix\n\n```yaml\n%s```\n", e.Bad, e.Good)
	}
	return b.String()
}
