package content_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/resolver"
)

// A privateRegistry is a registry that requires a password unless it is empty.
type privateRegistry struct {
	host     string
	digest   string // of the catalog
	password atomic.Value
}

func newPrivateRegistry(t *testing.T) *privateRegistry {
	t.Helper()
	r := &privateRegistry{}
	r.password.Store("")
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if want := r.password.Load().(string); want != "" {
			if _, got, _ := req.BasicAuth(); got != want {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		inner.ServeHTTP(w, req)
	}))
	t.Cleanup(ts.Close)
	r.host = strings.TrimPrefix(ts.URL, "http://")
	text := strings.ReplaceAll(catalog("1.0.0", false), "registry.example", r.host)
	push(t, r.host+"/catalog:latest", "configs/catalog.json", text, map[string]string{oci.LabelConfigs: "/configs"})
	push(t, r.host+"/etcd:1.0.0", "manifests/csv.json", fmt.Sprintf(csv, "1.0.0"), map[string]string{oci.LabelManifests: "manifests/"})
	ref, err := name.ParseReference(r.host + "/catalog:latest")
	if err != nil {
		t.Fatal(err)
	}
	desc, err := remote.Head(ref)
	if err != nil {
		t.Fatal(err)
	}
	r.digest = desc.Digest.String()
	return r
}

// pullSecret returns a secret for a registry.
func pullSecret(host, password string) *corev1.Secret {
	auth := base64.StdEncoding.EncodeToString([]byte("somebody:" + password))
	return &corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
		corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, host, auth),
	}}
}

// secrets holds the secrets of all namespaces, by namespace and name.
type secrets map[string]*corev1.Secret

func (s secrets) read(_ context.Context, namespace, name string) (*corev1.Secret, error) {
	if x, ok := s[namespace+"/"+name]; ok {
		return x, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
}

// TestPullSecrets checks that a catalog and its bundles are pulled with the current secrets
// that the CatalogSource names, in its namespace, and that an image pulled with them is not
// served to other namespaces.
func TestPullSecrets(t *testing.T) {
	t.Run("memory", func(t *testing.T) { pullSecrets(t, "", "") })
	dir := t.TempDir()
	t.Run("disk", func(t *testing.T) { pullSecrets(t, dir+"/images", dir+"/tenants") })
}

func pullSecrets(t *testing.T, images, tenants string) {
	r := newPrivateRegistry(t)
	r.password.Store("one")
	have := secrets{
		"team-a/pull":   pullSecret(r.host, "one"),
		"team-a/opaque": {Type: corev1.SecretTypeOpaque},
		"team-a/broken": {Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("hush")}},
		"team-b/pull":   pullSecret(r.host, "guessed"),
		"olm/pull":      pullSecret("*.example", "one"),
	}
	clock := newClock()
	s := content.New(&content.Options{Now: clock.now, Grace: -1, Sources: content.Sources{
		Private: true, Images: oci.New(&oci.Options{Dir: images}), Tenants: oci.New(&oci.Options{Dir: tenants}), Secrets: have.read,
	}})
	id := func(namespace string) resolver.CatalogID {
		return resolver.CatalogID{Name: "community", Namespace: namespace}
	}
	at := "/catalog@" + r.digest
	read := func(namespace, secrets string) content.Health {
		t.Helper()
		c := source(t, `{"sourceType":"grpc","image":"`+r.host+at+`","secrets":[`+secrets+`],"updateStrategy":{"registryPoll":{"interval":"10m"}}}`)
		c.Metadata.Namespace = namespace
		return refresh(t, s, c)
	}
	for _, test := range []struct{ namespace, secrets, want string }{
		{"team-a", `"pull"`, ""},
		{"team-b", `"pull"`, "401 Unauthorized"}, // team-b has another password, and team-a's catalog is on disk
		{"team-c", `"pull"`, `spec.secrets: "pull": secret not found in namespace "team-c"`},
		{"team-d", ``, "401 Unauthorized"},
		{"olm", `"pull"`, "401 Unauthorized"}, // for another registry
	} {
		h := read(test.namespace, test.secrets)
		if test.want == "" && h.State != content.StateReady || test.want != "" && (h.State != content.StateFailing || !strings.Contains(h.Message, test.want)) {
			t.Errorf("%s with %s: %+v; want %q", test.namespace, test.secrets, h, test.want)
		}
	}
	v := s.View()
	g, err := v.Catalog(t.Context(), id("team-a"))
	if err != nil {
		t.Fatal(err)
	}
	for b := range g.Bundles() {
		if objects, err := v.Manifests(t.Context(), id("team-a"), b); err != nil || len(objects) != 1 {
			t.Errorf("the bundle of a private catalog: %v, %v", objects, err)
		}
	}

	// Changed names take effect at once, and every invalid secret is reported.
	at = "/catalog:latest" // because an image that is cached by its digest is not requested again
	for _, test := range []struct{ secrets, want string }{
		{`"opaque"`, `spec.secrets: "opaque": the secret has type "Opaque", want kubernetes.io/dockerconfigjson`},
		{`"broken"`, `spec.secrets: "broken": the secret does not hold a valid Docker configuration`},
		{`"gone","opaque"`, `spec.secrets: "gone": secret not found in namespace "team-a"`},
		{`"gone","opaque","pull"`, ""},
	} {
		if h := read("team-a", test.secrets); h.Err() == nil != (test.want == "") || !strings.Contains(h.Message, test.want) || strings.Contains(h.Message, "hush") {
			t.Errorf("with %s: %+v; want %q", test.secrets, h, test.want)
		}
	}

	// A changed password is used by the next pull.
	r.password.Store("two")
	clock.advance(10 * time.Minute)
	if h := read("team-a", `"gone","opaque","pull"`); h.Err() == nil {
		t.Error("the registry accepts the old password")
	}
	have["team-a/pull"] = pullSecret(r.host, "two")
	clock.advance(10 * time.Minute)
	if h := read("team-a", `"gone","opaque","pull"`); h.Err() != nil {
		t.Errorf("with the new password: %v", h.Err())
	}

	if h := read("team-a", strings.Repeat(`"pull",`, 16)+`"pull"`); h.State != content.StateFailing || !strings.Contains(h.Message, "spec.secrets has 17 names; the limit is 16") {
		t.Errorf("%+v", h)
	}
}
