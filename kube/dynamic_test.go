package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/olm"
)

// The same requests by typed clients and by dynamic ones, as kubectl uses, result in the
// same objects.
func TestOtherClients(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "other", widgets(t, []string{"0.1.1", "0.1.2"}, "widget.service.yaml"))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	t.Cleanup(func() { wipe(t, "typed", "dynamic") })

	namespace(t, c, "typed")
	must(t, c.Create(ctx, operatorGroup("typed", "typed")))
	must(t, c.Create(ctx, subscription("typed", "other")))
	eventually(t, patience, func() error { return installed(c, "typed", "0.1.2") })

	d, err := dynamic.NewForConfig(env.Config)
	must(t, err)
	namespace(t, c, "dynamic")
	for _, doc := range strings.Split(`
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: group}
spec: {targetNamespaces: [dynamic]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: widget}
spec: {name: widget, channel: stable, source: other, sourceNamespace: olm, installPlanApproval: Automatic}
`, "---") {
		u := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal([]byte(doc), &u.Object))
		u.SetNamespace("dynamic")
		resource := u.GroupVersionKind().GroupVersion().WithResource(strings.ToLower(u.GetKind()) + "s")
		_, err := d.Resource(resource).Namespace("dynamic").Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "kubectl"})
		must(t, err)
	}
	eventually(t, patience, func() error { return installed(c, "dynamic", "0.1.2") })
	var typed, dynamically []string
	eventually(t, patience, func() error { // the writes after the last phase
		typed, dynamically = describe(t, d, "typed"), describe(t, d, "dynamic")
		if diff := gocmp.Diff(typed, dynamically); diff != "" {
			return fmt.Errorf("typed (-) and dynamic (+) clients differ:\n%s", diff)
		}
		return nil
	})
	if len(typed) < 8 {
		t.Errorf("only %d objects were compared: %q", len(typed), typed)
	}
}

// describe returns the objects of a namespace without the values that are specific to it:
// its name, times, versions and UIDs.
func describe(t *testing.T, d dynamic.Interface, ns string) []string {
	t.Helper()
	var out []string
	for _, r := range []schema.GroupVersionResource{
		{Group: olm.Group, Version: "v1alpha1", Resource: "subscriptions"}, {Group: olm.Group, Version: "v1alpha1", Resource: "installplans"},
		{Group: olm.Group, Version: "v1alpha1", Resource: "clusterserviceversions"}, {Group: olm.Group, Version: "v1", Resource: "operatorgroups"},
		{Group: olm.Group, Version: "v2", Resource: "operatorconditions"}, {Group: "apps", Version: "v1", Resource: "deployments"},
		{Version: "v1", Resource: "serviceaccounts"}, {Version: "v1", Resource: "services"},
		{Group: olm.GroupRBAC, Version: "v1", Resource: "roles"}, {Group: olm.GroupRBAC, Version: "v1", Resource: "rolebindings"},
	} {
		list, err := d.Resource(r).Namespace(ns).List(context.Background(), metav1.ListOptions{})
		must(t, err)
		for _, u := range list.Items {
			out = append(out, plain(t, u.Object, ns))
		}
	}
	slices.Sort(out)
	return out
}

func plain(t *testing.T, object map[string]any, ns string) string {
	t.Helper()
	var clean func(v any) any
	clean = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				switch {
				case slices.Contains([]string{"managedFields", "uid", "uuid", "resourceVersion", "generation", "observedGeneration", "clusterIP", "clusterIPs", "manifest"}, name),
					strings.HasSuffix(name, "Timestamp"), strings.HasSuffix(name, "Time"), strings.HasPrefix(name, "lastUpdate"), name == "olm.deployment-spec-hash",
					name == "olm.permissions.hash" && object["kind"] == "RoleBinding": // it depends on the namespace
					delete(v, name)
				case strings.HasPrefix(name, olm.LabelComponent):
					delete(v, name)
					v[olm.LabelComponent+"NAME"] = x
				default:
					v[name] = clean(x)
				}
			}
		case []any:
			for i, x := range v {
				v[i] = clean(x)
			}
		case string:
			// The CRD is created once for both namespaces. The names of plans and roles
			// contain hashes of values that include the namespace.
			if v == "Created" {
				return "Present"
			}
			if name, hash, ok := strings.Cut(v, "install-"); ok && name == "" && hash != "" {
				return "install-HASH"
			}
			if name, hash, ok := strings.Cut(v, "widget.v0.1.2-"); ok && name == "" && hash != "" {
				return "widget.v0.1.2-HASH"
			}
			if name, hash, ok := strings.Cut(v, "widget.v0.1.1-"); ok && name == "" && hash != "" {
				return "widget.v0.1.1-HASH"
			}
			return strings.ReplaceAll(v, ns, "NAMESPACE")
		}
		return v
	}
	if object["kind"] == olm.KindClusterServiceVersion {
		unstructured.RemoveNestedField(object, "status", "conditions") // the intermediate conditions depend on timing
	}
	text, err := json.Marshal(clean(object))
	must(t, err)
	return string(text)
}

// TestTyped converts typed objects to those of package olm and back.
func TestTyped(t *testing.T) {
	sub := subscription("ops", "community")
	got, err := kube.FromTyped[olm.Subscription](newScheme(t), sub)
	must(t, err)
	if got.Kind != olm.KindSubscription || got.APIVersion != olm.V1Alpha1 || got.Spec.Package != "widget" || got.Metadata.Namespace != "ops" {
		t.Errorf("got %+v", got)
	}
	var back operatorsv1alpha1.Subscription
	must(t, kube.ToTyped(got, &back))
	back.TypeMeta = metav1.TypeMeta{}
	if diff := gocmp.Diff(sub, &back); diff != "" {
		t.Errorf("after converting to olm and back (-want +got):\n%s", diff)
	}
}
