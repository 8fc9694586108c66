package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
)

// What is generated for an operator or a group outside of its namespace is named for
// its purpose, so operators of two namespaces may need the same object: the
// ClusterRoles of an API that both provide, those of two groups with one name, the
// roles in a namespace that both serve. Such an object belongs to the owner that its
// labels name, as long as that exists; if each wrote its own labels, their loops would
// never come to rest. Only bindings belong to both: each adds its service accounts.

// ensureShared is ensure for such an object. It returns whom the object belongs
// to, if that is a living operator or group of another namespace.
func (p *planner) ensureShared(want olm.Resource, forKey olm.Key, format string, args ...any) (settled bool, holder olm.Key, err error) {
	have, err := p.find(want.Head().Key())
	if err != nil {
		return false, holder, err
	}
	if have != nil {
		holder = p.holder(have)
	} else if h := want.Head(); !p.known(GroupKind{h.Key().Group, h.Kind}, h.Metadata.Name) {
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
	settled, err = p.ensure(want, forKey, nil, format, args...)
	return settled, holder, err
}

// holder returns the living owner in another namespace that a generated object
// names in its labels, or the zero key.
func (p *planner) holder(o *olm.Object) olm.Key {
	l := o.Metadata.Labels
	k := olm.Key{Group: olm.Group, Kind: l[operatorgroup.LabelOwnerKind], Namespace: l[operatorgroup.LabelOwnerNamespace], Name: l[operatorgroup.LabelOwner]}
	if k.Namespace == p.Namespace {
		return olm.Key{}
	}
	if c, ok := pick(p.CSVs, k).(*olm.ClusterServiceVersion); ok && lives(c) {
		return k
	}
	for _, g := range p.OperatorGroups {
		if g.Key() == k && !g.Metadata.IsDeleted() {
			return k
		}
	}
	return olm.Key{}
}

// lives reports whether a CSV may keep what was generated for it. One that
// failed because of its group loses it.
func lives(c *olm.ClusterServiceVersion) bool {
	return !c.IsCopied() && !c.Metadata.IsDeleted() && !operatorgroup.IsGroupFailure(c.Status)
}

// withOthers returns a binding with the subjects of the other operators that
// share it, and with the labels of its holder, if it has one. Subjects that
// nobody claims any longer go.
func (p *planner) withOthers(b *olm.RoleBinding, have *olm.Object, holder olm.Key) (*olm.RoleBinding, error) {
	old, err := olm.As[olm.RoleBinding](*have)
	if err != nil {
		return nil, err
	}
	out := *b
	if holder != (olm.Key{}) {
		out.Metadata.Labels = nil // ensure keeps those that are there
	}
	out.Subjects = nil
	for _, s := range old.Subjects {
		if contains(b.Subjects, s) || s.Namespace != p.Namespace && p.claimed(have, s.Namespace) {
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

// claimed reports whether an operator or a group of another namespace has the
// same use for a generated object; an empty name stands for all others. While
// the group of an operator is undecided, what it has stays.
func (p *planner) claimed(o *olm.Object, namespace string) bool {
	key := o.Key()
	for _, g := range p.OperatorGroups {
		ns := g.Metadata.Namespace
		if ns == p.Namespace || namespace != "" && ns != namespace || g.Metadata.IsDeleted() {
			continue
		}
		apis := operatorgroup.Annotated(g).Union(operatorgroup.Provided(g, p.CSVs))
		if hasKey(operatorgroup.GroupRoles(g, apis, p.opts.RoleNaming), key) {
			return true
		}
		for _, c := range p.CSVs {
			if c.Metadata.Namespace != ns || !lives(c) {
				continue
			}
			if g.Status.Namespaces == nil && c.Metadata.Name == o.Metadata.Labels[operatorgroup.LabelOwner] {
				return true
			}
			if bindings, err := serving.Bindings(c); err == nil && hasKey(bindings, key) {
				return true
			}
			rbac, err := operatorgroup.TargetRBAC(c, g.Status.Namespaces)
			if err != nil {
				continue // its own plan reports it
			}
			if hasKey(operatorgroup.APIRoles(g, c, p.opts.RoleNaming), key) ||
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

// ensureAPIRoles keeps the roles for the users of an operator's APIs (F7), once it
// runs, as the running OLM does; 000 would have them for every member of a group. It
// notes those of another namespace that the roles of the group do not aggregate.
func (p *planner) ensureAPIRoles(g *olm.OperatorGroup, c *olm.ClusterServiceVersion) error {
	var holders []string
	for _, r := range operatorgroup.APIRoles(g, c, p.opts.RoleNaming) {
		_, holder, err := p.ensureShared(r, c.Key(), "the permissions of the users of its APIs (F7)")
		if err != nil {
			return err
		}
		have := p.object(r.Key())
		if holder == (olm.Key{}) || sameAggregation(have.Metadata.Labels, r.Metadata.Labels) {
			continue
		}
		if text := holder.String(); !slices.Contains(holders, text) {
			holders = append(holders, text)
		}
	}
	if len(holders) > 0 {
		p.note(c.Key(), "the ClusterRoles for its APIs belong to %s, so those of operator group %q do not include them; bind users to the roles of the APIs instead (F7)", list(holders), g.Metadata.Name)
	}
	return nil
}

// sameAggregation reports whether the labels of a role have it aggregated by the same
// roles as the wanted ones, whatever its owner.
func sameAggregation(have, want map[string]string) bool {
	for k, v := range want {
		if !strings.HasPrefix(k, operatorgroup.LabelOwner) && have[k] != v {
			return false
		}
	}
	return true
}

// sameName notes that a group shares its roles with another of its name.
func (p *planner) sameName(g *olm.OperatorGroup, conflicts map[string][]string) {
	if p.opts.RoleNaming != operatorgroup.Documented {
		return // its names are unique
	}
	var others []string
	for _, ns := range conflicts[g.Metadata.Name] {
		if ns != g.Metadata.Namespace {
			others = append(others, ns)
		}
	}
	if len(others) > 0 {
		name := g.Metadata.Name
		p.advice(g.Key(), "%s an operator group with the same name, and they share the ClusterRoles %s-admin, %[2]s-edit and %[2]s-view: their users may use the APIs of both; rename one to keep them apart (F7)", having(others), name)
	}
}

// having returns "namespace a has" or "namespaces a and b have".
func having(namespaces []string) string {
	if len(namespaces) == 1 {
		return fmt.Sprintf("namespace %s has", namespaces[0])
	}
	return fmt.Sprintf("namespaces %s have", list(namespaces))
}
