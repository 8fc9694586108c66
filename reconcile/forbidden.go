package reconcile

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// If an operator group names a service account, operators in its namespace are
// installed with the permissions of that account.

// IsBounded reports whether a change is limited by the service account of the operator group.
// It covers the steps of an install plan, and a CSV's changes to its workloads, its
// permissions, and the objects with which it serves webhooks and APIs. It does not cover
// statuses, the CRDs of a bundle, the roles for the users of an API, or deletions.
func (c *Change) IsBounded() bool { // E33, F10
	key := c.Key()
	if key == c.For || c.Op != Create && c.Op != Update {
		return false
	}
	switch c.For.Kind {
	case olm.KindInstallPlan:
		return !isCRD(key) // as in OLM, whose documented permissions have none for CRDs
	case olm.KindClusterServiceVersion:
		switch (olm.GroupKind{Group: key.Group, Kind: key.Kind}) {
		case world.KindDeployment, world.KindServiceAccount, world.KindRole, world.KindRoleBinding, world.KindClusterRoleBinding,
			world.KindService, world.KindSecret, world.KindValidatingWebhook, world.KindMutatingWebhook, world.KindAPIService, world.KindCRD:
			return true
		case world.KindClusterRole:
			return !operatorgroup.IsForUsers(c.Object.Metadata.Labels)
		}
	}
	return false
}

func isCRD(k olm.Key) bool { return k.Group == olm.GroupCRD && k.Kind == olm.KindCRD }

// runs reports whether a change is about a workload, a permission or a CRD of an operator.
func (c *Change) runs() bool {
	return c.IsBounded() || c.For.Kind == olm.KindInstallPlan && isCRD(c.Key()) || c.Op == Delete && c.Object.Kind == "Deployment"
}

// Forbidden returns the error with which an API server rejects a change that the operator
// group's service account may not make. The error is [ErrForbidden]. The snapshot is that of the
// change's namespace. Forbidden returns nil if the change is permitted, if the group names no
// account, if the change is not made with it ([Change.IsBounded]), or if some roles or bindings
// are unknown. It serves clusters without authorization, such as one in memory.
func Forbidden(s *Snapshot, c *Change) error { // F10
	if !c.IsBounded() {
		return nil
	}
	w := s.world()
	account := w.Installer()
	if account == "" || !w.KnowsGrants(account) {
		return nil
	}
	if d := w.Forbidden(account, string(c.Op), &c.Object, nil); d != nil {
		return denied{d}
	}
	return nil
}

// A denied is an error that is ErrForbidden.
type denied struct{ error }

func (d denied) Is(target error) bool { return target == ErrForbidden }
func (d denied) Unwrap() error        { return d.error }
