package reconcile

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// copies keeps the copied CSVs of the namespace's operators in the targets of
// its group (F8).
func (p *planner) copies(context.Context) error {
	mode := operatorgroup.CopyAll
	if p.OLMConfig.CopiedCSVsDisabled() {
		if mode = p.opts.DisabledCopies; mode == operatorgroup.CopyAll {
			mode = operatorgroup.CopyNone
		}
	}
	existing, all := map[olm.Key]*olm.ClusterServiceVersion{}, map[olm.Key]*olm.ClusterServiceVersion{}
	for _, c := range p.CSVs {
		all[c.Key()] = c
		if !c.IsCopied() || operatorgroup.CopiedFrom(c) != p.Namespace {
			continue
		}
		if why := operatorgroup.StaleCopy(c, p.own(), p.groups(), mode); why != "" && !c.Metadata.IsDeleted() {
			if err := p.emit(Delete, c, c.Key(), nil, "%s (F8)", why); err != nil {
				return err
			}
			continue
		}
		existing[c.Key()] = c
	}
	for _, g := range p.groups() {
		for _, c := range p.own() {
			if j := operatorgroup.Judge(c, p.OperatorGroups); j.Group != g || j.Failure != nil {
				continue
			}
			if _, changed := operatorgroup.Annotate(c, g); changed {
				continue // its annotations are copied once they are written
			}
			for _, want := range operatorgroup.Copies(c, g, p.Namespaces, mode) {
				have := existing[want.Key()]
				if other := all[want.Key()]; have == nil && other != nil {
					if why := p.inTheWay(other, mode); why != "" {
						p.note(c.Key(), "has no copy in namespace %s: %s (F8)", want.Metadata.Namespace, why)
						continue
					}
					have = other // nobody keeps it any longer
				}
				if err := p.copy(want, have, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inTheWay returns why a CSV of another origin keeps its place from a copy, or
// nothing if it is a copy whose original is gone.
func (p *planner) inTheWay(other *olm.ClusterServiceVersion, mode operatorgroup.CopyMode) string {
	switch from := operatorgroup.CopiedFrom(other); {
	case !other.IsCopied():
		return "an operator of the same name is installed there"
	case from == p.Namespace:
		return "a former copy is still being deleted"
	case operatorgroup.StaleCopy(other, p.CSVs, p.OperatorGroups, mode) == "":
		return fmt.Sprintf("a copy of the same name from namespace %s is there", from)
	}
	return ""
}

func (p *planner) copy(want, have, source *olm.ClusterServiceVersion) error {
	if have == nil {
		return p.emit(Create, want, source.Key(), nil, "tells the users of namespace %s of the operator (F8)", want.Metadata.Namespace)
	}
	spec, status := *have, *have
	spec.Spec = want.Spec
	spec.Metadata.Labels, spec.Metadata.Annotations = want.Metadata.Labels, want.Metadata.Annotations
	if !olm.Equal(&spec, have) {
		return p.emit(Update, &spec, source.Key(), nil, "follows the original (F8)")
	}
	status.Status = want.Status
	if !olm.Equal(&status, have) {
		return p.emit(UpdateStatus, &status, source.Key(), nil, "follows the original (F8)")
	}
	return nil
}
