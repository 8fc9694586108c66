package reconcile

import (
	"context"

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
	existing := map[olm.Key]*olm.ClusterServiceVersion{}
	for _, c := range p.CSVs {
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
				if err := p.copy(want, existing[want.Key()], c); err != nil {
					return err
				}
			}
		}
	}
	return nil
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
