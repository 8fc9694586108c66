package scenario_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// listen starts an HTTPS server in place of an operator's only deployment, with the
// certificate that was generated for it, and returns its port.
func listen(t *testing.T, c client.Client, handler http.Handler) int {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	must(t, err)
	certificate := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificateOf(c) }
	srv := &http.Server{Handler: handler, TLSConfig: &tls.Config{GetCertificate: certificate}}
	go srv.ServeTLS(listener, "", "") // Close ends it
	t.Cleanup(func() { srv.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// lead redirects the service of the operator to a host, because no pods run.
func lead(t *testing.T, c client.Client, host string) {
	t.Helper()
	service := &unstructured.Unstructured{}
	service.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Service"})
	service.SetNamespace(testNamespace)
	service.SetName("example-service")
	patch := fmt.Appendf(nil, `{"spec":{"type":"ExternalName","externalName":%q,"clusterIP":null,"clusterIPs":null}}`, host)
	must(t, c.Patch(t.Context(), service, client.RawPatch(types.MergePatchType, patch)))
}

func certificateOf(c client.Client) (*tls.Certificate, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	if err := c.Get(context.Background(), types.NamespacedName{Namespace: testNamespace, Name: "example-service-cert"}, u); err != nil {
		return nil, err
	}
	var pair [2][]byte
	for i, key := range []string{"tls.crt", "tls.key"} {
		text, _, err := unstructured.NestedString(u.Object, "data", key)
		if err != nil {
			return nil, err
		}
		if pair[i], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, err
		}
	}
	cert, err := tls.X509KeyPair(pair[0], pair[1])
	return &cert, err
}

// A converter is a conversion webhook: /spec/size of v1 is /spec/replicas of v2.
type converter struct{ calls atomic.Int64 }

// ServeHTTP answers a ConversionReview.
func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.calls.Add(1)
	var review map[string]any
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &review)
	}
	if err != nil || r.URL.Path != "/convert" {
		http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
		return
	}
	request := review["request"].(map[string]any)
	want := request["desiredAPIVersion"].(string)
	objects := request["objects"].([]any)
	for _, o := range objects {
		o := o.(map[string]any)
		spec := o["spec"].(map[string]any)
		from, to := "size", "replicas"
		if want == "example.com/v1" {
			from, to = to, from
		}
		if v, ok := spec[from]; ok {
			delete(spec, from)
			spec[to] = v
		}
		o["apiVersion"] = want
	}
	review["request"] = nil
	review["response"] = map[string]any{"uid": request["uid"], "convertedObjects": objects, "result": map[string]any{"status": "Success"}}
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// E13, E17, E22: the API server converts objects with the webhook of an operator, using the
// registered CA, before, during and after an upgrade.
func TestConversion(t *testing.T) {
	s := newServer(t)
	must(t, s.empty(t.Context()))
	c := &converter{}
	port := listen(t, s.client, c)

	text, err := os.ReadFile("../../../reconcile/testdata/scenario/conversion-webhook.txtar")
	must(t, err)
	text = bytes.ReplaceAll(text, []byte("containerPort: 443"), fmt.Appendf(nil, "containerPort: %d", port))
	text = bytes.ReplaceAll(text, []byte("openAPIV3Schema: {type: object"), []byte("openAPIV3Schema: {x-kubernetes-preserve-unknown-fields: true, type: object"))
	w := newWorld(t, s, txtar.Parse(text))

	l := &reconcile.Loop{Cluster: w.server, Content: w.content, MaxPasses: 200}
	run := func() {
		t.Helper()
		_, err := l.Run(t.Context(), testNamespace)
		must(t, err)
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: olm.Group, Version: "v1alpha1", Kind: "InstallPlanList"})
		must(t, s.client.List(t.Context(), list))
		for _, u := range list.Items {
			must(t, unstructured.SetNestedField(u.Object, true, "spec", "approved"))
			must(t, s.client.Update(t.Context(), &u))
		}
		_, err = l.Run(t.Context(), testNamespace)
		must(t, err)
	}
	run()

	lead(t, s.client, "localhost")
	object := func(version string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Example"})
		u.SetNamespace(testNamespace)
		u.SetName("e")
		return u
	}
	o := object("v1")
	o.Object["spec"] = map[string]any{"size": int64(3)}
	for i := 0; ; i++ { // until the API server has noticed the service
		if err = s.client.Create(t.Context(), o.DeepCopy()); err == nil || i > 600 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	must(t, err)
	check := func(when string) {
		t.Helper()
		for version, want := range map[string]string{"v1": `{"size":3}`, "v2": `{"replicas":3}`} {
			u := object(version)
			if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
				t.Errorf("%s: %v", when, err)
				continue
			}
			if got, err := json.Marshal(u.Object["spec"]); err != nil || string(got) != want {
				t.Errorf("%s: /spec of %s is %s, want %s", when, version, got, want)
			}
		}
	}
	check("after the installation")
	calls := c.calls.Load()
	if calls == 0 {
		t.Error("the webhook was never called")
	}
	l.Progress = func(_ int, change reconcile.Change, err error) { check(fmt.Sprintf("after %s (%v)", &change, err)) }
	run()
	csv := &unstructured.Unstructured{}
	csv.SetGroupVersionKind(schema.GroupVersionKind{Group: olm.Group, Version: "v1alpha1", Kind: olm.KindClusterServiceVersion})
	must(t, s.client.Get(t.Context(), types.NamespacedName{Namespace: testNamespace, Name: "example.v2.0.0"}, csv))
	if phase, _, _ := unstructured.NestedString(csv.Object, "status", "phase"); phase != string(olm.PhaseSucceeded) {
		t.Errorf("example.v2.0.0 is %s", phase)
	}
	if c.calls.Load() == calls {
		t.Error("the webhook was not called during the upgrade")
	}
	// The operator is removed. While there is an object, the webhook stays registered.
	l.Progress = nil
	stored := object("v2")
	must(t, s.client.Get(t.Context(), client.ObjectKeyFromObject(stored), stored))
	stored.SetLabels(map[string]string{"stored": "as-v2"}) // so that it can be deleted without the webhook
	must(t, s.client.Update(t.Context(), stored))
	strategy := func() string {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: olm.GroupCRD, Version: "v1", Kind: olm.KindCRD})
		must(t, s.client.Get(t.Context(), types.NamespacedName{Name: "examples.example.com"}, u))
		v, _, err := unstructured.NestedString(u.Object, "spec", "conversion", "strategy")
		must(t, err)
		return v
	}
	sub := &unstructured.Unstructured{}
	sub.SetGroupVersionKind(schema.GroupVersionKind{Group: olm.Group, Version: "v1alpha1", Kind: olm.KindSubscription})
	must(t, s.client.DeleteAllOf(t.Context(), sub, client.InNamespace(testNamespace)))
	must(t, s.client.Delete(t.Context(), csv))
	_, err = l.Run(t.Context(), testNamespace)
	must(t, err)
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(csv), csv); !apierrors.IsNotFound(err) {
		t.Errorf("the operator is still there: %v", err)
	}
	if got := strategy(); got != "Webhook" {
		t.Errorf("the strategy is %s while there is an object", got)
	}
	must(t, s.client.Delete(t.Context(), object("v2")))
	_, err = l.Run(t.Context(), testNamespace)
	must(t, err)
	if got := strategy(); got != "None" {
		t.Errorf("the strategy is %s without objects", got)
	}
	must(t, s.empty(t.Context()))
}

