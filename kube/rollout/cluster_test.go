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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

var start = time.Date(2026, 8, 21, 0, 0, 0, 0, time.UTC)

const system = "olmv1-system"

// A cluster holds an extension with its revisions, Secrets and objects, and checks the
// invariants at each write. A write replaces values and modifies none, so snapshots share them.
type cluster struct {
	t         *testing.T
	extension rollout.Extension // without a UID once it is gone
	revisions map[string]rollout.Revision
	secrets   map[string]corev1.Secret
	objects   map[string]*unstructured.Unstructured
	version   int
	now       time.Time
	recorded  bool
	broken    bool // deployments never become available
	want      *rollout.Revision

	orphaning bool            // the extension has the finalizer orphan
	orphans   map[string]bool // the revisions that the extension no longer owns
}

func newCluster(t *testing.T) *cluster {
	return &cluster{t: t, extension: rollout.Extension{Name: "etcd", UID: "uid-etcd", ResourceVersion: "0"},
		revisions: map[string]rollout.Revision{}, orphans: map[string]bool{}, secrets: map[string]corev1.Secret{}, objects: map[string]*unstructured.Unstructured{}, now: start}
}

func (c *cluster) next() string { c.version++; return fmt.Sprint(c.version) }

func (c *cluster) snapshot() *rollout.Snapshot {
	revisions := slices.Collect(maps.Values(c.revisions))
	for i := range revisions {
		r := &revisions[i]
		r.Orphan = r.Orphan || c.extension.Deleting && (c.orphaning || c.orphans[r.Name])
	}
	return &rollout.Snapshot{
		Now: c.now, Extension: c.extension, Recorded: c.recorded, Namespace: system,
		Revisions: revisions, Secrets: slices.Collect(maps.Values(c.secrets)), Objects: slices.Collect(maps.Values(c.objects)),
	}
}

// plan returns the writes that are due: first those to the latest revision.
func (c *cluster) plan(s *rollout.Snapshot) []rollout.Write {
	if c.want != nil && s.Extension.UID != "" {
		writes, err := rollout.Next(s, *c.want)
		if err != nil {
			c.t.Fatal(err)
		}
		if len(writes) > 0 {
			return writes
		}
	}
	return rollout.Decide(s).Writes
}

var errConflict = errors.New("conflict")

func (c *cluster) apply(w rollout.Write) error {
	r, exists := c.revisions[w.Revision]
	if outdated, _ := w.Outdated(func() ([]rollout.Revision, error) { return slices.Collect(maps.Values(c.revisions)), nil }); outdated {
		return errConflict
	}
	switch {
	case w.Version != "" && w.Revision != "" && (!exists || w.Version != r.ResourceVersion):
		return errConflict
	case w.Object != nil && w.Object.GetNamespace() == system:
		return c.secret(w)
	case w.Object != nil:
		return c.object(r, w)
	case w.Op == rollout.CreateRevision:
		if exists || c.extension.UID == "" {
			return errConflict
		}
		r = *w.New
		r.UID, r.ResourceVersion, r.Created, r.Generation = types.UID("uid-"+c.next()), c.next(), c.now, 1
		c.revisions[r.Name] = r
		return nil
	case w.Revision == "":
		if w.Version != c.extension.ResourceVersion || c.extension.UID == "" {
			return errConflict
		}
		c.extension.Finalizer = w.Op == rollout.AddFinalizer
		c.extension.ResourceVersion = c.next()
		c.collect()
		return nil
	}
	switch w.Op {
	case rollout.AddFinalizer:
		r.Finalizer = true
	case rollout.RemoveFinalizer:
		r.Finalizer = false
	case rollout.Archive:
		r.Archived = true
	case rollout.SetStatus:
		r.Conditions, r.Observed = w.Conditions, w.Observed
	case rollout.UpdateRevision:
		r.Bundle, r.Deadline, r.Probes = w.New.Bundle, w.New.Deadline, w.New.Probes
	case rollout.DeleteRevision:
		r.Deleting = true
	default:
		c.t.Fatalf("unknown operation %s", w.Op)
	}
	r.ResourceVersion = c.next()
	c.revisions[w.Revision] = r
	c.collect()
	return nil
}

