package resolver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/fbc"
)

// reason returns an error without the place, which the sentence already has.
func reason(err error) string {
	var d *fbc.Diagnostic
	if errors.As(err, &d) && d.Err != nil {
		return d.Err.Error()
	}
	return err.Error()
}

// distinct returns the names of bundles, each once, in order.
func distinct(refs []Ref) []string {
	var names []string
	seen := make(map[string]bool, len(refs))
	for _, r := range refs {
		if !seen[r.Name] {
			seen[r.Name] = true
			names = append(names, r.Name)
		}
	}
	return names
}

// group names bundles, joined by "or" or "and". Many are named by their version range.
func (u *universe) group(refs []Ref, either bool) string {
	names := distinct(refs)
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
		if text := u.versions(refs, n, either); text != "" {
			return text
		}
		return fmt.Sprintf("%s, %s %s %d other bundles", names[0], names[1], word, n-2)
	}
	for i, name := range names {
		if installed[name] {
			names[i] = "the installed " + name
		}
	}
	if n == 1 {
		return names[0]
	}
	return strings.Join(names[:n-1], ", ") + " " + word + " " + names[n-1]
}

// versions names n bundles of one package by their lowest and highest version. It returns
// "" if they are in several packages.
func (u *universe) versions(refs []Ref, n int, either bool) string {
	var low, high semver.Version
	for i, r := range refs {
		if r.Package == "" || r.Package != refs[0].Package {
			return ""
		}
		v := u.versionOf(r)
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

// versionOf returns the version of a bundle or an installed operator.
func (u *universe) versionOf(r Ref) semver.Version {
	if in, ok := u.installedNamed(r.Name); ok && r.Installed() {
		return in.version
	}
	for _, c := range u.cats {
		if c.ID() != r.Catalog {
			continue
		}
		if p, ok := c.Graph.Package(r.Package); ok {
			if b, ok := p.Bundle(r.Name); ok {
				return b.Version()
			}
		}
	}
	return semver.Version{}
}

// unavailable returns the fact, and what happens to the installed operator.
func (u *universe) unavailable(q *Unavailable) string {
	text := q.String()
	if in, ok := u.installedNamed(q.Subscription.InstalledCSV); ok {
		text += "; the installed " + in.Name + " keeps running without updates"
	}
	return text
}

// maxNames is the number of names that a sentence lists before it counts the rest.
const maxNames = 4

// nameList returns the names of bundles, each once, in order.
func nameList(refs []Ref) string { return wordList(distinct(refs)) }

// wordList joins words with commas and "or", and counts the rest if there are many.
func wordList(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	if len(words) > maxNames {
		return fmt.Sprintf("%s or %d others", strings.Join(words[:maxNames-1], ", "), len(words)-maxNames+1)
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// andList joins words with commas and "and", and counts the rest if there are many.
func andList(words []string) string {
	switch n := len(words); {
	case n == 0:
		return "nothing"
	case n == 1:
		return words[0]
	case n > 6:
		return strings.Join(words[:5], ", ") + " and " + strconv.Itoa(n-5) + " others"
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// plural returns a number with its noun.
func plural(n int, noun string) string { return strconv.Itoa(n) + " " + pluralOf(n, noun) }

// pluralOf returns the singular or plural of a noun.
func pluralOf(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
