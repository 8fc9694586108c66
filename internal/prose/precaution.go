package prose

import (
	"fmt"

	"github.com/olmkit/olmkit/graph"
)

// Precaution returns what to do for operators at a node that loses its path in a new catalog.
func Precaution(x *graph.Precaution, reading graph.Reading) string { // G9
	follows := x.Channel
	get := func(w *graph.Way) string {
		text := fmt.Sprintf("get to %s (%s)", version(w.End()), Way(w, reading, w.Legs[0].Catalog, follows))
		if l := w.Legs[0]; len(w.Legs) == 1 && l.Stays && !l.Stop {
			text = "let OLM upgrade to " + version(w.End())
		}
		follows = w.Legs[len(w.Legs)-1].Channel
		return text
	}
	switch {
	case x.Before == nil && x.After == nil:
		return "neither catalog leads to a head of the new one; remove the operator and install it again, or let an entry of the new catalog skip the version"
	case x.Before == nil:
		return "with the new catalog, " + get(x.After)
	case x.After == nil:
		return "before the new catalog, " + get(x.Before)
	}
	return "before the new catalog, " + get(x.Before) + "; with the new one, " + get(x.After)
}
