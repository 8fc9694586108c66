// Package page reads the pages about codes in docs.
package page

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/docs"
	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// index is the page that lists the others.
const index = "README.md"

var link = lazyregexp.New(`\[([^]\n]+)\]\(\.\./[^)\n]+\)`)

// All returns the pages of a directory of [docs.Pages], sorted by name. For each page it
// returns the text, followed by what the groups of form match. form must match the whole
// page, and its first group the name of the file without the extension. Links are made
// absolute in the text and become plain text in the groups. A page that does not match
// is left out, and tests report that its code has no explanation.
func All(dir string, form *regexp.Regexp) [][]string {
	files, err := fs.ReadDir(docs.Pages, dir)
	if err != nil {
		return nil
	}
	var all [][]string
	for _, f := range files {
		text, err := fs.ReadFile(docs.Pages, path.Join(dir, f.Name()))
		if err != nil || f.Name() == index {
			continue
		}
		m := form.FindStringSubmatch(string(text))
		if m == nil || m[1]+".md" != f.Name() {
			continue
		}
		m[0] = strings.ReplaceAll(m[0], "](../", "](https://github.com/olmkit/olmkit/blob/main/docs/")
		for i := range m[1:] {
			m[1+i] = link().ReplaceAllString(m[1+i], "$1")
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	return all
}

// An Explanation is a page that explains a code.
type Explanation struct {
	Code, Title, Rules, Text, Example, Fix string
	// Markdown is the whole page.
	Markdown string
}

// explanation is the form of the pages that explain codes. The example and the fix are optional.
var explanation = lazyregexp.New("(?s)^# `([a-z-]+)`: ([^\n]+)\n\n" +
	`\*Rules: ([^` + "\n" + `]+)\.\*` + "\n\n(.+?)\n" +
	"(?:\n## Example\n\n```text\n(.+?)\n```\n)?(?:\n## Usual fix\n\n(.+?)\n)?$")

// Explanations returns the pages of a directory that explain codes, as [All] does.
func Explanations(dir string) []Explanation {
	var list []Explanation
	for _, m := range All(dir, explanation()) {
		list = append(list, Explanation{Code: m[1], Title: m[2], Rules: m[3], Text: m[4], Example: m[5], Fix: m[6], Markdown: m[0]})
	}
	return list
}
