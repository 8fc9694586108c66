package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A server is a real cluster. After each change it does the work of the missing
// controllers, as memcluster does.
type server struct {
	*kube.Cluster
	client      client.Client
	unavailable map[string]bool
	initial     map[olm.Key]bool // the objects of an empty cluster
	now         time.Time
}

// Apply makes a change and then does the work of the controllers.
func (s *server) Apply(ctx context.Context, c reconcile.Change) ([]string, error) {
	warnings, err := s.Cluster.Apply(ctx, c)
	if err != nil {
		return warnings, err
	}
	if c.Op == reconcile.Delete || c.Object.Metadata.IsDeleted() { // or finalizers kept it until now
		return warnings, s.collect(ctx)
	}
	return warnings, s.control(ctx, c.Object)
}

// collect deletes the objects none of whose owners exist, until there are no
// more.
func (s *server) collect(ctx context.Context) error {
	for {
		list, err := s.metadata(ctx)
		if err != nil {
			return err
		}
		uids := map[types.UID]bool{}
		for i := range list {
			uids[list[i].UID] = true
		}
		again := false
		for i := range list {
			o := &list[i]
			if len(o.OwnerReferences) == 0 || o.DeletionTimestamp != nil || slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return uids[r.UID] }) {
				continue
			}
			again = true
			if err := client.IgnoreNotFound(s.client.Delete(ctx, o)); err != nil {
				return err
			}
		}
		if !again {
			return nil
		}
	}
}

// metadata returns the metadata of all objects of kinds: whole objects, such as CRDs, are slow to
// read.
func (s *server) metadata(ctx context.Context) (out []metav1.PartialObjectMetadata, err error) {
	for _, k := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		if err := s.read(ctx, k, list); err != nil {
			return nil, err
		}
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(k)
		}
		out = append(out, list.Items...)
	}
	return out, nil
}

// read reads all objects of a kind into a list. A kind of example.com has none while its CRD is
// missing.
func (s *server) read(ctx context.Context, k schema.GroupVersionKind, list client.ObjectList) error {
	list.GetObjectKind().SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	err := s.client.List(ctx, list)
	if k.Group == "example.com" {
		return nil
	}
	return err
}

// remove deletes an object as a user does. The object may already be gone if
// its owner was just deleted.
func (s *server) remove(ctx context.Context, o olm.Object) error {
	if err := client.IgnoreNotFound(s.client.Delete(ctx, head(o))); err != nil {
		return err
	}
	return s.collect(ctx)
}

