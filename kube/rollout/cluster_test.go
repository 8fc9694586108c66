package rollout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

var start = time.Date(2026, 8, 21, 0, 0, 0, 0, time.UTC)

// A cluster holds revisions and objects, and checks the invariants at each write.
type cluster struct {
	t         *testing.T
	revisions map[string]rollout.Revision
	objects   map[string]*unstructured.Unstructured
	version   int
	now       time.Time
	broken    bool // deployments never become available
}

func newCluster(t *testing.T) *cluster {
	return &cluster{t: t, revisions: map[string]rollout.Revision{}, objects: map[string]*unstructured.Unstructured{}, now: start}
}

func (c *cluster) next() string { c.version++; return fmt.Sprint(c.version) }

func (c *cluster) snapshot() *rollout.Snapshot {
	s := &rollout.Snapshot{Now: c.now}
	for _, r := range c.revisions {
		r.Conditions = slices.Clone(r.Conditions)
		s.Revisions = append(s.Revisions, r)
	}
	for _, o := range c.objects {
		s.Objects = append(s.Objects, o.DeepCopy())
	}
	return s
}

var errConflict = errors.New("conflict")

func (c *cluster) apply(w rollout.Write) error {
	r, exists := c.revisions[w.Revision]
	if w.Op == rollout.CreateRevision {
		if exists {
			return errConflict
		}
		r = *w.New
		r.UID, r.ResourceVersion, r.Created = types.UID("uid-"+r.Name), c.next(), c.now
		c.revisions[r.Name] = r
		return nil
	}
	if !exists || w.Version != r.ResourceVersion {
		return errConflict
	}
	if w.Object != nil {
		return c.object(r, w)
	}
	switch w.Op {
	case rollout.AddFinalizer:
		r.Finalizer = true
	case rollout.RemoveFinalizer:
		r.Finalizer = false
	case rollout.Archive:
		r.Archived = true
	case rollout.SetStatus:
		r.Conditions = w.Conditions
	case rollout.DeleteRevision:
		r.Deleting = true
	default:
		c.t.Fatalf("unknown operation %s", w.Op)
	}
	r.ResourceVersion = c.next()
	c.revisions[w.Revision] = r
	if r.Deleting && !r.Finalizer {
		delete(c.revisions, w.Revision)
	}
	return nil
}

func (c *cluster) object(r rollout.Revision, w rollout.Write) error {
	key := registryv1.Key(w.Object)
	live := c.objects[key]
	if w.Op == rollout.Create {
		if live != nil {
			return errConflict
		}
	} else if live == nil || live.GetUID() != w.Object.GetUID() || live.GetResourceVersion() != w.Object.GetResourceVersion() {
		return errConflict
	}
	c.check(r, w, key)
	switch w.Op {
	case rollout.Create:
		live = w.Object.DeepCopy()
		live.SetUID(types.UID("uid-" + c.next()))
		live.SetManagedFields(managed("Update", live))
	case rollout.Migrate:
		live.SetManagedFields(w.Object.GetManagedFields())
	case rollout.Apply:
		if slices.ContainsFunc(live.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
			return m.Manager == rollout.FieldOwner && m.Operation == "Update"
		}) {
			c.t.Errorf("applies %s before its fields are migrated", key)
		}
		status := live.Object["status"]
		live = w.Object.DeepCopy()
		live.SetManagedFields(managed("Apply", live))
		if status != nil {
			live.Object["status"] = status
		}
	case rollout.Release:
		live.SetOwnerReferences(w.Object.GetOwnerReferences())
	case rollout.Delete:
		delete(c.objects, key)
		return nil
	}
	live.SetResourceVersion(c.next())
	c.objects[key] = live
	return nil
}

// managed returns the managed fields of an object of which every field is ours, with atomic
// lists except for the owner references.
func managed(op metav1.ManagedFieldsOperationType, o *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	var fields func(any) map[string]any
	fields = func(v any) map[string]any {
		out := map[string]any{}
		m, _ := v.(map[string]any)
		for k, x := range m {
			out["f:"+k] = fields(x)
		}
		return out
	}
	all := fields(o.Object)
	owners := map[string]any{}
	for _, x := range o.GetOwnerReferences() {
		owners[fmt.Sprintf(`k:{"uid":%q}`, x.UID)] = map[string]any{}
	}
	all["f:metadata"].(map[string]any)["f:ownerReferences"] = owners
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return []metav1.ManagedFieldsEntry{{Manager: rollout.FieldOwner, Operation: op, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: raw}, APIVersion: o.GetAPIVersion()}}
}

