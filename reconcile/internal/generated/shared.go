package generated

import (
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Objects that are generated outside the namespace of their operator or group are named for
// their purpose, so two namespaces may need the same object: the ClusterRoles of an API
// that both provide, those of two groups with the same name, the roles in a namespace that
// both serve. Such an object belongs to the owner in its labels, as long as that exists. If
// each namespace wrote its own labels, they would overwrite each other forever. Only
// bindings are shared: each namespace adds its service accounts.

// EnsureShared is like Ensure, for an object that operators or groups of other namespaces may
// need too. If the object belongs to an existing operator or group of another namespace,
// holder is the key of that owner.
func (p *Keeper) EnsureShared(want olm.Resource, forKey olm.Key, rule, format string, args ...any) (settled bool, holder olm.Key, err error) {
	have, err := p.Find(want.Head().Key())
	if err != nil {
		return false, holder, err
	}
	if have != nil {
		holder = p.holder(have)
	} else if h := want.Head(); !p.IsRead(olm.GroupKind{Group: h.Key().Group, Kind: h.Kind}, h.Metadata.Name) {
		return true, holder, nil
	}
	b, isBinding := want.(*olm.RoleBinding)
	if have != nil && isBinding {
		if want, err = p.withOthers(b, have, holder); err != nil {
			return false, holder, err
		}
	} else if holder != (olm.Key{}) {
		return true, holder, nil
	}
	settled, err = p.Ensure(want, forKey, nil, rule, format, args...)
	return settled, holder, err
}

// holder returns the owner in the labels of a generated object, if it exists in another
// namespace, or the zero key.
func (p *Keeper) holder(o *olm.Object) olm.Key {
	k := OwnerOf(o)
	if k.Namespace == p.Namespace {
		return olm.Key{}
	}
	if c, ok := world.Pick(p.CSVs, k).(*olm.ClusterServiceVersion); ok && lives(c) {
		return k
	}
	for _, g := range p.OperatorGroups {
		if g.Key() == k && !g.Metadata.IsDeleted() {
			return k
		}
	}
	return olm.Key{}
}

// lives reports whether a CSV may keep the objects that were generated for it. A CSV that
// failed because of its group may not.
func lives(c *olm.ClusterServiceVersion) bool {
	return !olm.IsCopied(c) && !c.Metadata.IsDeleted() && !operatorgroup.IsGroupFailure(c.Status)
}

// withOthers adds to a copy of b the subjects of the other operators that share the binding.
// If the binding has a holder, its labels stay. Subjects that no operator claims are removed.
func (p *Keeper) withOthers(b *olm.RoleBinding, have *olm.Object, holder olm.Key) (*olm.RoleBinding, error) {
	old, err := olm.As[olm.RoleBinding](*have)
	if err != nil {
		return nil, err
	}
	out := *b
	if holder != (olm.Key{}) {
		out.Metadata.Labels = nil // Ensure keeps the existing labels
	}
	out.Subjects = nil
	for _, s := range old.Subjects {
		if contains(b.Subjects, s) || s.Namespace != p.Namespace && p.Claimed(have, s.Namespace) {
			out.Subjects = append(out.Subjects, s)
		}
	}
	for _, s := range b.Subjects {
		if !contains(out.Subjects, s) {
			out.Subjects = append(out.Subjects, s)
		}
	}
	return &out, nil
}

func contains(list []olm.Subject, s olm.Subject) bool {
	return slices.ContainsFunc(list, func(x olm.Subject) bool {
		return x.Kind == s.Kind && x.Namespace == s.Namespace && x.Name == s.Name
	})
}

// Claimed reports whether an operator or a group in namespace needs the generated object o. If
// namespace is empty, it considers all namespaces except the one being planned. The objects of
// an operator count as needed while its group is undecided.
func (p *Keeper) Claimed(o *olm.Object, namespace string) bool {
	key := o.Key()
	for _, g := range p.OperatorGroups {
		ns := g.Metadata.Namespace
		if ns == p.Namespace || namespace != "" && ns != namespace || g.Metadata.IsDeleted() {
			continue
		}
		apis := operatorgroup.Annotated(g).Union(operatorgroup.Provided(g, p.CSVs))
		if hasKey(operatorgroup.GroupRoles(g, apis, p.Naming), key) {
			return true
		}
		for _, c := range p.CSVs {
			if c.Metadata.Namespace != ns || !lives(c) {
				continue
			}
			if g.Status.Namespaces == nil && c.Metadata.Name == o.Metadata.Labels[ownerlabel.Name] {
				return true
			}
			if bindings, err := serving.Bindings(c); err == nil && hasKey(bindings, key) {
				return true
			}
			rbac, err := operatorgroup.TargetRBAC(c, g.Status.Namespaces)
			if err != nil {
				continue // its own plan reports it
			}
			if hasKey(operatorgroup.APIRoles(g, c, p.Naming), key) ||
				hasKey(rbac.Roles, key) || hasKey(rbac.RoleBindings, key) || hasKey(rbac.ClusterRoles, key) || hasKey(rbac.ClusterRoleBindings, key) {
				return true
			}
		}
	}
	return false
}

func hasKey[R olm.Resource](list []R, k olm.Key) bool {
	return slices.ContainsFunc(list, func(r R) bool { return r.Head().Key() == k })
}

// OwnerOf returns the key of the owner that the labels of an object name.
func OwnerOf(o *olm.Object) olm.Key {
	l := o.Metadata.Labels
	return olm.Key{Group: olm.Group, Kind: l[ownerlabel.Kind], Namespace: l[ownerlabel.Namespace], Name: l[ownerlabel.Name]}
}

// IsOfCopy reports whether an object belongs to a copied CSV, as OLM labels the roles that it
// makes in other namespaces. The copy also owns it, so the garbage collector deletes it.
func IsOfCopy(o *olm.Object) bool {
	owner, from := OwnerOf(o), o.Metadata.Labels[olm.LabelCopiedFrom]
	return from != "" && from != owner.Namespace && slices.ContainsFunc(o.Metadata.OwnerReferences, func(r olm.OwnerReference) bool {
		return r.Kind == owner.Kind && r.Name == owner.Name
	})
}
