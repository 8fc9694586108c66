package rollout

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// kept is how many of the latest revisions of an extension are always kept.
const kept = 5

// Next returns the writes that begin a revision with the phases, the owner and the settings of
// want: none if the latest revision has the same phases. Otherwise old archived revisions are
// deleted, and want is created with the next number. Revisions are all revisions of the owner.
func Next(revisions []Revision, want Revision) []Write { // K71, K72
	sorted := slices.Clone(revisions)
	slices.SortFunc(sorted, func(a, b Revision) int { return cmp.Compare(a.Number, b.Number) })
	var out []Write
	want.Number = 1
	if n := len(sorted); n > 0 {
		latest := sorted[n-1]
		if !latest.Archived && !latest.Deleting && reflect.DeepEqual(latest.Phases, want.Phases) {
			return nil
		}
		want.Number = latest.Number + 1
		for _, r := range sorted[:max(0, n-kept)] {
			if r.Archived && !r.Deleting {
				out = append(out, Write{Op: DeleteRevision, Revision: r.Name, Version: r.ResourceVersion})
			}
		}
	}
	want.Name = fmt.Sprintf("%s-%d", want.Owner, want.Number)
	return append(out, Write{Op: CreateRevision, Revision: want.Name, New: &want})
}