func available(o *unstructured.Unstructured) bool {
	if o.GetKind() != "Deployment" {
		return true
	}
	_, ok, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return ok
}

// check checks the invariants.
func (c *cluster) check(r rollout.Revision, w rollout.Write, key string) {
	c.t.Helper()
	switch w.Op {
	case rollout.Create, rollout.Apply:
		ref := metav1.GetControllerOf(w.Object)
		if ref == nil || !slices.ContainsFunc(slices.Collect(maps.Values(c.revisions)), func(x rollout.Revision) bool { return x.UID == ref.UID }) {
			c.t.Errorf("%s %s: its controller does not exist: %v", w.Op, key, ref)
		}
		for _, p := range r.Phases {
			if slices.ContainsFunc(p.Objects, func(o *unstructured.Unstructured) bool { return registryv1.Key(o) == key }) {
				return
			}
			for _, o := range p.Objects {
				if live := c.objects[registryv1.Key(o)]; live == nil || !available(live) {
					c.t.Errorf("%s %s for %s: phase %s is not ready", w.Op, key, r.Name, p.Name)
				}
			}
		}
	case rollout.Delete:
		for _, x := range c.revisions {
			for _, p := range x.Phases {
				if !x.Archived && !x.Deleting && slices.ContainsFunc(p.Objects, func(o *unstructured.Unstructured) bool { return registryv1.Key(o) == key }) {
					c.t.Errorf("deletes %s of the active revision %s", key, x.Name)
				}
			}
		}
	}
}

// kubelet makes deployments available.
func (c *cluster) kubelet() bool {
	changed := false
	for _, o := range c.objects {
		if !c.broken && !available(o) {
			o.Object["status"] = map[string]any{"replicas": int64(1), "updatedReplicas": int64(1),
				"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
			o.SetResourceVersion(c.next())
			changed = true
		}
	}
	return changed
}

// settle decides and writes until nothing is left to do.
func (c *cluster) settle() {
	c.t.Helper()
	for range 1000 {
		p := rollout.Decide(c.snapshot())
		for _, w := range p.Writes {
			if err := c.apply(w); err != nil {
				break
			}
		}
		if !c.kubelet() && len(p.Writes) == 0 {
			return
		}
	}
	c.t.Fatal("does not settle")
}

// state lists the revisions with their conditions, and the objects with their controllers.
func (c *cluster) state() string {
	var lines []string
	for _, r := range c.revisions {
		line := r.Name
		for _, typ := range []string{rollout.Progressing, rollout.Available, rollout.Succeeded} {
			if x := meta.FindStatusCondition(r.Conditions, typ); x != nil {
				line += fmt.Sprintf(" %s=%s/%s", typ, x.Status, x.Reason)
			}
		}
		lines = append(lines, line)
	}
	for key, o := range c.objects {
		by := "nobody"
		if ref := metav1.GetControllerOf(o); ref != nil {
			by = ref.Name
		}
		lines = append(lines, key+" by "+by)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func object(kind, name, content string) *unstructured.Unstructured {
	api := "v1"
	if kind == "Deployment" {
		api = "apps/v1"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": api, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "ops"}, "spec": map[string]any{"content": content},
	}}
}

// begin starts a revision with objects, each a kind, a name and a content.
func (c *cluster) begin(text string) {
	c.t.Helper()
	var objects []*unstructured.Unstructured
	for _, f := range strings.Fields(text) {
		part := strings.Split(f, "/")
		objects = append(objects, object(part[0], part[1], part[2]))
	}
	s := c.snapshot()
	want := rollout.Revision{Owner: "etcd", Version: "1.0.0", Phases: registryv1.Phases(objects), Collision: rollout.Prevent,
		Probes: rollout.DefaultProbes(), Deadline: 10 * time.Minute}
	for _, w := range rollout.Next(s.Revisions, want) {
		if err := c.apply(w); err != nil {
			c.t.Fatal(err)
		}
	}
}
