package prose

import (
	"cmp"
	"fmt"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/phrase"
)

// A Near lists near misses for a requirement that no bundle satisfies.
type Near struct {
	// Versions are the versions of the package, or the other versions of the API, in the
	// catalogs, in ascending order.
	Versions []string
	// Hidden is a bundle that satisfies the requirement but cannot be selected, or nil.
	Hidden *Hidden
}

// A Hidden is a bundle that cannot be selected from any channel.
type Hidden struct {
	Bundle  string
	Channel string // "" if it is in none
	// SkipsItself reports whether the entry skips itself. Otherwise another entry skips it: By.
	SkipsItself bool
	By          string
	// Err is why the channel is broken, or nil.
	Err error
}

// Reason returns why the bundle cannot be selected.
func (h *Hidden) Reason() string {
	switch {
	case h.Channel == "":
		return "it is not in any channel"
	case h.Err != nil:
		return "its channel " + h.Channel + " is broken: " + phrase.Reason(h.Err)
	case h.SkipsItself:
		return "it skips itself in channel " + h.Channel
	}
	return cmp.Or(h.By, "another entry") + " in channel " + h.Channel + " skips it"
}

// Nothing returns the end of a clause that states that no bundle satisfies the requirement,
// and names near misses.
func (w *Narrator) Nothing(x constraints.Expr) string {
	near := w.catalogs.Near(x)
	versions, n := near.Versions, len(near.Versions)
	p, isPackage := x.(*constraints.Package)
	_, isAPI := x.(*constraints.GVK)
	_, isLabel := x.(*constraints.Label)
	switch {
	case isPackage && n == 0:
		return ", but no catalog has package " + p.Name
	case near.Hidden != nil && (isPackage || isAPI || isLabel):
		return fmt.Sprintf(", but %s, which satisfies it, cannot be selected: %s", near.Hidden.Bundle, near.Hidden.Reason())
	case isPackage && n == 1:
		return fmt.Sprintf(", but the catalogs have only %s %s", p.Name, versions[0])
	case isPackage:
		return fmt.Sprintf(", but the catalogs have only %d versions of %s, %s to %s", n, p.Name, versions[0], versions[n-1])
	case isAPI && n > 0:
		return ", which no bundle in any catalog provides; the catalogs provide only " + phrase.And(versions)
	case isAPI:
		return ", which no bundle in any catalog provides"
	case isLabel:
		return ", which no bundle in any catalog has"
	}
	return ", which no bundle in any catalog satisfies"
}
