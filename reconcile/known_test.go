package reconcile_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// An operator with everything that an operator may have, as kubectl shows it, without the
// kinds that are read in addition to OLM's.
func installed(phase string) string {
	return strings.ReplaceAll(`
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: og, namespace: ops, annotations: {olm.providedAPIs: Db.v1.db.io}}
spec: {targetNamespaces: [ops], serviceAccountName: installer}
status: {namespaces: [ops]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: db.v1.0.0
  namespace: ops
  uid: c1
  finalizers: [operators.coreos.com/csv-cleanup]
  annotations: {olm.operatorGroup: og, olm.operatorNamespace: ops, olm.operatorGroupNamespace: ops, olm.targetNamespaces: ops}
spec:
  version: 1.0.0
  minKubeVersion: 1.16.0
  installModes: [{type: OwnNamespace, supported: true}]
  customresourcedefinitions: {owned: [{name: dbs.db.io, version: v1, kind: Db}]}
  apiservicedefinitions: {required: [{name: xs, group: x.io, version: v1, kind: X}]}
  nativeAPIs: [{group: y.io, version: v1, kind: Yak}]
  install:
    strategy: deployment
    spec:
      permissions: [{serviceAccountName: db, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}]
      clusterPermissions: [{serviceAccountName: default, rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]}]
      deployments: [{name: db, spec: {template: {}}}]
status: {phase: PHASE, reason: InstallSucceeded, message: as it was}
`, "PHASE", phase)
}

// Objects that were not read do not count as absent: an operator keeps its recorded status,
// and one note names the kinds.
func TestUnreadIsNotAbsent(t *testing.T) {
	for _, phase := range []string{"Succeeded", "Pending", "Installing", "Failed"} {
		t.Run(phase, func(t *testing.T) {
			c := &memcluster.Cluster{Known: []olm.GroupKind{}}
			for _, o := range objects(t, []byte(installed(phase))) {
				if err := c.Put(&o); err != nil {
					t.Fatal(err)
				}
			}
			s, err := c.Read(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := reconcile.Decide(t.Context(), s, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Changes) > 0 {
				t.Errorf("changes: %v", plan.Changes)
			}
			unread := 0
			for _, n := range plan.Notes {
				if strings.HasPrefix(n.Message, "unknown, because no objects of these kinds were read: ") {
					unread++
				}
			}
			if unread != 1 {
				t.Errorf("%d notes say what was not read: %v", unread, plan.Notes)
			}
			if _, unnamed := unexplained(t, c, plan); len(unnamed) > 0 {
				t.Errorf("no note names %v", unnamed)
			}

			// If everything was read, the same operator lacks several objects.
			c.Known = nil
			if s, err = c.Read(t.Context(), testNamespace); err != nil {
				t.Fatal(err)
			}
			if plan, err = reconcile.Decide(t.Context(), s, nil, nil); err != nil {
				t.Fatal(err)
			}
			if len(plan.Changes) == 0 {
				t.Error("nothing is missing in a cluster that has nothing")
			}
		})
	}
}

// Kinds are known independently of each other: a known kind without the object that the
// operator needs fails the operator, and an unknown kind does not.
func TestEachKindIsKnownByItself(t *testing.T) {
	got := map[string]string{}
	for _, k := range reconcile.PlannedKinds() {
		c := &memcluster.Cluster{Known: []olm.GroupKind{k}}
		for _, o := range objects(t, []byte(installed("Succeeded"))) {
			if err := c.Put(&o); err != nil {
				t.Fatal(err)
			}
		}
		s, err := c.Read(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := reconcile.Decide(t.Context(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for i := range plan.Changes {
			keys = append(keys, string(plan.Changes[i].Op)+" "+plan.Changes[i].Key().Kind)
		}
		got[k.Kind] = strings.Join(keys, ", ")
		for _, n := range plan.Notes {
			if strings.Contains(n.Message, " "+k.Kind+" (") && strings.HasPrefix(n.Message, "not known, as no object") {
				t.Errorf("%s is known, but a note reports that it is not: %s", k.Kind, n)
			}
		}
	}
	const failed = "update status ClusterServiceVersion"
	want := map[string]string{
		"Namespace": "", "ServiceAccount": "update status OperatorGroup, " + failed, "CustomResourceDefinition": failed,
		"APIService": failed, "Deployment": failed, "OperatorCondition": "create OperatorCondition",
		"ClusterRole": "create ClusterRole, create ClusterRole, create ClusterRole, create ClusterRole, create ClusterRole, create ClusterRole, create ClusterRole", "ClusterRoleBinding": "", "Role": "", "RoleBinding": "",
		"Service": "", "Secret": "", "ValidatingWebhookConfiguration": "", "MutatingWebhookConfiguration": "",
		"Operator": "",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("changes by the kind that is known (-want +got):\n%s", diff)
	}
}

// Without the version of the cluster minKubeVersion is not checked, and a
// note reports it.
func TestUnknownKubeVersion(t *testing.T) {
	for version, want := range map[string]olm.Phase{"": olm.PhaseSucceeded, "v1.20.0": olm.PhaseSucceeded, "v1.15.0": olm.PhaseFailed} {
		c := &memcluster.Cluster{KubeVersion: version, Controllers: true}
		for _, o := range objects(t, []byte(`
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: og, namespace: ops}
spec: {}
status: {namespaces: [""]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v1, namespace: ops}
spec:
  minKubeVersion: 1.16.0
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
status: {phase: Succeeded, reason: InstallSucceeded}
`)) {
			if err := c.Put(&o); err != nil {
				t.Fatal(err)
			}
		}
		l := &reconcile.Loop{Cluster: c}
		r, err := l.Run(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		st := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v1").Status
		if want == olm.PhaseFailed {
			if st.Phase == olm.PhaseSucceeded {
				t.Errorf("%q: %s", version, st.Phase)
			}
			continue
		}
		if st.Phase != want {
			t.Errorf("%q: %s, %s; want %s", version, st.Phase, st.Message, want)
		}
		if version == "" {
			noted(t, r.Plan, "a.v1", "minKubeVersion 1.16.0 was not checked")
		}
	}
}
