package prose

import (
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver/fact"
)

// group names bundles, joined by "or" or "and". Many are named by their version range.
func (w *writing) group(refs []fact.Ref, either bool) string {
	names := fact.Names(refs)
	installed := map[string]bool{}
	for _, r := range refs {
		installed[r.Name] = r.Installed()
	}
	for _, r := range refs {
		installed[r.Name] = installed[r.Name] && r.Installed()
	}
	n := len(names)
	word := "and"
	if either {
		word = "or"
	}
	if n > 3 {
		if text := w.versions(refs, n, either); text != "" {
			return text
		}
		return fmt.Sprintf("%s, %s %s %d other bundles", names[0], names[1], word, n-2)
	}
	for i, name := range names {
		if installed[name] {
			names[i] = "the installed " + name
		}
	}
	return phrase.Join(names, word)
}

// versions names n bundles of one package by their lowest and highest version. It returns
// "" if they are in several packages.
func (w *writing) versions(refs []fact.Ref, n int, either bool) string {
	var low, high semver.Version
	for i, r := range refs {
		if r.Package == "" || r.Package != refs[0].Package {
			return ""
		}
		v := w.catalogs.Version(r)
		if i == 0 || v.LT(low) {
			low = v
		}
		if i == 0 || v.GT(high) {
			high = v
		}
	}
	one := ""
	if either {
		one = "one of "
	}
	return fmt.Sprintf("%s%d versions of %s (%s to %s)", one, n, refs[0].Package, low, high)
}

// unavailable returns the fact, and what happens to the installed operator.
func (w *writing) unavailable(q *fact.Unavailable) string {
	text := q.String()
	if name := q.Subscription.InstalledCSV; w.catalogs.Installed(name) {
		text += "; the installed " + name + " keeps running without updates"
	}
	return text
}

// unusable returns why a bundle cannot be chosen, as the end of a sentence.
func unusable(q *fact.Unusable) string {
	if q.Repeats {
		return "conflicts with itself: " + q.Err.Error()
	}
	return "cannot be read: " + q.Err.Error()
}
