package takeover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

// A recorder records the successful writes of a client, except for events. Its writes are in the
// form of the function written.
type recorder struct {
	next http.RoundTripper
	t    *testing.T

	mu     sync.Mutex
	kinds  map[string]schema.GroupVersionKind // by group and resource
	writes map[string]bool
}

// written returns a write in words.
func written(op reconcile.Op, key olm.Key) string { return fmt.Sprintf("%s %s", op, key) }

// RoundTrip sends a request.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil || resp.StatusCode >= 300 || req.Method == http.MethodGet || req.URL.Query().Has("dryRun") {
		return resp, err
	}
	// /api/v1/… or /apis/GROUP/VERSION/…, then namespaces/NAMESPACE/RESOURCE/NAME or RESOURCE/NAME
	path := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	key := olm.Key{}
	if path[0] == "apis" {
		key.Group, path = path[1], path[3:]
	} else {
		path = path[2:]
	}
	if len(path) > 2 && path[0] == "namespaces" && path[2] != "status" {
		key.Namespace, path = path[1], path[2:]
	}
	if key.Group == "events.k8s.io" || key.Group == "authorization.k8s.io" {
		return resp, nil
	}
	op := map[string]reconcile.Op{http.MethodPost: reconcile.Create, http.MethodPut: reconcile.Update, http.MethodPatch: reconcile.Update, http.MethodDelete: reconcile.Delete}[req.Method]
	if len(path) > 2 && path[2] == "status" {
		op = reconcile.UpdateStatus
	}
	if op == reconcile.Create {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		var o struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, err
		}
		path = append(path, o.Metadata.Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	gvk, ok := r.kinds[key.Group+"/"+path[0]]
	if !ok {
		r.t.Errorf("a write of %s", req.URL.Path)
		return resp, nil
	}
	key.Kind, key.Name = gvk.Kind, path[1]
	r.writes[written(op, key)] = true
	return resp, nil
}

func (r *recorder) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.writes))
}

// run runs the controllers of olmkit-controller until the test ends, and records their writes.
func run(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{t: t, writes: map[string]bool{}, kinds: map[string]schema.GroupVersionKind{}}
	config := rest.CopyConfig(env.Config)
	config.ContentType = "application/json"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { r.next = next; return r })
	types := runtime.NewScheme()
	must(t, scheme.AddToScheme(types))
	must(t, kube.AddToScheme(types))
	m, err := manager.New(config, manager.Options{Scheme: types, Metrics: metricsserver.Options{BindAddress: "0"}, Cache: cache.Options{DefaultTransform: kube.Pack()}})
	must(t, err)
	cluster, err := kube.NewCluster(t.Context(), m.GetConfig(), kube.ClusterOptions{
		GlobalNamespace: "olm", RoleNaming: operatorgroup.Running, Cache: m.GetCache(), Mapper: m.GetRESTMapper(), Now: recordedAt,
	})
	must(t, err)
	for _, k := range reconcile.PlannedKinds() {
		r.know(m, k)
	}
	for _, kind := range []string{olm.KindCatalogSource, olm.KindOperatorGroup, olm.KindSubscription, olm.KindInstallPlan, olm.KindClusterServiceVersion, olm.KindOperatorCondition, olm.KindOLMConfig, olm.KindOperator} {
		r.know(m, olm.GroupKind{Group: olm.Group, Kind: kind})
	}
	store := content.New(&content.Options{Sources: content.Sources{Global: "olm", Images: oci.New(nil)}})
	changed := make(chan event.GenericEvent)
	k := &kube.Reconciler{
		Cluster: cluster, Contents: func() reconcile.Content { return store.View() }, Catalogs: changed,
		Options: reconcile.Options{RoleNaming: operatorgroup.Running},
	}
	must(t, k.SetupWithManager(m))
	must(t, (&content.Reconciler{Client: m.GetClient(), Store: store, Owns: k.Writes, Changed: changed}).SetupWithManager(m))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager returned %v", err)
		}
	})
	return r
}

// know lets the recorder translate the resources of a kind.
func (r *recorder) know(m manager.Manager, k olm.GroupKind) {
	r.t.Helper()
	mapping, err := m.GetRESTMapper().RESTMapping(schema.GroupKind{Group: k.Group, Kind: k.Kind})
	must(r.t, err)
	r.kinds[k.Group+"/"+mapping.Resource.Resource] = mapping.GroupVersionKind
}

// settled waits until all of the writes have been made and none has followed for some
// seconds, and returns what was written. After minutes it no longer waits.
func (r *recorder) settled(want []string) []string {
	last, unchanged := 0, 0
	_ = wait.PollUntilContextTimeout(r.t.Context(), 200*time.Millisecond, 4*time.Minute, true, func(context.Context) (bool, error) { // the caller compares
		got := r.list()
		missing := slices.ContainsFunc(want, func(w string) bool { _, found := slices.BinarySearch(got, w); return !found })
		if unchanged++; missing || len(got) != last {
			last, unchanged = len(got), 0
		}
		return unchanged == 20, nil
	})
	return r.list()
}

// serve serves a catalog over HTTP and creates a CatalogSource for it in the global namespace,
// with the status that OLM leaves. It creates others that cannot be read, and an OLMConfig.
func serve(t *testing.T, c client.Client, text []byte) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/jsonl")
		w.Write(text)
	}))
	t.Cleanup(server.Close)
	source := func(name string, spec map[string]any) map[string]any {
		spec["sourceType"] = "grpc"
		return map[string]any{
			"apiVersion": olm.V1Alpha1, "kind": olm.KindCatalogSource, "metadata": map[string]any{"name": name, "namespace": "olm"}, "spec": spec,
			"status": map[string]any{"connectionState": map[string]any{"address": name + ".olm.svc:50051", "lastConnect": "2026-01-01T00:00:00Z", "lastObservedState": "READY"}},
		}
	}
	config := map[string]any{"apiVersion": olm.V1, "kind": olm.KindOLMConfig, "metadata": map[string]any{"name": "cluster"}}
	var objects []olm.Object
	for _, v := range []map[string]any{source("cat", map[string]any{"address": server.URL}), config} {
		text, err := json.Marshal(v)
		must(t, err)
		var o olm.Object
		must(t, json.Unmarshal(text, &o))
		objects = append(objects, o)
	}
	other := source("other", map[string]any{"image": "127.0.0.1:1/none:v1", "address": "other.olm.svc:50051"})
	other["metadata"] = map[string]any{"name": "other", "namespace": "default"}
	text, err := json.Marshal(other)
	must(t, err)
	var o olm.Object
	must(t, json.Unmarshal(text, &o))
	restore(t, c, append(objects, o))
}
