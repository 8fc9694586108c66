package permissions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// Options are the choices of an installation.
type Options struct {
	// Namespace is the install namespace. Default: the name of the package; a role binding may
	// then name the service accounts of the operator in any namespace.
	Namespace string
	// Watch lists the namespaces that the operator watches. Default: all namespaces, or
	// the install namespace if the bundle does not support all. OLM v1 allows one.
	Watch []string
	// Classic requests the roles of classic OLM instead of those of OLM v1.
	Classic bool
}

// A Role is what a subject may do, in one namespace or everywhere.
type Role struct {
	// Subject is a service account, a user or a group, such as "ServiceAccount demo", or a cluster
	// role to which the bundle adds rules, such as "ClusterRole view". A service account outside of
	// the install namespace has its namespace, such as "ServiceAccount other/demo".
	Subject string `json:"subject"`
	// Namespace is where the rules apply. They are cluster-wide if it is empty.
	Namespace string `json:"namespace,omitempty"`
	// Outside is the name of a role that has rules from outside of the bundle, which are unknown: a
	// role of the cluster, or one that aggregates others.
	Outside string `json:"outside,omitempty"`
	Rules   []Rule `json:"rules,omitempty"`
}

// A Rule is a Kubernetes PolicyRule.
type Rule struct {
	Verbs           []string `json:"verbs,omitempty"`
	APIGroups       []string `json:"apiGroups,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

// A Report is what a bundle is allowed to do.
type Report struct {
	Package string `json:"package"`
	Bundle  string `json:"bundle"`
	// Roles are sorted by namespace and subject; cluster-wide roles come first.
	Roles []Role `json:"roles,omitempty"`
	// Risks are in the order of the roles, and of the rules in each role. Those of rules that allow everything
	// come first.
	Risks []Risk `json:"risks,omitempty"`
}

// Of returns the roles and risks of a bundle. It returns an error if OLM v1 cannot watch
// the namespaces. Whether an install mode of the bundle allows them, [Options.Possible] reports.
func Of(b *registryv1.Bundle, opts Options) (*Report, error) { // K34, K35, K36, K222, F7
	if len(opts.Watch) > 1 && !opts.Classic {
		return nil, errors.New("OLM v1 watches one namespace or all; name at most one")
	}
	bundled, err := bound(b, &opts)
	if err != nil {
		return nil, err
	}
	opts.Namespace = cmp.Or(opts.Namespace, b.Package)
	strategy := &b.CSV().Spec.InstallStrategy.StrategySpec
	var roles []Role
	add := func(p *v1alpha1.StrategyDeploymentPermissions, namespace string, more ...Rule) {
		r := Role{Subject: "ServiceAccount " + cmp.Or(p.ServiceAccountName, "default"), Namespace: namespace}
		r.Rules = append(rules(p.Rules), more...)
		roles = append(roles, r)
	}
	for i := range strategy.ClusterPermissions {
		add(&strategy.ClusterPermissions[i], "")
	}
	namespaces := opts.namespaces(b)
	for i := range strategy.Permissions {
		p := &strategy.Permissions[i]
		if len(namespaces) == 0 { // OLM creates a cluster role, which may also read namespaces
			add(p, "", Rule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"}})
		}
		for _, ns := range namespaces {
			add(p, ns)
		}
	}
	roles = append(roles, bundled...)
	slices.SortStableFunc(roles, func(a, b Role) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Subject, b.Subject))
	})
	r := &Report{Package: b.Package, Bundle: b.CSV().Name, Roles: roles}
	for _, role := range roles {
		r.Risks = append(r.Risks, role.Risks()...)
	}
	r.Risks = append(r.Risks, intercepts(b)...)
	slices.SortStableFunc(r.Risks, func(a, b Risk) int {
		switch {
		case a.everything == b.everything:
			return 0
		case a.everything:
			return -1
		}
		return 1
	})
	return r, nil
}

// Possible returns an error if no install mode of the bundle allows the choices.
func (o *Options) Possible(b *registryv1.Bundle) error { // K31, F7
	var supported []string
	for _, m := range b.CSV().Spec.InstallModes {
		if m.Supported {
			supported = append(supported, string(m.Type))
		}
	}
	const all, own, single, multi = "AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace"
	has := func(mode string) bool { return slices.Contains(supported, mode) }
	watched := "all namespaces"
	if len(o.Watch) > 0 {
		watched = strings.Join(o.Watch, ", ")
	}
	want := ""
	switch {
	case len(o.Watch) == 0 && (has(all) || has(own)):
	case len(o.Watch) == 0:
		return fmt.Errorf("the bundle supports neither %s nor %s; name the namespaces that it watches with --watch-namespace", all, own)
	case len(o.Watch) > 1:
		if want = multi; slices.Contains(o.Watch, o.Namespace) && has(multi) {
			want = own
		}
	case o.Namespace == o.Watch[0]:
		want = own
	case o.Namespace != "" || !has(own):
		want = single
	}
	if want == "" || has(want) {
		return nil
	}
	return fmt.Errorf("the bundle cannot watch %s, because it does not support the install mode %s; it supports %s", watched, want, cmp.Or(strings.Join(supported, ", "), "none"))
}

// namespaces returns the namespaces in which the bundle's permissions apply, sorted, or
// nil if the operator watches all namespaces.
func (o *Options) namespaces(b *registryv1.Bundle) []string {
	watch := slices.Clone(o.Watch)
	all := slices.Contains(b.CSV().Spec.InstallModes, v1alpha1.InstallMode{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true})
	if len(watch) == 0 && all {
		return nil
	}
	if len(watch) == 0 || o.Classic { // classic OLM also creates the roles in the install namespace
		watch = append(watch, o.Namespace)
	}
	slices.Sort(watch)
	return slices.Compact(watch)
}

func rules(list []rbacv1.PolicyRule) []Rule {
	out := make([]Rule, len(list))
	for i, r := range list {
		out[i] = Rule{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs}
	}
	return out
}

// aggregateTo begins the labels of cluster roles whose rules a role of the cluster has, too, such as
// view.
const aggregateTo = "rbac.authorization.k8s.io/aggregate-to-"

// maxAggregated is the maximum number of rules that the aggregated cluster roles of a bundle have
// together.
const maxAggregated = 100_000

// aggregate sets the rules of the cluster roles that aggregate others to those of the roles that
// they select.
func aggregate(roles []*rbacv1.ClusterRole, set func(name string, rules []Rule)) error {
	left := maxAggregated
	for _, role := range roles {
		if role.AggregationRule == nil {
			continue
		}
		var all []Rule
		for i := range role.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
			if err != nil {
				return fmt.Errorf("ClusterRole %q: %w", role.Name, err)
			}
			for _, x := range roles {
				if x == role || x.AggregationRule != nil || !selector.Matches(labels.Set(x.Labels)) {
					continue
				}
				if left -= len(x.Rules); left < 0 {
					return fmt.Errorf("ClusterRole %q: the aggregated roles of the bundle have more than %d rules", role.Name, maxAggregated)
				}
				all = append(all, rules(x.Rules)...)
			}
		}
		set(role.Name, all)
	}
	return nil
}

// aggregates reports whether a reference is to a cluster role that aggregates others.
func aggregates(roles []*rbacv1.ClusterRole, ref rbacv1.RoleRef) bool {
	return ref.Kind == "ClusterRole" && slices.ContainsFunc(roles, func(r *rbacv1.ClusterRole) bool { return r.Name == ref.Name && r.AggregationRule != nil })
}

// bound returns the roles that role bindings in the bundle grant to their subjects, and what the
// bundle adds to cluster roles of the cluster.
func bound(b *registryv1.Bundle, opts *Options) (out []Role, err error) {
	type ref struct{ kind, name string }
	var roles []*rbacv1.ClusterRole
	known := map[ref][]Rule{
		{"ClusterRole", "cluster-admin"}: {{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
	}
	for i := range b.Others {
		o := &b.Others[i]
		if kind := o.Object.GetKind(); kind == "Role" || kind == "ClusterRole" {
			var role rbacv1.ClusterRole // this decodes a Role too, which has the same fields
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object.Object, &role); err != nil {
				return nil, fmt.Errorf("%s: %s %q: %w", o.Pos, kind, o.Object.GetName(), err)
			}
			known[ref{kind, role.Name}] = rules(role.Rules)
			if kind == "ClusterRole" {
				roles = append(roles, &role)
			}
		}
	}
	if err := aggregate(roles, func(name string, rules []Rule) { known[ref{"ClusterRole", name}] = rules }); err != nil {
		return nil, err
	}
	for _, role := range roles {
		for _, label := range slices.Sorted(maps.Keys(role.Labels)) {
			if name, ok := strings.CutPrefix(label, aggregateTo); ok && role.Labels[label] == "true" {
				out = append(out, Role{Subject: "ClusterRole " + name, Rules: rules(role.Rules)})
			}
		}
	}
	for i := range b.Others {
		o := &b.Others[i]
		kind, where := o.Object.GetKind(), ""
		switch kind {
		case "RoleBinding":
			where = cmp.Or(opts.Namespace, b.Package)
		case "ClusterRoleBinding":
		default:
			continue
		}
		var binding rbacv1.ClusterRoleBinding
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object.Object, &binding); err != nil {
			return nil, fmt.Errorf("%s: %s %q: %w", o.Pos, kind, o.Object.GetName(), err)
		}
		for _, s := range binding.Subjects {
			r := Role{Subject: s.Kind + " " + s.Name, Namespace: where}
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace != "" && s.Namespace != opts.Namespace && !(opts.Namespace == "" && slices.Contains(b.ServiceAccounts(), s.Name)) {
				r.Subject = s.Kind + " " + s.Namespace + "/" + s.Name
			}
			var ok bool
			if r.Rules, ok = known[ref{binding.RoleRef.Kind, binding.RoleRef.Name}]; !ok || aggregates(roles, binding.RoleRef) {
				r.Outside = binding.RoleRef.Name
			}
			out = append(out, r)
		}
	}
	return out, nil
}
