package prose

import (
	"cmp"
	"maps"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
)

// LegCommands returns the commands with which an operator takes a way, at most one for each leg: the first needs none if the
// operator already follows its channel. catalog returns the fields that make it follow a catalog; nil means that the
// way has only one. If manual is set, install
// plans wait for approval anyway.
func LegCommands(w *graph.Way, x kubectl.Operator, manual bool, catalog func(name string) map[string]any) (list []string) {
	held := false
	for _, l := range w.Legs {
		spec := map[string]any{}
		if catalog != nil {
			maps.Copy(spec, catalog(l.Catalog))
		}
		switch {
		case x.V1 && l.Stop:
			spec["version"] = l.End().Version
		case x.V1 && held:
			spec["version"] = nil
		case !x.V1 && !manual && l.Stop:
			spec["installPlanApproval"] = "Manual"
		case !x.V1 && !manual && held:
			spec["installPlanApproval"] = "Automatic"
		}
		held = l.Stop
		if !l.Stays || len(spec) > 0 {
			list = append(list, x.Follow(l.Channel, spec))
		}
	}
	return list
}

// Legs writes the commands for the legs of a way, each with what must be installed before. The first leg has no command if the
// operator already follows its channel. Without a way there are only commands.
func (t *Writer) Legs(w *graph.Way, commands []string, indent string) {
	for i, c := range commands {
		if w != nil {
			if before := len(w.Legs) - len(commands) + i - 1; before >= 0 {
				end := w.Legs[before].End()
				t.Line(nil, "when "+cmp.Or(end.Version, end.Name)+" is installed:", indent, indent)
			}
		}
		t.Verbatim(c, indent)
	}
}
