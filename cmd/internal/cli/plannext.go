package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// operatorChanges returns what a plan does with the operators of its namespace, as clauses.
func operatorChanges(plan *reconcile.Plan, s *reconcile.Snapshot) (list []string) {
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for i := range plan.Changes {
		c := &plan.Changes[i]
		key := c.Key()
		switch {
		case key.Namespace == plan.Namespace && key.Group == olm.Group && key.Kind == olm.KindInstallPlan:
			if ip, err := olm.As[olm.InstallPlan](c.Object); c.Op == reconcile.Create && err == nil && plan.Solution != nil {
				add("install plan %s is created to %s", key.Name, purpose(ip, plan.Solution, s))
			}
		case key.Namespace == plan.Namespace && key.Group == olm.Group && key.Kind == olm.KindClusterServiceVersion:
			csv, err := olm.As[olm.ClusterServiceVersion](c.Object)
			switch before := ownCSV(s, key.Name); {
			case err != nil:
			case c.Op == reconcile.Create && ownCSV(s, csv.Spec.Replaces) != nil:
				add("%s is installed, which replaces %s", key.Name, csv.Spec.Replaces)
			case c.Op == reconcile.Create:
				add("%s is installed", key.Name)
			case c.Op == reconcile.Delete:
				add("%s is removed", key.Name)
			case c.Op == reconcile.UpdateStatus && before != nil && before.Status.Phase != csv.Status.Phase:
				add("%s becomes %s", key.Name, csv.Status.Phase)
			}
		case c.For.Namespace == plan.Namespace && c.For.Kind == olm.KindInstallPlan:
			add("install plan %s is executed", c.For.Name)
		}
	}
	return list
}

// purpose returns what an install plan is for, as an infinitive.
func purpose(ip *olm.InstallPlan, sol *resolver.Solution, s *reconcile.Snapshot) string {
	var parts []string
	for _, name := range ip.Spec.ClusterServiceVersionNames {
		part := "install " + name
		for i := range sol.Selected {
			x := &sol.Selected[i]
			switch old := ownCSV(s, x.Replaces); {
			case x.Name != name || old == nil: // it may replace what is not installed
			case older(graph.Node{Version: x.Version}, graph.Node{Version: old.Spec.Version}):
				part = "take " + x.Replaces + " back to " + name
			default:
				part = "upgrade " + x.Replaces + " to " + name
			}
		}
		parts = append(parts, part)
	}
	text := phrase.And(parts)
	if !ip.Spec.Approved {
		text += " once it is approved"
	}
	return text
}

// ownCSV returns a CSV of the namespace of a snapshot, or nil.
func ownCSV(s *reconcile.Snapshot, name string) *olm.ClusterServiceVersion {
	for _, c := range s.CSVs {
		if c.Metadata.Namespace == s.Namespace && c.Metadata.Name == name {
			return c
		}
	}
	return nil
}

// nextText returns what happens next, and the writes, of which those that are alike share a line.
func (d *planDocument) nextText(w io.Writer) string {
	lines := proseWriter(w)
	if len(d.Changes) == 0 {
		lines.Line(nil, visible.Words("Nothing to do in namespace "+d.Namespace+"."), "", "  ")
		return lines.String()
	}
	next := cmp.Or(strings.Join(d.next, "; "), "no operator is installed, upgraded or removed")
	lines.Line(nil, visible.Words(fmt.Sprintf("Next in namespace %s: %s.", d.Namespace, next)), "", "  ")
	for i := 0; i < len(d.Changes); {
		c, n := &d.Changes[i], 1
		for i+n < len(d.Changes) && alike(c, &d.Changes[i+n]) {
			n++
		}
		number, others := fmt.Sprintf("%3d", i+1), ""
		if n > 2 {
			number, others = fmt.Sprintf("%s to %d", number, i+n), fmt.Sprintf(" and %d others", n-1)
		} else {
			n = 1
		}
		lines.Verbatim(fmt.Sprintf("%s. %s %s%s: %s", number, c.Op, c.Key(), others, c.Reason), "")
		i += n
	}
	return lines.String()
}

// alike reports whether two changes differ only in the names of their objects.
func alike(a, b *reconcile.Change) bool {
	x, y := a.Key(), b.Key()
	x.Name, y.Name = "", ""
	return a.Op == b.Op && x == y && a.Reason == b.Reason
}
