package extension

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// apply makes the writes of a plan. It returns how many were made, and the errors that are not
// conflicts with other writers, by revision.
func (x *Rollouts) apply(ctx context.Context, e *api.ClusterExtension, writes []rollout.Write) (int, map[string]error) {
	done, failed := 0, map[string]error{}
	conflict := map[string]bool{}
	for _, w := range writes {
		if failed[w.Revision] != nil || conflict[w.Revision] || ctx.Err() != nil {
			continue
		}
		err := x.write(ctx, e, w)
		switch {
		case err == nil:
			done++
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err) && w.Op != rollout.Create && w.Op != rollout.CreateRevision:
			conflict[w.Revision] = true
		default:
			failed[w.Revision] = err
		}
	}
	return done, failed
}

func (x *Rollouts) write(ctx context.Context, e *api.ClusterExtension, w rollout.Write) error {
	owner := client.FieldOwner(rollout.FieldOwner)
	if w.Object != nil {
		o := w.Object.DeepCopy()
		k := x.knowledge(e.Name)
		switch w.Op {
		case rollout.Create:
			err := x.Client.Create(ctx, o, owner)
			if apierrors.IsAlreadyExists(err) {
				k.foreign[registryv1.Key(o)] = o
			}
			return err
		case rollout.Apply:
			err := x.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), owner, client.ForceOwnership)
			if err == nil {
				k.applied[o.GetUID()] = o.GetResourceVersion()
			}
			return err
		case rollout.Migrate:
			return x.patch(ctx, o, "managedFields", o.GetManagedFields())
		case rollout.SetOwners:
			return x.patch(ctx, o, "ownerReferences", o.GetOwnerReferences())
		}
		uid, version := o.GetUID(), o.GetResourceVersion()
		delete(k.applied, uid)
		return x.Client.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	switch {
	case w.Op == rollout.CreateRevision:
		secret, err := secretOf(w.New, e, x.Namespace)
		if err != nil {
			return err
		}
		return x.Client.Create(ctx, secret, owner)
	case w.Revision == "":
		changed := e.DeepCopy()
		finalize(changed, w.Op == rollout.AddFinalizer)
		return x.Client.Patch(ctx, changed, client.MergeFromWithOptions(e, client.MergeFromWithOptimisticLock{}), owner)
	}
	return x.revise(ctx, w)
}

// patch sets a field of the metadata of an object that has not changed since it was read.
func (x *Rollouts) patch(ctx context.Context, o *unstructured.Unstructured, field string, value any) error {
	text, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()},
		{"op": "add", "path": "/metadata/" + field, "value": value},
	})
	if err != nil {
		return err
	}
	return x.Client.Patch(ctx, o, client.RawPatch(types.JSONPatchType, text), client.FieldOwner(rollout.FieldOwner))
}

// revise changes a revision.
func (x *Rollouts) revise(ctx context.Context, w rollout.Write) error {
	secret := &corev1.Secret{}
	if err := x.Client.Get(ctx, client.ObjectKey{Namespace: x.Namespace, Name: w.Revision}, secret); err != nil {
		return err
	}
	if secret.ResourceVersion != w.Version {
		return apierrors.NewConflict(corev1.Resource("secrets"), w.Revision, errors.New("it has changed since it was read"))
	}
	r, err := revisionOf(secret)
	if err != nil {
		return err
	}
	switch w.Op {
	case rollout.AddFinalizer, rollout.RemoveFinalizer:
		finalize(secret, w.Op == rollout.AddFinalizer)
	case rollout.Archive:
		r.Archived = true
	case rollout.SetStatus:
		r.Conditions, r.Observed = w.Conditions, w.Observed
	case rollout.UpdateRevision:
		r.Bundle, r.Deadline = w.New.Bundle, w.New.Deadline
	case rollout.DeleteRevision:
		return x.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID, ResourceVersion: &w.Version})
	}
	if secret.Data[recordKey], err = json.Marshal(recordOf(r)); err != nil {
		return err
	}
	return x.Client.Update(ctx, secret, client.FieldOwner(rollout.FieldOwner))
}

// finalize adds or removes the finalizer.
func finalize(o client.Object, add bool) {
	list := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == teardown })
	if add {
		list = append(list, teardown)
	}
	o.SetFinalizers(list)
}
