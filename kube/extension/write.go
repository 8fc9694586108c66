package extension

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// trial makes a dry run of the objects that writes create or apply. It returns the writes without
// the objects of revisions of which the API server rejects any, and its errors by revision. An
// object that is the only one of its revision is not tried: nothing is half applied if it is
// rejected.
func (x *Rollouts) trial(ctx context.Context, g *group, writes []rollout.Write) ([]rollout.Write, map[string]error) { // K88
	isTried := func(w rollout.Write) bool { return w.Op == rollout.Create || w.Op == rollout.Apply }
	failed, objects := map[string]error{}, map[string]int{}
	for _, w := range writes {
		if isTried(w) {
			objects[w.Revision]++
		}
	}
	dry := client.NewDryRunClient(x.Client)
	for _, w := range writes {
		if !isTried(w) || objects[w.Revision] < 2 {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		_, err := g.put(ctx, dry, w)
		if err != nil && !outdated(w, err) {
			failed[w.Revision] = also(failed[w.Revision], err)
		}
		if apierrors.IsTooManyRequests(err) {
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(writes), func(w rollout.Write) bool { return isTried(w) && failed[w.Revision] != nil }), failed
}

// outdated returns whether a write failed because others have written meanwhile.
func outdated(w rollout.Write, err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && w.Op != rollout.Create && w.Op != rollout.CreateRevision
}

// apply makes the writes of a plan. It returns the errors that are not conflicts with other
// writers, by revision.
func (x *Rollouts) apply(ctx context.Context, g *group, writes []rollout.Write) map[string]error { // K87
	failed, stopped := map[string]error{}, map[string]bool{}
	for _, w := range writes {
		if ctx.Err() != nil {
			break
		}
		if stopped[w.Revision] && w.Object == nil {
			continue
		}
		err := x.write(ctx, g, w)
		if err == nil {
			continue
		}
		if !outdated(w, err) {
			failed[w.Revision] = also(failed[w.Revision], err)
		}
		stopped[w.Revision] = true
		if apierrors.IsTooManyRequests(err) {
			break
		}
	}
	return failed
}

// also adds an error to those of a revision. Several objects often fail for one reason.
func also(errs, err error) error {
	if errs == nil {
		return err
	}
	if slices.Contains(strings.Split(errs.Error(), "\n"), err.Error()) {
		return errs
	}
	return errors.Join(errs, err)
}

// put creates or applies an object, and returns it as it is then.
func (g *group) put(ctx context.Context, c client.Client, w rollout.Write) (*unstructured.Unstructured, error) {
	o, owner := w.Object.DeepCopy(), client.FieldOwner(rollout.FieldOwner)
	if w.Op == rollout.Apply {
		return o, c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), owner, client.ForceOwnership)
	}
	err := c.Create(ctx, o, owner)
	if apierrors.IsAlreadyExists(err) {
		g.foreign[registryv1.Key(o)] = true
	}
	return o, err
}

// errOutdated is a conflict with the writer of a revision that had not been read.
var errOutdated = apierrors.NewConflict(api.GroupVersion.WithResource("clusterextensions").GroupResource(), "", errors.New("there are other revisions"))

func (x *Rollouts) write(ctx context.Context, g *group, w rollout.Write) error {
	outdated, err := w.Outdated(func() ([]rollout.Revision, error) {
		return Revisions(ctx, x.Client, x.Namespace, g.snapshot.Extension.Name)
	})
	if outdated {
		return errOutdated
	}
	if err != nil {
		return err
	}
	owner := client.FieldOwner(rollout.FieldOwner)
	if w.Object != nil {
		o := w.Object.DeepCopy()
		switch w.Op {
		case rollout.Create, rollout.Apply:
			o, err := g.put(ctx, x.Client, w)
			if err == nil && w.Op == rollout.Apply {
				g.applied[o.GetUID()] = o.GetResourceVersion()
			}
			return err
		case rollout.Migrate:
			return x.patch(ctx, o, map[string]any{"managedFields": o.GetManagedFields()})
		case rollout.SetOwners:
			return x.patch(ctx, o, map[string]any{"ownerReferences": o.GetOwnerReferences()})
		case rollout.Release:
			return x.patch(ctx, o, map[string]any{"ownerReferences": o.GetOwnerReferences(), "labels": o.GetLabels(), "annotations": o.GetAnnotations()})
		}
		delete(g.applied, o.GetUID())
		return x.delete(ctx, o, metav1.DeletePropagationBackground)
	}
	switch {
	case w.Op == rollout.CreateRevision:
		var o client.Object = desired.NewObjectSet(w.New, g.extension)
		if g.snapshot.Recorded {
			secret, err := desired.NewSecret(w.New, g.extension, x.Namespace)
			if err != nil {
				return err
			}
			o = secret
		}
		return x.Client.Create(ctx, o, owner)
	case w.Revision == "":
		changed := g.extension.DeepCopy()
		finalize(changed, w.Op == rollout.AddFinalizer)
		return x.Client.Patch(ctx, changed, unchanged(g.extension), owner)
	}
	return x.revise(ctx, g.records[w.Revision], w)
}

// unchanged returns a patch of an object that has not changed since it was read.
func unchanged(o client.Object) client.Patch {
	return client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})
}

// delete deletes an object that has not changed since it was read.
func (x *Rollouts) delete(ctx context.Context, o client.Object, dependents metav1.DeletionPropagation) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return x.Client.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version}, client.PropagationPolicy(dependents))
}

// patch sets fields of the metadata of an object that has not changed since it was read.
func (x *Rollouts) patch(ctx context.Context, o *unstructured.Unstructured, fields map[string]any) error {
	operations := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()}}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		operations = append(operations, map[string]any{"op": "add", "path": "/metadata/" + name, "value": fields[name]})
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return err
	}
	return x.Client.Patch(ctx, o, client.RawPatch(types.JSONPatchType, text), client.FieldOwner(rollout.FieldOwner))
}

// revise changes a revision that was read as before.
func (x *Rollouts) revise(ctx context.Context, before client.Object, w rollout.Write) error {
	if w.Op == rollout.DeleteRevision {
		if w.Orphan { // K94
			return x.delete(ctx, before, metav1.DeletePropagationOrphan)
		}
		return x.delete(ctx, before, metav1.DeletePropagationBackground)
	}
	after := before.DeepCopyObject().(client.Object)
	switch {
	case w.Op == rollout.AddFinalizer, w.Op == rollout.RemoveFinalizer:
		finalize(after, w.Op == rollout.AddFinalizer)
	default:
		if secret, ok := after.(*corev1.Secret); ok {
			if err := desired.ChangeSecret(secret, w); err != nil {
				return err
			}
			break
		}
		if desired.ChangeObjectSet(after.(*api.ClusterObjectSet), w); w.Op == rollout.SetStatus {
			return x.Client.Status().Patch(ctx, after, unchanged(before), client.FieldOwner(rollout.FieldOwner))
		}
	}
	return x.Client.Patch(ctx, after, unchanged(before), client.FieldOwner(rollout.FieldOwner))
}

// finalize adds or removes the finalizer.
func finalize(o client.Object, add bool) {
	list := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == desired.Teardown })
	if add {
		list = append(list, desired.Teardown)
	}
	o.SetFinalizers(list)
}
