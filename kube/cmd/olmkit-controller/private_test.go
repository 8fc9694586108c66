package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/olmkit/olmkit/kube/oci"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// E1, E8: a tenant's catalog and its bundle are images in a private registry. Without the
// pull secret the catalog is unhealthy and reports why. Once the secret exists, the
// operator is installed.
func TestPrivateImages(t *testing.T) {
	host := privateRegistry(t)
	text := served(t, "0.3.1")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	// Leave out the bundle's manifests: they are in its image.
	bundle := lines[len(lines)-1]
	_, csv, ok := strings.Cut(bundle, `"data":"`)
	csv, _, found := strings.Cut(csv, `"`)
	manifest, err := base64.StdEncoding.DecodeString(csv)
	if check(t, err); !ok || !found {
		t.Fatalf("the format of the test catalog has changed: %s", bundle)
	}
	lines[len(lines)-1] = fmt.Sprintf(`{"schema":"olm.bundle","package":"gadget","name":"gadget.v0.3.1","image":"%s/gadget:0.3.1","properties":[{"type":"olm.package","value":{"packageName":"gadget","version":"0.3.1"}}]}`, host)
	pushImage(t, host+"/catalog:latest", map[string]string{oci.LabelConfigs: "/configs"}, "configs/catalog.json", strings.Join(lines, "\n"))
	pushImage(t, host+"/gadget:0.3.1", map[string]string{oci.LabelManifests: "manifests/"}, "manifests/csv.json", string(manifest))

	ctx, dir := context.Background(), t.TempDir()
	config := filepath.Join(dir, "config")
	c, err := client.New(env.Config, client.Options{Scheme: newScheme(t)})
	check(t, err)
	for _, name := range []string{"olm", "private"} {
		check(t, client.IgnoreAlreadyExists(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
	}
	check(t, os.WriteFile(config, restricted(t, c), 0o600))
	src := &operatorsv1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Name: "private", Namespace: "private"},
		Spec:       operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Image: host + "/catalog:latest", Secrets: []string{"pull"}},
	}
	for _, o := range []client.Object{
		src,
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "private", Namespace: "private"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{"private"}}},
		&operatorsv1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: "gadget", Namespace: "private"},
			Spec:       &operatorsv1alpha1.SubscriptionSpec{Package: "gadget", Channel: "stable", CatalogSource: "private", CatalogSourceNamespace: "private"},
		},
	} {
		check(t, c.Create(ctx, o))
	}
	run(t, "--kubeconfig", config, "--global-namespace=private-olm", "--pull-secrets", "--allow-private-catalogs", "--cache-dir", filepath.Join(dir, "cache"),
		"--namespace-selector=kubernetes.io/metadata.name in (private)")
	eventually(t, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(src), src); err != nil {
			return err
		}
		if want := `secret not found in namespace "private"`; !strings.Contains(src.Status.Message, want) {
			return fmt.Errorf("the status of the catalog has message %q, want %q", src.Status.Message, want)
		}
		return nil
	})
	check(t, c.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "pull", Namespace: "private"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"username":"me","password":"secret"}}}`, host)},
	}))
	eventually(t, func() error {
		play(t, c, "private")
		csv := &operatorsv1alpha1.ClusterServiceVersion{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "private", Name: "gadget.v0.3.1"}, csv); err != nil {
			return err
		}
		if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
		}
		return nil
	})
}

// privateRegistry returns the host of a registry with a password.
func privateRegistry(t *testing.T) string {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	return strings.TrimPrefix(ts.URL, "http://")
}

// pushImage stores an image with files, each a name and a text.
func pushImage(t *testing.T, ref string, labels map[string]string, files ...string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for file := range slices.Chunk(files, 2) {
		check(t, w.WriteHeader(&tar.Header{Name: file[0], Typeflag: tar.TypeReg, Size: int64(len(file[1])), Mode: 0o644}))
		_, err := io.WriteString(w, file[1])
		check(t, err)
	}
	check(t, w.Close())
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	check(t, err)
	img, err := mutate.AppendLayers(empty.Image, layer)
	check(t, err)
	img, err = mutate.Config(img, v1.Config{Labels: labels})
	check(t, err)
	at, err := name.ParseReference(ref)
	check(t, err)
	check(t, remote.Write(at, img, remote.WithAuth(&authn.Basic{Username: "me", Password: "secret"})))
}
