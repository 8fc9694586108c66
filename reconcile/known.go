package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// AllKinds in Snapshot.Known stands for every kind.
var AllKinds = world.AllKinds

// PlannedKinds returns the kinds that an implementation of [Cluster] must read in addition
// to custom resources, in order.
func PlannedKinds() []olm.GroupKind { return world.PlannedKinds() }

// noteUnknown names the CSVs whose minKubeVersion was not checked and, in one note, the
// kinds whose objects were looked up but not read.
func noteUnknown(w *world.World, p *change.Writer, unjudged map[olm.Key]string) {
	for _, k := range slices.SortedFunc(maps.Keys(unjudged), olm.Key.Compare) {
		p.Note(k, "its minKubeVersion %s was not checked: the version of the cluster is unknown", unjudged[k])
	}
	kinds := slices.SortedFunc(maps.Keys(w.Unread()), func(a, b olm.GroupKind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
	if len(kinds) == 0 {
		return
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = fmt.Sprintf("%s (%s)", k.Kind, phrase.Few(readable(slices.Sorted(maps.Keys(w.Unread()[k])))))
	}
	p.Note(olm.Key{Kind: "Namespace", Name: w.Namespace}, "unknown, because no objects of these kinds were read: %s; what depends on them is assumed to match its status", phrase.Join(parts, "and"))
}

// readable returns names of objects without those of the ClusterRoles of operator groups, which end in
// hashes, but with the groups.
func readable(names []string) (list []string) {
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, "olm.og."); ok {
			n = "those of operator group " + rest[:max(0, strings.LastIndexByte(rest, '.'))]
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}