// E13, E15: an operator with an aggregated API succeeds when the API server can reach it
// with the registered CA, and not before.
func TestAggregatedAPI(t *testing.T) {
	s := newServer(t)
	must(t, s.empty(t.Context()))
	port := listen(t, s.client, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"ext.example.com/v1","resources":[{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","list"]}]}`)
	}))
	w := newWorld(t, s, txtar.Parse(fmt.Appendf(nil, `-- cluster.yaml --
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: group, namespace: ops}
spec: {targetNamespaces: [ops]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: example.v1, namespace: ops}
spec:
  installModes: [{type: OwnNamespace, supported: true}]
  apiservicedefinitions:
    owned: [{name: things, group: ext.example.com, version: v1, kind: Thing, deploymentName: example, containerPort: %d}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: example
        spec:
          selector: {matchLabels: {app: example}}
          template: {metadata: {labels: {app: example}}, spec: {containers: [{name: server, image: example.com/example}]}}
`, port)))
	l := &reconcile.Loop{Cluster: w.server, Content: w.content, MaxPasses: 200}
	// run runs the loop when the API has the given availability, and checks the phase.
	run := func(available string, phase olm.Phase, reason olm.Reason) {
		t.Helper()
		for i := 0; available != ""; i++ {
			api := &unstructured.Unstructured{}
			api.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
			must(t, s.client.Get(t.Context(), types.NamespacedName{Name: "v1.ext.example.com"}, api))
			list, _, err := unstructured.NestedSlice(api.Object, "status", "conditions")
			must(t, err)
			if len(list) == 1 && list[0].(map[string]any)["status"] == available {
				break
			}
			if i == 1200 {
				t.Fatalf("the APIService never has Available %s: %v", available, list)
			}
			time.Sleep(100 * time.Millisecond)
		}
		_, err := l.Run(t.Context(), testNamespace)
		must(t, err)
		csv := &unstructured.Unstructured{}
		csv.SetGroupVersionKind(schema.GroupVersionKind{Group: olm.Group, Version: "v1alpha1", Kind: olm.KindClusterServiceVersion})
		must(t, s.client.Get(t.Context(), types.NamespacedName{Namespace: testNamespace, Name: "example.v1"}, csv))
		status, _, err := unstructured.NestedMap(csv.Object, "status")
		must(t, err)
		if status["phase"] != string(phase) || status["reason"] != string(reason) {
			t.Fatalf("the operator is %s, %s: %s; want %s, %s", status["phase"], status["reason"], status["message"], phase, reason)
		}
	}
	run("", olm.PhaseInstalling, reason.Waiting)
	lead(t, s.client, "localhost")
	run("True", olm.PhaseSucceeded, reason.InstallSuccessful)
	lead(t, s.client, "gone.invalid")
	run("False", olm.PhaseFailed, reason.ComponentUnhealthy)
	lead(t, s.client, "localhost")
	run("True", olm.PhaseSucceeded, reason.InstallSuccessful)

	// Its APIService is deleted with it.
	must(t, s.remove(t.Context(), w.find(olm.KindClusterServiceVersion, "ops/example.v1")[0]))
	_, err := l.Run(t.Context(), testNamespace)
	must(t, err)
	api := &unstructured.Unstructured{}
	api.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	if err := s.client.Get(t.Context(), types.NamespacedName{Name: "v1.ext.example.com"}, api); !apierrors.IsNotFound(err) {
		t.Errorf("the APIService is left: %v", err)
	}
	must(t, s.empty(t.Context()))
}
