package kube_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/olm"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdOf returns a CRD with a status subresource whose schema accepts any
// object.
func crdOf(group, version, kind, plural string, scope apiextensionsv1.ResourceScope) *apiextensionsv1.CustomResourceDefinition {
	anything := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group, Annotations: map[string]string{"api-approved.kubernetes.io": "unapproved, only for a test"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything}},
			}},
		},
	}
}

// define creates a CRD for the duration of a test.
func define(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	c, ctx := admin(t), context.Background()
	must(t, c.Create(ctx, crd))
	t.Cleanup(func() {
		must(t, c.Delete(ctx, crd))
		eventually(t, patience, func() error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err == nil {
				return errors.New("the CRD is still there")
			} else {
				return client.IgnoreNotFound(err)
			}
		})
	})
	eventually(t, patience, func() error {
		must(t, c.Get(ctx, client.ObjectKeyFromObject(crd), crd))
		for _, x := range crd.Status.Conditions {
			if x.Type == apiextensionsv1.Established && x.Status == apiextensionsv1.ConditionTrue {
				return nil
			}
		}
		return errors.New("not established")
	})
}

// C7, E35: on OpenShift, a snapshot contains its version and its proxy. The permissions of
// Rules suffice to read them.
func TestPlatformVersion(t *testing.T) {
	c, ctx := admin(t), context.Background()
	config, _ := restricted(t)
	read := func() (version string) {
		t.Helper()
		cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
		must(t, err)
		for range 2 { // the second read uses the cache
			s, err := cluster.Read(ctx, "default")
			must(t, err)
			version = ""
			for _, o := range s.Objects {
				if o.Kind != "ClusterVersion" {
					continue
				}
				text, err := o.MarshalJSON()
				must(t, err)
				u := &unstructured.Unstructured{}
				must(t, u.UnmarshalJSON(text))
				version, _, _ = unstructured.NestedString(u.Object, "status", "desired", "version")
			}
		}
		return version
	}
	if got := read(); got != "" {
		t.Errorf("a cluster other than OpenShift has version %q", got)
	}
	define(t, crdOf("config.openshift.io", "v1", "ClusterVersion", "clusterversions", apiextensionsv1.ClusterScoped))
	if got := read(); got != "" {
		t.Errorf("without a ClusterVersion, the version is %q", got)
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": map[string]any{"name": "version"},
		"status": map[string]any{"desired": map[string]any{"version": "4.19.3"}},
	}}
	eventually(t, patience, func() error { return c.Create(ctx, u.DeepCopy()) }) // the API is served a moment after the CRD is established
	if got := read(); got != "4.19.3" {
		t.Errorf("the version is %q", got)
	}
	define(t, crdOf("config.openshift.io", "v1", "Proxy", "proxies", apiextensionsv1.ClusterScoped))
	proxy := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "Proxy", "metadata": map[string]any{"name": "cluster"},
	}}
	eventually(t, patience, func() error { return c.Create(ctx, proxy.DeepCopy()) })
	cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
	must(t, err)
	s, err := cluster.Read(ctx, "default")
	must(t, err)
	if !slices.ContainsFunc(s.Objects, func(o olm.Object) bool { return o.Kind == "Proxy" && o.Metadata.Name == "cluster" }) {
		t.Error("the snapshot lacks the proxy")
	}
}
