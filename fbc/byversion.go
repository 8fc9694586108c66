package fbc

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/blang/semver/v4"
)

// A versionList holds bundles in ascending order of their versions. The bundles that a
// skipRange matches form a few spans of the list.
type versionList struct {
	facts    []*bundleFacts
	versions []semver.Version
}

// byVersion returns the list of the bundles whose version is known.
func byVersion(list []*bundleFacts) *versionList {
	l := &versionList{}
	for _, f := range list {
		if f != nil && f.version != nil {
			l.facts = append(l.facts, f)
		}
	}
	slices.SortStableFunc(l.facts, func(a, b *bundleFacts) int {
		return cmp.Or(a.version.Compare(*b.version), cmp.Compare(a.Name, b.Name))
	})
	for _, f := range l.facts {
		l.versions = append(l.versions, *f.version)
	}
	return l
}

// after returns the place of the first version that is newer than v.
func (l *versionList) after(v *semver.Version) int {
	return sort.Search(len(l.versions), func(i int) bool { return l.versions[i].GT(*v) })
}

// mostNames is the maximum number of bundles that a message names. It gives only the number
// of the others.
const mostNames = 20

// some formats the first of total names for a message: "a, b, … and 3 more".
func some(names []string, total int) string {
	names = names[:min(len(names), mostNames)]
	text := strings.Join(names, ", ")
	if more := total - len(names); more > 0 {
		text += fmt.Sprintf(", … and %d more", more)
	}
	return text
}
