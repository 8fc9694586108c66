package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/olmkit/olmkit/internal/apigroup"
	"github.com/olmkit/olmkit/olm"
)

// An admission states which objects the API server rejects, as far as that is known.
type admission struct {
	*extensionState
	err error // the first of reading the cluster
}

// rejects returns why the API server does not create an object on the cluster, to which existing
// objects were added, with what to do. It returns "" if the object is accepted, or that is not
// known.
func (a *admission) rejects(ctx context.Context, o *unstructured.Unstructured, existing []*unstructured.Unstructured) string { // K88
	gvk, namespace := o.GroupVersionKind(), o.GetNamespace()
	switch absent, err := a.lacksKind(ctx, gvk, existing); {
	case err != nil:
		a.fail(err)
		return ""
	case absent:
		remedy := "install what provides it"
		if name := providers[gvk.Group]; name != "" {
			remedy = "install " + name
		} else if strings.HasSuffix(gvk.Group, ".openshift.io") {
			remedy = "only OpenShift does"
		}
		return fmt.Sprintf("the cluster does not serve %s (%s); %s", gvk.Kind, gvk.GroupVersion(), remedy)
	}
	if namespace == "" || gvk.Group == "admissionregistration.k8s.io" { // cluster-scoped, although OLM v1 renders a namespace (K44)
		return ""
	}
	absent, err := a.lacksNamespace(ctx, namespace, existing)
	if err != nil {
		a.fail(err)
	}
	switch {
	case a.ending[namespace]:
		return fmt.Sprintf("namespace %s is being deleted, and nothing can be created in it; wait until it is gone, and create it with \"kubectl create namespace %[1]s\"", namespace)
	case absent:
		return fmt.Sprintf("namespace %s does not exist, and OLM v1 does not create it; create it with \"kubectl create namespace %[1]s\"", namespace)
	}
	return ""
}

func (a *admission) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// providers are what provides the kinds of groups that bundles use.
var providers = map[string]string{
	"autoscaling.k8s.io":    "the Vertical Pod Autoscaler",
	"cert-manager.io":       "cert-manager, or use another --cert-provider",
	"monitoring.coreos.com": "the Prometheus Operator",
}

// lacksNamespace reports whether it is known that a namespace does not exist.
func (a *admission) lacksNamespace(ctx context.Context, name string, existing []*unstructured.Unstructured) (bool, error) {
	want := &unstructured.Unstructured{}
	want.SetAPIVersion("v1")
	want.SetKind("Namespace")
	want.SetName(name)
	if slices.ContainsFunc(existing, func(o *unstructured.Unstructured) bool { return o.GetNamespace() == name || keyOf(o) == keyOf(want) }) {
		return false, nil
	}
	if a.inhabited == nil {
		a.inhabited, a.ending = map[string]bool{}, map[string]bool{}
		for _, o := range a.cluster.List() {
			a.inhabited[o.Metadata.Namespace] = true
		}
	}
	if _, known := a.ending[name]; known {
		return false, nil
	}
	live, known, err := a.lookup(ctx, want)
	if live != nil {
		phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
		a.ending[name] = live.GetDeletionTimestamp() != nil || phase == "Terminating"
	}
	return known && live == nil && !a.inhabited[name], err
}

// lacksKind reports whether it is known that the cluster does not serve a kind.
func (a *admission) lacksKind(ctx context.Context, gvk schema.GroupVersionKind, existing []*unstructured.Unstructured) (bool, error) {
	if apigroup.IsBuiltin(gvk.Group) || definedBy(existing, gvk) {
		return false, nil
	}
	for _, o := range a.made {
		if o != nil && defines(o, gvk) {
			return false, nil
		}
	}
	if a.client != nil {
		resources, err := resourcesOf(ctx, a.client, gvk.GroupVersion(), a.groups)
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil && indexOfKind(resources, gvk.Kind) < 0, err
	}
	if !a.complete {
		return false, nil
	}
	for _, o := range a.cluster.List() {
		switch k := o.Key(); {
		case k.Group == olm.GroupCRD && k.Kind == olm.KindCRD:
			u, err := asUnstructured(o)
			if err != nil {
				return false, err
			}
			if defines(u, gvk) {
				return false, nil
			}
		case k.Kind == "APIService" && k.Name == gvk.Version+"."+gvk.Group && text(o, "spec", "service", "name") != "":
			return false, nil // another server knows its kinds
		}
	}
	return true, nil
}

func definedBy(list []*unstructured.Unstructured, gvk schema.GroupVersionKind) bool {
	return slices.ContainsFunc(list, func(o *unstructured.Unstructured) bool { return defines(o, gvk) })
}

// defines reports whether an object is a CRD that serves a kind.
func defines(o *unstructured.Unstructured, gvk schema.GroupVersionKind) bool {
	if o.GetKind() != olm.KindCRD {
		return false
	}
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	return group == gvk.Group && kind == gvk.Kind && slices.ContainsFunc(versions, func(v any) bool {
		m, _ := v.(map[string]any)
		return m["name"] == gvk.Version && m["served"] == true
	})
}

// indexOfKind returns the index of the resource of a kind, or -1.
func indexOfKind(resources []metav1.APIResource, kind string) int {
	return slices.IndexFunc(resources, func(r metav1.APIResource) bool { return r.Kind == kind && !strings.Contains(r.Name, "/") })
}

// resourcesOf returns the resources that a cluster serves in a group version. If it does not
// serve that, there are none.
func resourcesOf(ctx context.Context, c rest.Interface, gv schema.GroupVersion, groups discovery) ([]metav1.APIResource, error) {
	text, err := groups.get(ctx, c, apiPath(gv))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, liveError(ctx, err)
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(text, &served); err != nil {
		return nil, err
	}
	return served.APIResources, nil
}
