package reconcile_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// installerWith returns a service account of the namespace with the given rules.
func installerWith(t *testing.T, rules string) []olm.Resource {
	t.Helper()
	const text = `---
apiVersion: v1
kind: ServiceAccount
metadata: {name: installer, namespace: ops}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: installer}
subjects: [{kind: ServiceAccount, name: installer, namespace: ops}]
roleRef: {kind: ClusterRole, name: installer}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: installer}
rules: [RULES]
`
	return resources(objects(t, []byte(strings.Replace(text, "RULES", rules, 1))))
}

// A note lists the steps of an unfinished install plan that the service account of the
// group is not permitted to execute. If the roles were not read, a note reports that the
// steps were not checked.
func TestAttenuation(t *testing.T) {
	const all = `{verbs: ["*"], apiGroups: ["*"], resources: ["*"]}`
	const some = `{verbs: [create], apiGroups: [operators.coreos.com, apiextensions.k8s.io, "", rbac.authorization.k8s.io], resources: ["*"]}`
	for _, tt := range []struct {
		name, rules, want string
		known             []olm.GroupKind
	}{
		{"nothing", "", `service account "installer" of the operator group may not create ClusterServiceVersion ops/example.v0.1.1, create ServiceAccount ops/runner, `, nil},
		{"all", all, "", nil},
		{"roles of which it has not the rules", some, `may not grant permissions in Role ops/example.v0.1.1-runner-`, nil},
		{"roles that it may make and not bind", some + `, {verbs: [escalate], apiGroups: [rbac.authorization.k8s.io], resources: [roles, clusterroles]}`, `may not grant permissions in RoleBinding ops/example.v0.1.1-runner-`, nil},
		{"roles that it may bind", some + `, {verbs: [escalate, bind], apiGroups: [rbac.authorization.k8s.io], resources: [roles, clusterroles]}`, "", nil},
		{"roles that it has the rules of", some + `, {verbs: ["*"], apiGroups: ["*"], resources: [pods, nodes]}`, "", nil},
		{"not read", "", `were not checked, because not all roles and bindings were read`, []olm.GroupKind{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := worldOf(t, "plan-times-out")
			w.Known = tt.known
			w.put(t, installerWith(t, tt.rules)...)
			group := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/group")
			group.Spec.ServiceAccountName = "installer"
			w.put(t, group)
			var found []string
			for range 20 {
				s, err := w.Read(t.Context(), testNamespace)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := reconcile.Decide(t.Context(), s, w.content, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range plan.Notes {
					if strings.Contains(n.Message, `service account "installer"`) {
						found = append(found, n.Message)
					}
				}
				for _, c := range plan.Changes {
					if _, err := w.Apply(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				}
			}
			if tt.want == "" {
				if len(found) > 0 {
					t.Errorf("notes: %q", found)
				}
				return
			}
			if len(found) == 0 || !strings.Contains(found[0], tt.want) {
				t.Errorf("notes %q, want one that contains %q", found, tt.want)
			}
		})
	}
}

// E33: a service account with the permissions that OLM documents, which do not include
// CRDs, can install an operator, and the install plan records the account.
func TestCRDsNeedNoPermission(t *testing.T) {
	w := worldOf(t, "plan-times-out")
	w.refused = map[string]bool{}
	admit := w.Admit
	w.Admit = func(c reconcile.Change) error {
		s, err := w.Read(t.Context(), testNamespace)
		if err != nil {
			return err
		}
		if err := reconcile.Forbidden(s, &c); err != nil {
			return err
		}
		return admit(c)
	}
	w.put(t, installerWith(t, `{verbs: ["*"], apiGroups: [operators.coreos.com, apps, "", rbac.authorization.k8s.io], resources: ["*"]}`)...)
	group := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/group")
	group.Spec.ServiceAccountName = "installer"
	w.put(t, group)
	undisturbed(t, w)
	s := subscription(t, w, "example")
	if s.Status.InstalledCSV == "" {
		t.Fatalf("nothing is installed: %+v", s.Status)
	}
	if _, err := w.Get(key(olm.KindCRD, "-/examples.example.com")); err != nil {
		t.Error(err)
	}
	ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+s.Status.InstallPlanRef.Name)
	if ref := ip.Status.AttenuatedServiceAccountRef; ref == nil || ref.Name != "installer" || ref.Namespace != "ops" {
		t.Errorf("the install plan records the account %+v", ref)
	}
}
