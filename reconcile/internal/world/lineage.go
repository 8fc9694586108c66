package world

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/olm"
)

// A lineage describes how the CSVs of a namespace replace each other. It is computed once
// for a plan. Each CSV replaces at most one, so they form trees, with the oldest at the
// root, and cycles, which users have to fix. A CSV in a cycle is a root here and replaces
// nothing.
type lineage struct {
	byName map[string]*olm.ClusterServiceVersion
	// inCircle holds the CSVs that replace themselves, directly or through others.
	inCircle map[string]bool
	// next holds the CSVs that replace a name, whether that CSV exists or not, in order of
	// precedence.
	next map[string][]*olm.ClusterServiceVersion
	// place is the position of each CSV in its tree.
	place map[string]place
}

// A place is a range of numbers in a tree: the CSV itself has number first, and those that
// replace it, directly or through others, have first+1 to last.
type place struct {
	root        *olm.ClusterServiceVersion
	first, last int
}

func newLineage(csvs []*olm.ClusterServiceVersion, subs []*olm.Subscription) *lineage {
	l := &lineage{
		byName: make(map[string]*olm.ClusterServiceVersion, len(csvs)), inCircle: map[string]bool{},
		next: map[string][]*olm.ClusterServiceVersion{}, place: make(map[string]place, len(csvs)),
	}
	for _, c := range csvs {
		l.byName[c.Metadata.Name] = c
	}
	l.findCircles(csvs)
	for _, c := range csvs {
		if name := c.Spec.Replaces; name != "" && !l.inCircle[c.Metadata.Name] {
			l.next[name] = append(l.next[name], c)
		}
	}
	wanted := map[string]bool{}
	for _, s := range subs {
		wanted[s.Status.CurrentCSV] = true
	}
	for _, list := range l.next {
		slices.SortStableFunc(list, func(a, b *olm.ClusterServiceVersion) int {
			return cmp.Or(
				cmp.Compare(Progress(b), Progress(a)), compareBool(wanted[b.Metadata.Name], wanted[a.Metadata.Name]),
				versionOf(b).Compare(versionOf(a)), cmp.Compare(a.Metadata.Name, b.Metadata.Name),
			)
		})
	}
	n := 0
	for _, c := range csvs {
		if l.replaced(c) == nil {
			n = l.number(c, c, n)
		}
	}
	return l
}

// findCircles follows spec.replaces from each CSV to one that was visited before. If that
// was visited on the same walk, it is part of a cycle.
func (l *lineage) findCircles(csvs []*olm.ClusterServiceVersion) {
	way := make(map[string]int, len(csvs)) // the walk on which a CSV was visited
	for i, start := range csvs {
		c := start
		for ; c != nil && way[c.Metadata.Name] == 0; c = l.byName[c.Spec.Replaces] {
			way[c.Metadata.Name] = i + 1
		}
		if c == nil || way[c.Metadata.Name] != i+1 {
			continue
		}
		for ; !l.inCircle[c.Metadata.Name]; c = l.byName[c.Spec.Replaces] {
			l.inCircle[c.Metadata.Name] = true
		}
	}
}

// number numbers a CSV and all that replace it, and returns the next number.
func (l *lineage) number(c, root *olm.ClusterServiceVersion, n int) int {
	first := n
	n++
	for _, o := range l.next[c.Metadata.Name] {
		n = l.number(o, root, n)
	}
	l.place[c.Metadata.Name] = place{root, first, n - 1}
	return n
}

// replaced returns the CSV that another one replaces, or nil.
func (l *lineage) replaced(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	if c.Spec.Replaces == "" || l.inCircle[c.Metadata.Name] {
		return nil
	}
	return l.byName[c.Spec.Replaces]
}

// circle returns the names of the CSVs in the cycle that c is part of, beginning with c, or
// nil.
func (l *lineage) circle(c *olm.ClusterServiceVersion) []string {
	if !l.inCircle[c.Metadata.Name] {
		return nil
	}
	names := []string{c.Metadata.Name}
	for o := l.byName[c.Spec.Replaces]; o.Metadata.Name != c.Metadata.Name; o = l.byName[o.Spec.Replaces] {
		names = append(names, o.Metadata.Name)
	}
	return names
}

// replacesBy reports whether a CSV replaces an older one, directly or through others.
func (l *lineage) replacesBy(newer, older *olm.ClusterServiceVersion) bool {
	p, q := l.place[newer.Metadata.Name], l.place[older.Metadata.Name]
	if q.first < p.first && p.first <= q.last {
		return true
	}
	// A root that replaces another CSV is in a cycle.
	return p.root != nil && p.root.Spec.Replaces == older.Metadata.Name
}

// Related reports whether one of two CSVs replaces the other, directly or through others.
func (w *World) Related(a, b *olm.ClusterServiceVersion) bool {
	return w.lineage.replacesBy(a, b) || w.lineage.replacesBy(b, a)
}

// Replacement returns the CSV that replaces another one, or nil. If there are several, it
// returns the one that has priority.
func (w *World) Replacement(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	if s := w.Successors(c.Metadata.Name); len(s) > 0 {
		return s[0]
	}
	return nil
}

// Replaced returns the CSV that another one replaces, or nil if it does not exist or both
// are in a cycle.
func (w *World) Replaced(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	return w.lineage.replaced(c)
}

// Successors returns the CSVs of the namespace whose spec.replaces names a CSV, which may
// no longer exist. Only the first one may replace it: the one whose installation is
// furthest along, then one that a subscription refers to, then the newest.
func (w *World) Successors(name string) []*olm.ClusterServiceVersion { return w.lineage.next[name] }

// Progress orders CSVs by how far their installation has progressed.
func Progress(c *olm.ClusterServiceVersion) int {
	if c.Metadata.IsDeleted() {
		return -2
	}
	switch c.Status.Phase {
	case olm.PhaseFailed:
		return -1
	case olm.PhaseInstallReady:
		return 1
	case olm.PhaseInstalling:
		return 2
	case olm.PhaseSucceeded, olm.PhaseReplacing, olm.PhaseDeleting:
		return 3
	}
	return 0
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// versionOf returns the version of a CSV; 0.0.0 if it has none (H2).
func versionOf(c *olm.ClusterServiceVersion) semver.Version {
	v, err := semver.ParseTolerant(c.Spec.Version)
	if err != nil {
		return semver.Version{}
	}
	return v
}

// Circle returns the names of the CSVs in the cycle that c is part of, beginning with c, or
// nil. A CSV that names itself in spec.replaces is not a cycle.
func (w *World) Circle(c *olm.ClusterServiceVersion) []string { return w.lineage.circle(c) }