// exists returns whether an owner exists.
func (c *cluster) exists(ref metav1.OwnerReference) bool {
	return ref.UID == c.extension.UID || slices.ContainsFunc(slices.Collect(maps.Values(c.revisions)), func(x rollout.Revision) bool { return x.UID == ref.UID })
}

// collect deletes what is deleted and has no finalizer, and what has no owner any more, like
// the garbage collector.
func (c *cluster) collect() {
	if c.extension.Deleting && !c.extension.Finalizer && !c.orphaning {
		c.extension.UID = ""
	}
	for name, r := range c.revisions {
		if (r.Deleting || c.extension.UID == "" && !c.orphans[name]) && !r.Finalizer {
			delete(c.revisions, name)
		}
	}
	orphan := func(owners []metav1.OwnerReference) bool {
		return len(owners) > 0 && !slices.ContainsFunc(owners, c.exists)
	}
	for name, s := range c.secrets {
		if orphan(s.OwnerReferences) {
			delete(c.secrets, name)
		}
	}
	if c.extension.UID == "" {
		for name, o := range c.objects {
			if orphan(o.GetOwnerReferences()) {
				delete(c.objects, name)
			}
		}
	}
}

// orphan removes the references to an extension that is deleted without its dependents, like the
// garbage collector, and then its finalizer.
func (c *cluster) orphan() {
	if !c.orphaning {
		return
	}
	release := func(o metav1.Object) bool {
		refs := o.GetOwnerReferences()
		left := slices.DeleteFunc(slices.Clone(refs), func(x metav1.OwnerReference) bool { return x.UID == c.extension.UID })
		o.SetOwnerReferences(left)
		if len(left) == len(refs) {
			return false
		}
		o.SetResourceVersion(c.next())
		return true
	}
	for key, o := range c.objects {
		if o = o.DeepCopy(); release(o) {
			c.objects[key] = o
		}
	}
	for name, s := range c.secrets {
		if s = *s.DeepCopy(); release(&s) {
			c.secrets[name] = s
		}
	}
	for name, r := range c.revisions {
		r.ResourceVersion = c.next()
		c.revisions[name], c.orphans[name] = r, true
	}
	c.orphaning, c.extension.ResourceVersion = false, c.next()
	c.collect()
}

// active returns the keys of the objects of active revisions that exist.
func (c *cluster) active() []string {
	keys := []string{}
	for _, r := range c.revisions {
		for _, key := range slices.Concat(c.keys(r)...) {
			if !r.Archived && c.objects[key] != nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (c *cluster) secret(w rollout.Write) error {
	name := w.Object.GetName()
	live, exists := c.secrets[name]
	if (w.Op == rollout.Create) == exists || exists && (live.UID != w.Object.GetUID() || live.ResourceVersion != w.Object.GetResourceVersion()) {
		return errConflict
	}
	switch w.Op {
	case rollout.Create:
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.Object.Object, &live); err != nil {
			c.t.Fatal(err)
		}
		live.UID = types.UID("uid-" + c.next())
	case rollout.SetOwners:
		live.OwnerReferences = w.Object.GetOwnerReferences()
	case rollout.DeleteUnused:
		for _, r := range c.revisions {
			for _, ref := range slices.Concat(r.Refs...) {
				if ref.Name == name {
					c.t.Errorf("deletes Secret %s of %s", name, r.Name)
				}
			}
		}
		delete(c.secrets, name)
		return nil
	default:
		c.t.Fatalf("%s of a Secret", w.Op)
	}
	if !slices.ContainsFunc(live.OwnerReferences, c.exists) {
		// The extension was deleted meanwhile, and the garbage collector takes the Secret.
		if c.extension.UID != "" {
			c.t.Errorf("%s Secret %s: it has no owner: %v", w.Op, name, live.OwnerReferences)
		}
		delete(c.secrets, name)
		return nil
	}
	live.ResourceVersion = c.next()
	c.secrets[name] = live
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
	live = live.DeepCopy()
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
		live.SetLabels(w.Object.GetLabels())
		live.SetAnnotations(w.Object.GetAnnotations())
		live.SetOwnerReferences(w.Object.GetOwnerReferences())
	case rollout.SetOwners:
		live.SetOwnerReferences(w.Object.GetOwnerReferences())
	case rollout.Delete:
		delete(c.objects, key)
		return nil
	default:
		c.t.Fatalf("unknown operation %s", w.Op)
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
	return []metav1.ManagedFieldsEntry{{Manager: rollout.FieldOwner, Operation: op, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)), APIVersion: o.GetAPIVersion()}}
}

