package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/oci"
)

const v1CSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: lamp.v1.0.0}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: lamp
        spec:
          selector: {matchLabels: {app: lamp}}
          template:
            metadata: {labels: {app: lamp}}
            spec: {containers: [{name: lamp, image: registry.example/lamp}]}
`

// K52, K63: with --olm=v1 the command installs the bundle that a ClusterExtension selects, from
// a private registry, with the permissions that --print-rbac prints.
func TestV1(t *testing.T) {
	host := privateRegistry(t)
	pushImage(t, host+"/lamp:1.0.0", map[string]string{oci.LabelManifests: "manifests/", oci.LabelMetadata: "metadata/"},
		"manifests/csv.yaml", v1CSV, "metadata/annotations.yaml", "annotations: {operators.operatorframework.io.bundle.package.v1: lamp}")
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"schema":"olm.package","name":"lamp","defaultChannel":"stable"}
{"schema":"olm.channel","package":"lamp","name":"stable","entries":[{"name":"lamp.v1.0.0"}]}
{"schema":"olm.bundle","package":"lamp","name":"lamp.v1.0.0","image":"%s/lamp:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"lamp","version":"1.0.0"}}]}`, host)
	}))
	defer ts.Close()
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{Paths: []string{"../../extension/testdata/crds"}})
	check(t, err)

	ctx, dir := context.Background(), t.TempDir()
	types := newScheme(t)
	check(t, api.AddToScheme(types))
	c, err := client.New(env.Config, client.Options{Scheme: types})
	check(t, err)
	for _, name := range []string{"olm", "olmv1-system", "lamps"} {
		check(t, client.IgnoreAlreadyExists(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
	}
	config, auth := filepath.Join(dir, "config"), filepath.Join(dir, "auth.json")
	check(t, os.WriteFile(config, restricted(t, c), 0o600))
	admin, err := (&v1Flags{}).manifests("olm", "olmkit")
	check(t, err)
	create(t, c, admin)
	check(t, os.WriteFile(auth, fmt.Appendf(nil, `{"auths":{%q:{"username":"me","password":"secret"}}}`, host), 0o600))
	run(t, "--kubeconfig", config, "--olm=v1", "--registry-config", auth, "--cache-dir", filepath.Join(dir, "cache"))

	cat := &api.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "lamps"},
		Spec: api.ClusterCatalogSpec{Source: api.CatalogSource{Type: "Image", Image: &api.ImageSource{Ref: "registry.example/catalog"}}}}
	check(t, c.Create(ctx, cat))
	at := metav1.Now().Rfc3339Copy()
	cat.Status = api.ClusterCatalogStatus{
		Conditions: []metav1.Condition{{Type: "Serving", Status: "True", Reason: "Available", LastTransitionTime: at}},
		URLs:       &api.ClusterCatalogURLs{Base: ts.URL}, LastUnpacked: &at,
		ResolvedSource: &api.ResolvedCatalogSource{Type: "Image", Image: &api.ResolvedImageSource{Ref: "registry.example/catalog@sha256:0"}},
	}
	check(t, c.Status().Update(ctx, cat))
	ext := &api.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "lamp"}, Spec: api.ClusterExtensionSpec{
		Namespace: "lamps", ServiceAccount: api.ServiceAccountReference{Name: "unused"},
		Source: api.SourceConfig{SourceType: api.SourceTypeCatalog, Catalog: &api.CatalogFilter{PackageName: "lamp"}},
	}}
	check(t, c.Create(ctx, ext))
	eventually(t, func() error {
		d := &appsv1.Deployment{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "lamps", Name: "lamp"}, d); err != nil {
			return err
		}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
			Replicas: 1, UpdatedReplicas: 1}
		if err := c.Status().Update(ctx, d); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(ext), ext); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(ext.Status.Conditions, "Installed") {
			return fmt.Errorf("%+v", ext.Status.Conditions)
		}
		return nil
	})
	check(t, c.Delete(ctx, ext))
	eventually(t, func() error {
		err := c.Get(ctx, client.ObjectKey{Namespace: "lamps", Name: "lamp"}, &appsv1.Deployment{})
		if client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("the deployment is left: %v", err)
		}
		return nil
	})
}