// control makes deployments available or unavailable, and waits until CRDs are
// served.
func (s *server) control(ctx context.Context, o olm.Object) error {
	switch o.Kind {
	case "Deployment":
		u, err := s.get(ctx, o)
		if err != nil {
			return err
		}
		available := map[string]any{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
		if s.unavailable[o.Metadata.Name] {
			available = map[string]any{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "Deployment does not have minimum availability."}
		}
		u.Object["status"] = map[string]any{
			"observedGeneration": u.GetGeneration(), "replicas": int64(1), "updatedReplicas": int64(1), "conditions": []any{available},
		}
		return s.client.Status().Update(ctx, u)
	case olm.KindCRD:
		for range 12_000 {
			u, err := s.get(ctx, o)
			if err != nil {
				return err
			}
			list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			for _, x := range list {
				if x, ok := x.(map[string]any); ok && x["type"] == "Established" && x["status"] == "True" {
					return nil
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		return fmt.Errorf("%s is not established", o.Key())
	}
	return nil
}

func head(o olm.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	u.SetNamespace(o.Metadata.Namespace)
	u.SetName(o.Metadata.Name)
	return u
}

func (s *server) get(ctx context.Context, o olm.Object) (*unstructured.Unstructured, error) {
	u := head(o)
	return u, s.client.Get(ctx, client.ObjectKeyFromObject(u), u)
}

// put creates or replaces an object and its status.
func (s *server) put(ctx context.Context, o olm.Object) error {
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return err
	}
	status := u.Object["status"]
	u.SetUID("")
	u.SetGeneration(0)
	u.SetResourceVersion("")
	old, err := s.get(ctx, o)
	switch {
	case apierrors.IsNotFound(err):
		err = s.client.Create(ctx, u)
		for i := 0; apierrors.IsNotFound(err) && i < 2400; i++ { // its API is not served yet
			time.Sleep(50 * time.Millisecond)
			err = s.client.Create(ctx, u)
		}
	case err == nil:
		u.SetResourceVersion(old.GetResourceVersion())
		err = s.client.Update(ctx, u)
	}
	if err != nil {
		return err
	}
	if status != nil && o.Kind != "Namespace" {
		u.Object["status"] = status
		if err := s.client.Status().Update(ctx, u); err != nil {
			return err
		}
	}
	return s.control(ctx, o)
}

// change applies a function to an object, despite other writers.
func (s *server) change(ctx context.Context, o olm.Object, f func(*unstructured.Unstructured)) error {
	u, err := s.get(ctx, o)
	if err != nil {
		return err
	}
	f(u)
	return s.client.Update(ctx, u)
}

// kinds lists the kinds of objects in the scenarios.
var kinds = []schema.GroupVersionKind{
	{Group: olm.Group, Version: "v1alpha1", Kind: olm.KindSubscription}, {Group: olm.Group, Version: "v1alpha1", Kind: olm.KindInstallPlan},
	{Group: olm.Group, Version: "v1alpha1", Kind: olm.KindClusterServiceVersion}, {Group: olm.Group, Version: "v1alpha1", Kind: olm.KindCatalogSource},
	{Group: olm.Group, Version: "v1", Kind: olm.KindOperatorGroup}, {Group: olm.Group, Version: "v2", Kind: olm.KindOperatorCondition},
	{Group: olm.Group, Version: "v1", Kind: olm.KindOperator},
	{Group: olm.Group, Version: "v1", Kind: olm.KindOLMConfig}, {Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "ServiceAccount"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"},
	{Group: olm.GroupRBAC, Version: "v1", Kind: "Role"}, {Group: olm.GroupRBAC, Version: "v1", Kind: "RoleBinding"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	{Group: olm.GroupRBAC, Version: "v1", Kind: "ClusterRole"}, {Group: olm.GroupRBAC, Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "example.com", Version: "v1", Kind: "Example"}, {Group: olm.GroupCRD, Version: "v1", Kind: olm.KindCRD}, {Version: "v1", Kind: "Namespace"},
}

// list returns the objects that are not in an empty cluster, in the order of
// kinds.
func (s *server) list(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, k := range kinds {
		list := &unstructured.UnstructuredList{}
		if err := s.read(ctx, k, list); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if u := &list.Items[i]; !s.initial[keyOf(u)] {
				out = append(out, u)
			}
		}
	}
	return out, nil
}

func keyOf(u *unstructured.Unstructured) olm.Key {
	return olm.Key{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// empty removes all objects that are not in an empty cluster, except
// namespaces, which would stay Terminating.
func (s *server) empty(ctx context.Context) error {
	for range 6_000 {
		list, err := s.list(ctx)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, u := range list {
			if len(u.GetFinalizers()) > 0 && u.GetKind() != olm.KindCRD {
				u.SetFinalizers(nil)
				if err := s.client.Update(ctx, u); err != nil {
					return err
				}
			}
			if err := client.IgnoreNotFound(s.client.Delete(ctx, u)); err != nil && !apierrors.IsConflict(err) {
				return err
			}
			if u.GetKind() == "Namespace" {
				delete(u.Object["spec"].(map[string]any), "finalizers")
				u.SetResourceVersion("")
				if err := client.IgnoreNotFound(s.client.SubResource("finalize").Update(ctx, u)); err != nil {
					return err
				}
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("the cluster does not become empty")
}
