package desired

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// A revision that is written as an object set reads as before.
func TestObjectSet(t *testing.T) { // K70, K71, K79, K82
	want := &rollout.Revision{
		Name: "etcd-3", Owner: "etcd", Number: 3, Collision: rollout.Prevent, Deadline: 10 * time.Minute, Probes: rollout.DefaultProbes(),
		Bundle:     rollout.Bundle{Name: "etcd.v1.0.0", Package: "etcd", Version: "1.0.0", Image: "registry.example/etcd", Properties: "[]"},
		Phases:     []registryv1.Phase{{Name: "roles", Objects: []*unstructured.Unstructured{nil, nil}}},
		Refs:       [][]registryv1.Ref{{{Name: "a", Namespace: "system", Key: "x"}, {Name: "a", Namespace: "system", Key: "y"}}},
		Collisions: [][]rollout.Collision{{"", ""}},
	}
	e := &api.ClusterExtension{}
	e.Name = "etcd"
	set := NewObjectSet(want, e)
	if diff := cmp.Diff(want, FromObjectSet(set.DeepCopy(), "system")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ChangeObjectSet(set, rollout.Write{Op: rollout.Archive})
	ChangeObjectSet(set, rollout.Write{Op: rollout.UpdateRevision, New: &rollout.Revision{Bundle: rollout.Bundle{Name: "etcd.v1.0.0"}}})
	ChangeObjectSet(set, rollout.Write{Op: rollout.SetStatus, Observed: []rollout.Digest{{Phase: "roles", Digest: "sha256:0"}}})
	want.Archived, want.Bundle, want.Deadline, want.Probes = true, rollout.Bundle{Name: "etcd.v1.0.0"}, 0, nil
	want.Observed = []rollout.Digest{{Phase: "roles", Digest: "sha256:0"}}
	if diff := cmp.Diff(want, FromObjectSet(set, "system")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What users write in an object set.
func TestFromObjectSet(t *testing.T) { // K78, K80, K81
	var set api.ClusterObjectSet
	if err := yaml.UnmarshalStrict([]byte(`
metadata: {name: set}
spec:
  lifecycleState: Archived
  collisionProtection: None
  revision: 1
  phases:
  - name: one
    collisionProtection: IfNoController
    objects:
    - {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}
    - {ref: {name: secret, key: k}, collisionProtection: Prevent}
  - name: two
    objects: [{object: {apiVersion: v1, kind: ConfigMap, metadata: {name: y}}}]
`), &set); err != nil {
		t.Fatal(err)
	}
	r := FromObjectSet(&set, "system")
	if !r.Archived || r.Collision != rollout.None || r.Phases[0].Objects[0].GetName() != "x" || r.Phases[0].Objects[1] != nil {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([][]rollout.Collision{{rollout.IfNoController, rollout.Prevent}, {""}}, r.Collisions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(registryv1.Ref{Name: "secret", Namespace: "system", Key: "k"}, r.Refs[0][1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, probe := range []string{"{type: Label, label: {matchExpressions: [{key: k, operator: Like}]}}"} {
		p := api.ProgressionProbe{}
		if err := yaml.UnmarshalStrict([]byte(probe), &p.Selector); err != nil {
			t.Fatal(err)
		}
		set.Spec.ProgressionProbes = []api.ProgressionProbe{p}
		if got := FromObjectSet(&set, "system").Unreadable; got != `progressionProbes, probe 1: "Like" is not a valid label selector operator` {
			t.Errorf("%s: %s", probe, got)
		}
	}
}