func available(o *unstructured.Unstructured) bool {
	if o.GetKind() != "Deployment" {
		return true
	}
	_, ok, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return ok
}

// keys returns the keys of the objects of a revision, by phase.
func (c *cluster) keys(r rollout.Revision) (out [][]string) {
	for _, refs := range r.Refs {
		var keys []string
		for _, ref := range refs {
			o := &unstructured.Unstructured{}
			if err := o.UnmarshalJSON(c.secrets[ref.Name].Data[ref.Key]); err != nil {
				c.t.Fatal(err)
			}
			keys = append(keys, registryv1.Key(o))
		}
		out = append(out, keys)
	}
	return out
}

// check checks the invariants.
func (c *cluster) check(r rollout.Revision, w rollout.Write, key string) {
	c.t.Helper()
	switch w.Op {
	case rollout.Create, rollout.Apply:
		ref := metav1.GetControllerOf(w.Object)
		if ref == nil || !c.exists(*ref) {
			c.t.Errorf("%s %s: its controller does not exist: %v", w.Op, key, ref)
		}
		for _, phase := range c.keys(r) {
			if slices.Contains(phase, key) {
				return
			}
			for _, k := range phase {
				if live := c.objects[k]; live == nil || !available(live) {
					c.t.Errorf("%s %s for %s: %s is not ready", w.Op, key, r.Name, k)
				}
			}
		}
		c.t.Errorf("%s %s: %s does not have it", w.Op, key, r.Name)
	case rollout.Delete:
		for _, x := range c.revisions {
			if !x.Archived && !x.Deleting && slices.Contains(slices.Concat(c.keys(x)...), key) {
				c.t.Errorf("deletes %s of the active revision %s", key, x.Name)
			}
		}
	}
}

// kubelet makes deployments available.
func (c *cluster) kubelet() bool {
	changed := false
	for key, o := range c.objects {
		if !c.broken && !available(o) {
			o = o.DeepCopy()
			o.Object["status"] = map[string]any{"replicas": int64(1), "updatedReplicas": int64(1),
				"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
			o.SetResourceVersion(c.next())
			c.objects[key], changed = o, true
		}
	}
	return changed
}

// settle decides and writes until nothing is left to do.
func (c *cluster) settle() {
	c.t.Helper()
	for range 1000 {
		writes := c.plan(c.snapshot())
		c.write(writes)
		c.orphan()
		if !c.kubelet() && len(writes) == 0 {
			return
		}
	}
	c.t.Fatal("does not settle")
}

// write makes writes. If one fails, those after it for the same revision are left out.
func (c *cluster) write(writes []rollout.Write) {
	failed := map[string]bool{}
	for _, w := range writes {
		if !failed[w.Revision] {
			failed[w.Revision] = c.apply(w) != nil
		}
	}
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
			if c.recorded {
				by += "-" + o.GetAnnotations()["olm.operatorframework.io/revision"]
			}
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
	c.target(text)
	for range 3 {
		writes, err := rollout.Next(c.snapshot(), *c.want)
		if err != nil {
			c.t.Fatal(err)
		}
		c.write(writes)
	}
}

// target sets the objects that the extension should have.
func (c *cluster) target(text string) {
	var objects []*unstructured.Unstructured
	for _, f := range strings.Fields(text) {
		part := strings.Split(f, "/")
		objects = append(objects, object(part[0], part[1], part[2]))
	}
	c.want = &rollout.Revision{Bundle: rollout.Bundle{Name: "etcd.v1.0.0", Package: "etcd", Version: "1.0.0"}, Phases: registryv1.Phases(objects),
		Collision: rollout.Prevent, Probes: rollout.DefaultProbes(), Deadline: 10 * time.Minute}
}
