// Package page reads the pages of docs/codes and docs/facts, for fbc and resolver.
package page

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/docs"
)

// index is the page that lists the others.
const index = "README.md"

var link = regexp.MustCompile(`\[([^]\n]+)\]\(\.\./[^)\n]+\)`)

// All returns the pages of a directory of [docs.Pages], sorted by name. Each is the text
// of the page followed by the groups of form. The form describes a whole page, and its
// first group is the name. Links become absolute in the text and plain text in the
// groups. A page of another form is left out: tests report that its code has no
// explanation.
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
			m[1+i] = link.ReplaceAllString(m[1+i], "$1")
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	return all
}
