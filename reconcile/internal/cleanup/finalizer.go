package cleanup

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// finalize removes the finalizer from CSVs that are being deleted when no objects are left
// that were generated for them in other namespaces, where owner references do not work
// (E22). Objects that other owners need stay, and do not delay the deletion.
func (p *planner) finalize() error {
	for _, c := range p.Own() {
		if !c.Metadata.IsDeleted() || !slices.Contains(c.Metadata.Finalizers, world.Finalizer) {
			continue
		}
		if o := p.left(c); o != nil {
			if o.Metadata.IsDeleted() {
				p.Note(c.Key(), "waits for %s, which was created for it and %s", o.Key(), status.Leaving(&o.Header)).Rule = "E22"
			}
			continue
		}
		out := *c
		out.Metadata.Finalizers = slices.DeleteFunc(slices.Clone(c.Metadata.Finalizers), func(f string) bool { return f == world.Finalizer })
		if err := p.Emit(change.Update, &out, c.Key(), nil, "E22", "no longer needs its finalizer, because the objects that were created for it in other namespaces are gone"); err != nil {
			return err
		}
	}
	return nil
}

// isLeaving reports whether an owner is a CSV that is being deleted.
func (p *planner) isLeaving(owner olm.Key) bool {
	c := p.CSV(owner.Name)
	return owner.Kind == olm.KindClusterServiceVersion && c != nil && c.Metadata.IsDeleted()
}

// left returns the first object outside the namespace that was generated for c and that is
// being deleted, or that the plan changes. It returns nil if there is none.
func (p *planner) left(c *olm.ClusterServiceVersion) *olm.Object {
	for i := range p.Objects {
		o := &p.Objects[i]
		if generated.OwnerOf(o) == c.Key() && o.Metadata.Namespace != p.Namespace && (o.Metadata.IsDeleted() || p.Touches(o.Key())) {
			return o
		}
	}
	return nil
}
