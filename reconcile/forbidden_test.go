package reconcile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// F10: the service account of the group, the permissions that its bindings grant, and the
// words in which an API server refuses everything else.
func TestForbidden(t *testing.T) {
	const (
		group   = "apiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {name: g, namespace: ops}\nspec: {serviceAccountName: weak}\n---\n"
		rbac    = "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
		pods    = rbac + "ClusterRole\nmetadata: {name: pods}\nrules: [{verbs: [get], apiGroups: [''], resources: [pods]}]\n---\n"
		writer  = rbac + "ClusterRole\nmetadata: {name: writer}\nrules: [{verbs: [create, update], apiGroups: ['', apps, rbac.authorization.k8s.io], resources: ['*']}]\n---\n"
		limited = rbac + "ClusterRole\nmetadata: {name: writer}\nrules: [{verbs: [create, update], apiGroups: [''], resources: [services], resourceNames: [mine]}]\n---\n"
		account = "ServiceAccount, name: weak, namespace: ops"
	)
	everywhere := func(role, subject string) string {
		return rbac + fmt.Sprintf("ClusterRoleBinding\nmetadata: {name: %s}\nroleRef: {kind: ClusterRole, name: %[1]s}\nsubjects: [{kind: %s}]\n---\n", role, subject)
	}
	here := func(role, subject string) string {
		return rbac + fmt.Sprintf("RoleBinding\nmetadata: {name: %s, namespace: ops}\nroleRef: {kind: ClusterRole, name: %[1]s}\nsubjects: [{kind: %s}]\n---\n", role, subject)
	}
	const (
		service  = "apiVersion: v1\nkind: Service\nmetadata: {name: mine, namespace: ops}"
		podsRole = rbac + "Role\nmetadata: {name: r, namespace: ops}\nrules: [{verbs: [get], apiGroups: [''], resources: [pods]}]"
		binding  = rbac + "RoleBinding\nmetadata: {name: b, namespace: ops}\nroleRef: {kind: ClusterRole, name: pods}\nsubjects: []"
		global   = rbac + "ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: pods}\nsubjects: []"
		collects = rbac + "ClusterRole\nmetadata: {name: r}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}"
	)
	plan, csv := key(olm.KindInstallPlan, "ops/p"), key(olm.KindClusterServiceVersion, "ops/a.v1")
	for _, tt := range []struct {
		name, state string
		op          reconcile.Op
		object      string
		by          olm.Key
		want        string // nothing: it is allowed
	}{
		{"nothing", group, reconcile.Create, service, plan, `services "mine" is forbidden: User "system:serviceaccount:ops:weak" cannot create resource "services" in API group "" in the namespace "ops"`},
		{"no account", strings.Replace(group, "weak", `""`, 1), reconcile.Create, service, plan, ""},
		{"two groups", group + strings.Replace(group, "name: g", "name: h", 1), reconcile.Create, service, plan, ""},
		{"a status", group, reconcile.UpdateStatus, service, plan, ""},
		{"what is taken away", group, reconcile.Delete, service, plan, ""},
		{"the plan itself", group, reconcile.Update, "apiVersion: operators.coreos.com/v1alpha1\nkind: InstallPlan\nmetadata: {name: p, namespace: ops}", plan, ""},
		{"a role for users", group, reconcile.Create, rbac + "ClusterRole\nmetadata: {name: as.x.io-v1-view, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}", csv, ""},
		{"what runs the operator", group, reconcile.Create, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ops}", csv, `deployments.apps "d" is forbidden: User "system:serviceaccount:ops:weak" cannot create resource "deployments" in API group "apps" in the namespace "ops"`},
		{"in the cluster", group + here("writer", account) + writer, reconcile.Create, global, plan, `clusterrolebindings.rbac.authorization.k8s.io "b" is forbidden: User "system:serviceaccount:ops:weak" cannot create resource "clusterrolebindings" in API group "rbac.authorization.k8s.io" at the cluster scope`},
		{"as an account", group + here("writer", account) + writer, reconcile.Create, service, plan, ""},
		{"as a user", group + here("writer", "User, name: 'system:serviceaccount:ops:weak'") + writer, reconcile.Create, service, plan, ""},
		{"as one of the accounts of its namespace", group + everywhere("writer", "Group, name: 'system:serviceaccounts:ops'") + writer, reconcile.Create, service, plan, ""},
		{"as one of all accounts", group + everywhere("writer", "Group, name: 'system:serviceaccounts'") + writer, reconcile.Create, service, plan, ""},
		{"as another account", group + everywhere("writer", "ServiceAccount, name: weak, namespace: other") + writer, reconcile.Create, service, plan, `cannot create resource "services"`},
		{"as another user", group + everywhere("writer", "User, name: weak") + writer, reconcile.Create, service, plan, `cannot create resource "services"`},
		{"an update by name", group + here("writer", account) + limited, reconcile.Update, service, plan, ""},
		{"no creation by name", group + here("writer", account) + limited, reconcile.Create, service, plan, `cannot create resource "services"`},
		{"a role of more than it has", group + here("writer", account) + writer, reconcile.Create, podsRole, plan, `roles.rbac.authorization.k8s.io "r" is forbidden: user "system:serviceaccount:ops:weak" is attempting to grant RBAC permissions not currently held: {"verbs":["get"],"apiGroups":[""],"resources":["pods"]}`},
		{"a role of what it has", group + here("writer", account) + writer + here("pods", account) + pods, reconcile.Create, podsRole, plan, ""},
		{"a binding to more than it has", group + here("writer", account) + writer + pods, reconcile.Create, binding, plan, `rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "system:serviceaccount:ops:weak" is attempting to grant`},
		{"a binding to what it has", group + here("writer", account) + writer + here("pods", account) + pods, reconcile.Create, binding, plan, ""},
		{"what it has in one namespace, everywhere", group + everywhere("writer", account) + writer + here("pods", account) + pods, reconcile.Create, global, plan, `is attempting to grant`},
		{"a role that collects others", group + everywhere("writer", account) + writer, reconcile.Create, collects, plan, `not currently held: {"verbs":["*"],"apiGroups":["*"],"resources":["*"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := reconcile.NewSnapshot(testNamespace, "olm", objects(t, []byte(tt.state)))
			if err != nil {
				t.Fatal(err)
			}
			err = reconcile.Forbidden(s, &reconcile.Change{Op: tt.op, Object: objects(t, []byte(tt.object))[0], For: tt.by})
			if err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Forbidden = %v, want %q", err, tt.want)
			}
			s.Known = []olm.GroupKind{}
			if err := reconcile.Forbidden(s, &reconcile.Change{Op: tt.op, Object: objects(t, []byte(tt.object))[0], For: tt.by}); err != nil {
				t.Errorf("with roles that were not read: %v", err)
			}
		})
	}
}

// Permanent refusals are listed in the result and joined in the error.
func TestRefusedError(t *testing.T) {
	w := worldOf(t, "drift")
	w.refused["ServiceAccount runner"] = true
	r, err := w.loop().Run(t.Context(), testNamespace)
	var refused *reconcile.RefusedError
	if !errors.As(err, &refused) || !errors.Is(err, errRefused) || errors.Is(err, reconcile.ErrUnsettled) {
		t.Fatalf("got error %v", err)
	}
	if len(r.Refused) != 1 || r.Refused[0] != refused || refused.Change.Key().String() != "ServiceAccount ops/runner" || refused.Error() != "create ServiceAccount ops/runner: is forbidden" {
		t.Errorf("refused are %v, want the service account", r.Refused)
	}
	w.refused["ServiceAccount runner"] = false
	if r, err := w.loop().Run(t.Context(), testNamespace); err != nil || len(r.Refused) > 0 {
		t.Errorf("once it is allowed: %v, refused %v", err, r.Refused)
	}
}

// E3: the rules in the status of a CSV are written as OLM does.
func TestRuleMessages(t *testing.T) {
	w := worldOf(t, "drift")
	undisturbed(t, w)
	n := 0
	for _, r := range get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1").Status.RequirementStatus {
		for _, d := range r.Dependents {
			n++
			if !strings.HasPrefix(d.Message, `namespaced rule:{"verbs":[`) && !strings.HasPrefix(d.Message, `cluster rule:{"verbs":[`) || strings.Contains(d.Message, "Rest") {
				t.Errorf("%s %s: %s", r.Kind, r.Name, d.Message)
			}
		}
	}
	if n == 0 {
		t.Error("no rule at all")
	}
}
