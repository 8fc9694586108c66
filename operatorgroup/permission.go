package operatorgroup

import (
	"encoding/json"
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
)

// RBAC holds the objects that implement the permissions of a CSV, in the order
// of the CSV. A role and its binding have the same index and name.
type RBAC struct {
	// ServiceAccounts are the names of the service accounts, each once, in
	// order of first use.
	ServiceAccounts     []string
	Roles               []*olm.Role
	RoleBindings        []*olm.RoleBinding
	ClusterRoles        []*olm.Role
	ClusterRoleBindings []*olm.RoleBinding
}

// Permissions returns the objects that grant an operator the permissions of its
// CSV: a Role and a RoleBinding in its namespace for each element of
// permissions, and a ClusterRole and a ClusterRoleBinding for each element of
// clusterPermissions. All have labels olm.owner and olm.owner.namespace. The
// names are those that OLM generates.
func Permissions(csv *olm.ClusterServiceVersion) (RBAC, error) {
	var out RBAC
	account := func(name string) {
		if !slices.Contains(out.ServiceAccounts, name) {
			out.ServiceAccounts = append(out.ServiceAccounts, name)
		}
	}
	m := &csv.Metadata
	for _, p := range csv.Spec.Install.Spec.Permissions {
		name, err := permissionName(m.Name+"-"+p.ServiceAccountName, permissionKey{Name: m.Name, Permission: permissionJSON(p)})
		if err != nil {
			return RBAC{}, err
		}
		account(p.ServiceAccountName)
		r, b, err := granted("Role", name, csv, p)
		if err != nil {
			return RBAC{}, err
		}
		r.Metadata.OwnerReferences = []olm.OwnerReference{olm.OwnedBy(csv)}
		out.Roles = append(out.Roles, r)
		b.Metadata.OwnerReferences = r.Metadata.OwnerReferences
		out.RoleBindings = append(out.RoleBindings, b)
	}
	for _, p := range csv.Spec.Install.Spec.ClusterPermissions {
		name, err := permissionName(m.Name, permissionKey{Name: m.Name, Namespace: m.Namespace, Permission: permissionJSON(p)})
		if err != nil {
			return RBAC{}, err
		}
		account(p.ServiceAccountName)
		r, b, err := granted("ClusterRole", name, csv, p)
		if err != nil {
			return RBAC{}, err
		}
		out.ClusterRoles = append(out.ClusterRoles, r)
		out.ClusterRoleBindings = append(out.ClusterRoleBindings, b)
	}
	return out, nil
}

// labelHash is the label of a role with the hash of its rules, and of a binding with that of
// its role and subjects. By this label, OLM recognizes the permissions that it granted.
const labelHash = "olm.permissions.hash"

// granted returns a role with the rules of permissions, and its binding.
func granted(kind, name string, csv *olm.ClusterServiceVersion, p olm.Permissions) (*olm.Role, *olm.RoleBinding, error) { // F7
	m := &csv.Metadata
	r := newRole(kind, m.Namespace, name, ownerlabel.Of(csv))
	if kind == "ClusterRole" {
		r.Metadata.Namespace = ""
	}
	r.Rules = p.Rules
	b := newBinding(r, p.ServiceAccountName, m.Namespace)
	b.Metadata.Labels = ownerlabel.Of(csv)
	rules, err := json.Marshal(permissionJSON(p).Rules)
	if err != nil {
		return nil, nil, err
	}
	r.Metadata.Labels[labelHash] = base62(rules)
	// As with permissionKey, the order of the fields and encoding/json matter.
	type ref struct {
		APIGroup string `json:"apiGroup"`
		Kind     string `json:"kind"`
		Name     string `json:"name"`
	}
	type subject struct {
		Kind      string `json:"kind"`
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	binding, err := json.Marshal(struct {
		RoleRef  ref
		Subjects []subject
	}{ref{olm.GroupRBAC, kind, name}, []subject{{"ServiceAccount", p.ServiceAccountName, m.Namespace}}})
	if err != nil {
		return nil, nil, err
	}
	b.Metadata.Labels[labelHash] = base62(binding)
	return r, b, nil
}

// A permissionKey is what OLM derives the name of a role from. The order of
// fields matters, and so does encoding with encoding/json.
type permissionKey struct {
	Name       string         `json:"name,omitempty"`
	Namespace  string         `json:"namespace,omitempty"`
	Permission permissionText `json:"permission"`
}

type permissionText struct {
	ServiceAccountName string     `json:"serviceAccountName"`
	Rules              []ruleText `json:"rules"`
}

type ruleText struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

func permissionJSON(p olm.Permissions) permissionText {
	t := permissionText{ServiceAccountName: p.ServiceAccountName}
	for _, r := range p.Rules {
		t.Rules = append(t.Rules, ruleText{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs})
	}
	return t
}

func permissionName(base string, key permissionKey) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	return generatedName(base, text), nil
}

// newBinding binds a role to a service account.
func newBinding(r *olm.Role, account, namespace string) *olm.RoleBinding {
	return &olm.RoleBinding{
		Header: olm.Header{APIVersion: olm.RBACV1, Kind: r.Kind + "Binding", Metadata: olm.Metadata{
			Name: r.Metadata.Name, Namespace: r.Metadata.Namespace, Labels: r.Metadata.Labels,
		}},
		RoleRef:  olm.RoleRef{APIGroup: olm.GroupRBAC, Kind: r.Kind, Name: r.Metadata.Name},
		Subjects: []olm.Subject{{Kind: "ServiceAccount", Name: account, Namespace: namespace}},
	}
}

// readNamespaces lets an operator for all namespaces list them.
var readNamespaces = olm.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"}}

// TargetRBAC returns the roles and bindings that an operator needs in the
// targets of its group, in addition to those in its own namespace:
//
//   - for all namespaces, its Roles and RoleBindings as ClusterRoles and
//     ClusterRoleBindings with the same names, which may also read namespaces;
//   - otherwise, copies of both in each target other than its own namespace.
//
// All have the labels olm.owner and olm.owner.namespace of the CSV. Copies also
// have label olm.copiedFrom.
func TargetRBAC(csv *olm.ClusterServiceVersion, targets []string) (RBAC, error) { // F7
	own, err := Permissions(csv)
	if err != nil {
		return RBAC{}, err
	}
	var out RBAC
	if IsGlobal(targets) {
		for i, r := range own.Roles {
			c := newRole("ClusterRole", "", r.Metadata.Name, r.Metadata.Labels)
			c.Rules = append(slices.Clip(r.Rules), readNamespaces)
			out.ClusterRoles = append(out.ClusterRoles, c)
			b := newBinding(c, "", "")
			b.Subjects, b.Metadata.Labels = own.RoleBindings[i].Subjects, own.RoleBindings[i].Metadata.Labels
			out.ClusterRoleBindings = append(out.ClusterRoleBindings, b)
		}
		return out, nil
	}
	for _, ns := range set(targets) {
		if ns == csv.Metadata.Namespace || ns == AllNamespaces {
			continue
		}
		for i, r := range own.Roles {
			c := *r
			c.Metadata.Namespace, c.Metadata.OwnerReferences = ns, nil
			c.Metadata.SetLabel(olm.LabelCopiedFrom, csv.Metadata.Namespace)
			out.Roles = append(out.Roles, &c)
			b := *own.RoleBindings[i]
			b.Metadata.Namespace, b.Metadata.OwnerReferences = ns, nil
			b.Metadata.SetLabel(olm.LabelCopiedFrom, csv.Metadata.Namespace)
			out.RoleBindings = append(out.RoleBindings, &b)
		}
	}
	return out, nil
}
