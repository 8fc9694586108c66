package group

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
)

// copies keeps the copied CSVs of the namespace's operators in the targets of
// its group (F8).
func (p *planner) copies(ctx context.Context, disabled operatorgroup.CopyMode) error {
	mode := operatorgroup.CopyAll
	if olm.CopiedCSVsDisabled(p.OLMConfig) {
		if mode = disabled; mode == operatorgroup.CopyAll {
			mode = operatorgroup.CopyNone
		}
	}
	wanted := p.wantedCopies(mode)
	isWanted := make(map[olm.Key]bool, len(wanted))
	for _, w := range wanted {
		isWanted[w.copy.Key()] = true
	}
	all := make(map[olm.Key]*olm.ClusterServiceVersion, len(p.CSVs))
	existing := map[olm.Key]bool{}
	for _, c := range p.CSVs {
		key := c.Key()
		all[key] = c
		if !olm.IsCopied(c) || operatorgroup.CopiedFrom(c) != p.Namespace {
			continue
		}
		if !isWanted[key] && !c.Metadata.IsDeleted() {
			if why := operatorgroup.StaleCopy(c, one(p.CSV(c.Metadata.Name)), p.Groups(), mode); why != "" {
				if err := p.Emit(change.Delete, c, key, nil, "F8", "%s", why); err != nil {
					return err
				}
				continue
			}
		}
		existing[key] = true
	}
	for _, w := range wanted {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		key := w.copy.Key()
		have := all[key]
		if have != nil && !existing[key] {
			if why := p.inTheWay(have, all, mode); why != "" {
				p.Note(w.source.Key(), "has no copy in namespace %s: %s", key.Namespace, why).Rule = "F8"
				continue
			} // otherwise it is a copy whose original is gone
		}
		if err := p.copy(w.copy, have, w.source); err != nil {
			return err
		}
	}
	return nil
}

// A wantedCopy is a copy that an operator should have.
type wantedCopy struct{ copy, source *olm.ClusterServiceVersion }

// wantedCopies returns the copies that the operators of the namespace should
// have.
func (p *planner) wantedCopies(mode operatorgroup.CopyMode) []wantedCopy {
	var list []wantedCopy
	for _, c := range p.Own() {
		j := operatorgroup.Judge(c, p.OperatorGroups)
		if j.Group == nil || j.Failure != nil {
			continue
		}
		if _, changed := operatorgroup.Annotate(c, j.Group); changed {
			continue // its annotations are copied once they are written
		}
		for _, want := range operatorgroup.Copies(c, j.Group, p.Namespaces, mode) {
			list = append(list, wantedCopy{want, c})
		}
	}
	return list
}

// inTheWay returns why other, a CSV with the name of a wanted copy, prevents that copy. It
// returns "" if other is a stale copy from another namespace.
func (p *planner) inTheWay(other *olm.ClusterServiceVersion, all map[olm.Key]*olm.ClusterServiceVersion, mode operatorgroup.CopyMode) string {
	from := operatorgroup.CopiedFrom(other)
	key := other.Key()
	key.Namespace = from
	switch {
	case !olm.IsCopied(other):
		return "an operator with the same name is installed there"
	case from == p.Namespace:
		return "an earlier copy is still being deleted"
	case operatorgroup.StaleCopy(other, one(all[key]), p.OperatorGroups, mode) == "":
		return fmt.Sprintf("a copy with the same name from namespace %s exists", from)
	}
	return ""
}

// one returns a list that contains only c, or nil if c is nil.
func one(c *olm.ClusterServiceVersion) []*olm.ClusterServiceVersion {
	if c == nil {
		return nil
	}
	return []*olm.ClusterServiceVersion{c}
}

// copy plans the creation or update of a copy. If nothing changed, it returns without
// encoding JSON, because an operator for all namespaces has a copy in each.
func (p *planner) copy(want, have, source *olm.ClusterServiceVersion) error {
	if have == nil {
		return p.Emit(change.Create, want, source.Key(), nil, "F8", "makes the operator visible in namespace %s", want.Metadata.Namespace)
	}
	spec, status := *have, *have
	spec.Spec = want.Spec
	spec.Metadata.Labels, spec.Metadata.Annotations = want.Metadata.Labels, want.Metadata.Annotations
	same := maps.Equal(spec.Metadata.Labels, have.Metadata.Labels) && maps.Equal(spec.Metadata.Annotations, have.Metadata.Annotations)
	if !same || !reflect.DeepEqual(want.Spec, have.Spec) && !olm.Equal(&spec, have) {
		return p.Emit(change.Update, &spec, source.Key(), nil, "F8", "matches the original")
	}
	status.Status = want.Status
	if !reflect.DeepEqual(want.Status, have.Status) && !olm.Equal(&status, have) {
		return p.Emit(change.UpdateStatus, &status, source.Key(), nil, "F8", "matches the original")
	}
	return nil
}
