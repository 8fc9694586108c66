package kube_test

import (
	"context"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/kube"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// crdOf returns a definition that takes anything, with a status.
func crdOf(group, version, kind, plural string, scope apiextensionsv1.ResourceScope) *apiextensionsv1.CustomResourceDefinition {
	anything := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group, Annotations: map[string]string{"api-approved.kubernetes.io": "unapproved, for a test"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: scope, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything}},
			}},
		},
	}
}

// define creates a definition for the length of a test.
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

// C7: a snapshot has the version of OpenShift where the cluster is one, with the
// permissions of the adapter.
func TestPlatformVersion(t *testing.T) {
	c, ctx := admin(t), context.Background()
	config, _ := restricted(t)
	read := func() (version string) {
		t.Helper()
		cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
		must(t, err)
		for range 2 { // the second one remembers
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
		t.Errorf("no OpenShift has version %q", got)
	}
	define(t, crdOf("config.openshift.io", "v1", "ClusterVersion", "clusterversions", apiextensionsv1.ClusterScoped))
	if got := read(); got != "" {
		t.Errorf("without the object the version is %q", got)
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": map[string]any{"name": "version"},
		"status": map[string]any{"desired": map[string]any{"version": "4.19.3"}},
	}}
	eventually(t, patience, func() error { return c.Create(ctx, u.DeepCopy()) }) // it is served a moment after it is established
	if got := read(); got != "4.19.3" {
		t.Errorf("the version is %q", got)
	}
}
