package component_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/component"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// stateOf returns the state of a namespace of a cluster.
func stateOf(t *testing.T, namespace string, objects []olm.Object) world.State {
	t.Helper()
	s := world.State{Namespace: namespace, Known: []olm.GroupKind{world.AllKinds}}
	for _, o := range objects {
		local := o.Metadata.Namespace == namespace
		var err error
		switch k := o.Key(); {
		case k.Group == olm.Group && k.Kind == olm.KindClusterServiceVersion:
			err = into(&s.CSVs, o)
		case k.Group == olm.GroupCRD:
			err = into(&s.CRDs, o)
		case k.Kind == olm.KindSubscription && local:
			err = into(&s.Subscriptions, o)
		case k.Kind == olm.KindInstallPlan && local:
			err = into(&s.InstallPlans, o)
		case k.Kind == olm.KindOperatorCondition && local:
			err = into(&s.OperatorConditions, o)
		case k.Kind == "Deployment" && local:
			err = into(&s.Deployments, o)
		case k.Group != olm.Group && o.Kind != "Deployment" || k.Kind == olm.KindOperator:
			s.Objects = append(s.Objects, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func into[T any, P interface {
	*T
	olm.Resource
}](list *[]*T, o olm.Object) error {
	v, err := olm.As[T, P](o)
	*list = append(*list, v)
	return err
}

// objects returns the objects of a YAML text.
func objects(t *testing.T, text string) (list []olm.Object) {
	t.Helper()
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var o olm.Object
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		list = append(list, o)
	}
	return list
}

const labeled = `
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: s, namespace: ops}, spec: {name: etcd}, status: {installedCSV: etcd.v1, currentCSV: etcd.v1, installPlanGeneration: 2, installPlanRef: {name: i2}}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: InstallPlan, metadata: {name: i1, namespace: ops, labels: {operators.coreos.com/etcd.ops: "", operators.coreos.com/vault.ops: ""}}, spec: {generation: 1}, status: {phase: Complete}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: InstallPlan, metadata: {name: i2, namespace: ops}, spec: {generation: 2}, status: {phase: Complete}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcd.v1, namespace: ops, uid: u1}
spec: {customresourcedefinitions: {owned: [{name: es.x.io, version: v1, kind: E}], required: [{name: fs.x.io, version: v1, kind: F}]}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: etcd.v1, namespace: other, uid: u2, labels: {olm.copiedFrom: ops}}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: manual.v1, namespace: ops, uid: u3}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: es.x.io}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: fs.x.io}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d1, namespace: ops, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: etcd.v1, uid: u1}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d2, namespace: ops, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: etcd.v1, uid: former}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d3, namespace: ops, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: manual.v1, uid: u3}]}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r1, labels: {olm.owner: etcd.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ops}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: users, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true", olm.owner: etcd.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ops}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r2, labels: {olm.owner: etcd.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: other}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r3, namespace: target, labels: {olm.owner: etcd.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ops, mine: x}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: ops, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: etcd.v1, uid: u1}]}}
---
{apiVersion: operators.coreos.com/v2, kind: OperatorCondition, metadata: {name: etcd.v1, namespace: ops, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: etcd.v1, uid: u1}]}}
`

// E30: the subscription, its latest install plan, its CSV and the objects of the CSV get
// the label, and no other objects do. Other labels stay.
func TestLabel(t *testing.T) {
	w := world.New(stateOf(t, "ops", objects(t, labeled)))
	p := change.New(w.Now)
	if err := component.Label(w, p); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Changes {
		text, err := json.Marshal(c.Object.Metadata.Labels)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(c.Op)+" "+c.Object.Kind+" "+c.Object.Metadata.Name+" "+string(text))
		if c.For != c.Object.Key() {
			t.Errorf("%s is labeled for %s", c.Object.Key(), c.For)
		}
	}
	const label = `{"operators.coreos.com/etcd.ops":""}`
	const owned = `"olm.owner":"etcd.v1","olm.owner.kind":"ClusterServiceVersion","olm.owner.namespace":"ops","operators.coreos.com/etcd.ops":""}`
	want := []string{
		"update Subscription s " + label,
		`update InstallPlan i1 {"operators.coreos.com/vault.ops":""}`,
		"update InstallPlan i2 " + label,
		"update ClusterServiceVersion etcd.v1 " + label,
		"update CustomResourceDefinition es.x.io " + label,
		"update Deployment d1 " + label,
		"update OperatorCondition etcd.v1 " + label,
		"update ClusterRole r1 {" + owned,
		`update Role r3 {"mine":"x",` + owned,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// unfinished lists the recordings in which OLM had not updated an Operator yet, with the
// reason.
var unfinished = map[string]string{
	"olm-v0.45.0/delete_offline/1-offline.json": "OLM was switched off",
	"olm-v0.45.0/nofailforward/1-failed.json":   "a condition of the subscription had just been removed",
}

// E30, E31: in recordings in which OLM had finished its work, there is nothing to label and
// no Operator to change.
func TestRecordings(t *testing.T) {
	text, err := os.ReadFile("../../../../shared/sidebyside/olm-v0.45.0.tar.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings, which are not in the repository, are missing")
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	namespaces := 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".json") {
			continue
		}
		var v struct {
			Quiet   bool
			Objects []olm.Object
		}
		if err := json.NewDecoder(r).Decode(&v); err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		if !v.Quiet {
			continue
		}
		for _, o := range v.Objects {
			if o.Kind != "OperatorGroup" {
				continue
			}
			w := world.New(stateOf(t, o.Metadata.Namespace, v.Objects))
			if slices.ContainsFunc(w.Subscriptions, func(s *olm.Subscription) bool {
				return s.Status.InstalledCSV != s.Status.CurrentCSV && w.CSV(s.Status.CurrentCSV) != nil
			}) {
				continue // OLM had not noticed yet that it is installed
			}
			namespaces++
			p := change.New(w.Now)
			if err := component.Label(w, p); err != nil {
				t.Fatalf("%s: %v", h.Name, err)
			}
			for _, c := range p.Changes {
				t.Errorf("%s: %s %s %v", h.Name, c.Op, c.Object.Key(), c.Object.Metadata.Labels)
			}
			if unfinished[h.Name] != "" {
				continue
			}
			p = change.New(w.Now)
			if err := component.Operators(w, p); err != nil {
				t.Fatalf("%s: %v", h.Name, err)
			}
			for _, c := range p.Changes {
				was, _ := w.Object(c.Object.Key()).Get("status")
				is, _ := c.Object.Get("status")
				t.Errorf("%s: %s %s\n%s\nwas\n%s", h.Name, c.Op, c.Object.Key(), is, was)
			}
		}
	}
	if namespaces < 50 {
		t.Errorf("only %d finished namespaces", namespaces)
	}
}

// operators returns the changes of the Operators of namespace ops.
func operators(t *testing.T, text string) []change.Change {
	t.Helper()
	w := world.New(stateOf(t, "ops", objects(t, text)))
	p := change.New(w.Now)
	if err := component.Operators(w, p); err != nil {
		t.Fatal(err)
	}
	return p.Changes
}

// E31: an Operator lists the objects with its label, in order and with conditions.
// Cluster-scoped objects and those of other namespaces are listed only if they were
// generated for it.
func TestOperators(t *testing.T) {
	const cluster = `
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: s, namespace: ops, labels: {operators.coreos.com/etcd.ops: ""}}, status: {conditions: [{type: X, status: "True", observedGeneration: 3, extra: 1}]}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: i, namespace: ops}
status:
  plan:
  - {resolving: etcd.v1, status: Created, resource: {group: "", version: v1, kind: Service, name: metrics, manifest: ""}}
  - {resolving: etcd.v1, status: Unknown, resource: {group: "", version: v1, kind: ConfigMap, name: later, manifest: ""}}
  - {resolving: etcd.v0, status: Created, resource: {group: "", version: v1, kind: Service, name: former, manifest: ""}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: etcd.v1, namespace: ops, labels: {operators.coreos.com/etcd.ops: ""}}, status: {phase: Succeeded, reason: InstallSucceeded, message: ok}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: ops, labels: {operators.coreos.com/etcd.ops: "", operators.coreos.com/vault.ops: ""}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: es.x.io, labels: {operators.coreos.com/etcd.ops: "", operators.coreos.com/etcd.other: ""}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: target, labels: {operators.coreos.com/etcd.ops: ""}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r, labels: {operators.coreos.com/etcd.other: ""}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: theirs, namespace: ops, labels: {operators.coreos.com/x.other: "", olm.owner: x.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: other}}}
---
{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: etcd.other}}`
	created := operators(t, cluster)
	var names []string
	for _, c := range created {
		names = append(names, string(c.Op)+" "+c.Object.Metadata.Name)
	}
	if want := []string{"create etcd.ops", "create vault.ops"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}

	const stale = `
---
{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: vault.ops}}
---
{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: gone.ops}, status: {components: {labelSelector: {}, refs: [{kind: ServiceAccount, namespace: ops, name: a, apiVersion: v1}]}}}
---
{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: etcd.ops}, status: {components: {labelSelector: {}, refs: [{kind: Service, namespace: ops, name: former, apiVersion: v1}, {kind: Role, namespace: elsewhere, name: r, apiVersion: rbac.authorization.k8s.io/v1}]}}}`
	changes := operators(t, cluster+stale)
	var got []string
	for _, c := range changes {
		o, err := olm.As[olm.Operator](c.Object)
		if err != nil {
			t.Fatal(err)
		}
		if s := o.Status.Components.LabelSelector.MatchExpressions; len(s) != 1 || s[0].Key != "operators.coreos.com/"+o.Metadata.Name || s[0].Operator != "Exists" {
			t.Errorf("%s selects %v", o.Metadata.Name, s)
		}
		for _, r := range o.Status.Components.Refs {
			line := strings.Join([]string{string(c.Op), o.Metadata.Name, r.Kind, r.Namespace + "/" + r.Name, r.APIVersion}, " ")
			for _, x := range r.Conditions {
				line += fmt.Sprintf(" %s=%s (%s, %s) %d %v", x.Type, x.Status, x.Reason, x.Message, x.ObservedGeneration, x.Rest)
			}
			got = append(got, line)
		}
	}
	want := []string{
		"update status etcd.ops ClusterServiceVersion ops/etcd.v1 operators.coreos.com/v1alpha1 Succeeded=True (InstallSucceeded, ok) 0 {}",
		"update status etcd.ops CustomResourceDefinition /es.x.io apiextensions.k8s.io/v1",
		"update status etcd.ops Role target/r rbac.authorization.k8s.io/v1",
		"update status etcd.ops Service ops/metrics v1",
		"update status etcd.ops ServiceAccount ops/a v1",
		"update status etcd.ops Subscription ops/s operators.coreos.com/v1alpha1 X=True (, ) 0 {}",
		"update status vault.ops ServiceAccount ops/a v1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if last := changes[len(changes)-2].Object.Metadata.Name; last != "gone.ops" {
		t.Errorf("%s is changed instead of gone.ops, whose objects were deleted", last)
	}
}

// E31: references in an Operator stay if the install plan of the CSV is gone, or if an
// operator of another namespace has the same label.
func TestOperatorsKeep(t *testing.T) {
	const operator = `
{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: etcd.ops}, status: {components: {labelSelector: {}, refs: [
  {kind: ClusterServiceVersion, namespace: ops, name: etcd.v0, apiVersion: operators.coreos.com/v1alpha1},
  {kind: Deployment, namespace: other, name: d, apiVersion: apps/v1},
  {kind: Service, namespace: ops, name: metrics, apiVersion: v1}]}}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: etcd.v1, namespace: ops, labels: {operators.coreos.com/etcd.ops: ""}}}`
	const other = `
---
{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: etcd.v1, namespace: other, labels: {operators.coreos.com/etcd.ops: ""}}}`
	for _, c := range []struct{ name, cluster, want string }{
		{"its own", operator, "ClusterServiceVersion/etcd.v1 Service/metrics"},
		{"shared", operator + other, "ClusterServiceVersion/etcd.v1 Deployment/d Service/metrics"},
	} {
		changes := operators(t, c.cluster)
		if len(changes) != 1 {
			t.Fatalf("%s: %v", c.name, changes)
		}
		o, err := olm.As[olm.Operator](changes[0].Object)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range o.Status.Components.Refs {
			got = append(got, r.Kind+"/"+r.Name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}
