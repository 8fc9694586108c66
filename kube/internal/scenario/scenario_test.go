package scenario_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

var env envtest.Environment

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // failures report their cause
	envtest.Main(m, &env)
}

const testNamespace = "ops"

// A content adds the manifests of a scenario to those generated from catalogs.
type content struct {
	t *testing.T
	*reconcile.Catalogs
	manifests map[string][]olm.Object
}

// Manifests returns the manifests of a bundle.
func (c content) Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error) {
	if list, ok := c.manifests[b.Name()]; ok {
		return list, nil
	}
	list, err := c.Catalogs.Manifests(ctx, id, b)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	for i := range list {
		complete(c.t, &list[i])
	}
	return list, nil
}

// A world is a scenario in memory and on a real API server at once.
type world struct {
	t       *testing.T
	memory  *memcluster.Cluster
	server  *server
	content content
	files   map[string][]byte
	refused map[string]error // the errors of the server, by kind and name
}

// After each run of a scenario of package reconcile, a real API server has the same objects
// as the cluster in memory.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../../../reconcile/testdata/scenario/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	s := newServer(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			must(t, s.empty(t.Context()))
			newWorld(t, s, a).play()
		})
	}
	must(t, s.empty(t.Context()))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newServer(t *testing.T) *server {
	ctx := t.Context()
	s := &server{}
	c, err := client.New(env.Config, client.Options{})
	must(t, err)
	cluster, err := kube.NewCluster(ctx, account(t, c), kube.ClusterOptions{Now: func() time.Time { return s.now }})
	must(t, err)
	// The cluster in memory does not check permissions; TestServiceAccount in package kube
	// tests them.
	may := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "accounts-may-do-all"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:serviceaccounts:" + testNamespace}},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
	}}
	must(t, client.IgnoreAlreadyExists(c.Create(ctx, may)))
	s.Cluster, s.client = cluster, c
	list, err := s.list(ctx)
	must(t, err)
	initial := map[olm.Key]bool{}
	for _, u := range list {
		initial[keyOf(u)] = true
	}
	s.initial = initial
	return s
}

func newWorld(t *testing.T, s *server, a *txtar.Archive) *world {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(env.Config)
	must(t, err)
	version, err := d.ServerVersion()
	must(t, err)
	s.unavailable = map[string]bool{}
	s.now = time.Now().Truncate(time.Second) // the time of both clusters, which only sleep changes
	w := &world{
		t: t, server: s, files: map[string][]byte{}, refused: map[string]error{},
		content: content{t, &reconcile.Catalogs{StandIns: true}, map[string][]olm.Object{}},
		memory:  &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: version.GitVersion, Controllers: true},
	}
	w.memory.Now = func() time.Time { return s.now }
	w.memory.Admit = func(c reconcile.Change) error { return w.refused[c.Key().Kind+" "+c.Key().Name] }
	w.memory.Available = func(d *olm.Deployment) bool { return !s.unavailable[d.Metadata.Name] }
	var names []string
	for _, f := range a.Files {
		w.files[f.Name] = f.Data
		names = append(names, f.Name)
	}
	slices.Sort(names)
	// The namespaces of an empty cluster matter to operators that watch all namespaces.
	for k := range s.initial {
		if k.Kind == "Namespace" {
			o := namespace(k.Name)
			o.Metadata.Labels = map[string]string{"kubernetes.io/metadata.name": k.Name}
			must(t, w.memory.Put(o))
		}
	}
	w.put(namespace("olm"))
	w.put(namespace(testNamespace))
	for _, name := range names {
		switch dir, base, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "/"); dir {
		case "catalog":
			w.catalog(base, name)
			ns, n, _ := strings.Cut(base, "/")
			src := &olm.Object{}
			must(t, yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: %q, namespace: %q}
spec: {sourceType: grpc, address: "nowhere:50051"}
status: {connectionState: {lastObservedState: READY}}
`, n, ns), src))
			w.put(src)
		case "manifests":
			w.content.manifests[base] = w.objects(name)
		}
	}
	list := w.objects("cluster.yaml")
	// Namespaces first: on a real cluster they must exist before their objects.
	slices.SortStableFunc(list, func(a, b olm.Object) int { return rank(a) - rank(b) })
	for i := range list {
		w.put(&list[i])
	}
	return w
}

func rank(o olm.Object) int {
	switch o.Kind {
	case "Namespace":
		return 0
	case olm.KindCRD:
		return 1
	}
	return 2
}

func namespace(name string) *olm.Object {
	o := &olm.Object{}
	o.APIVersion, o.Kind, o.Metadata.Name = "v1", "Namespace", name
	return o
}

// put adds an object to both clusters and creates its namespace if necessary.
func (w *world) put(o *olm.Object) {
	w.t.Helper()
	if ns := o.Metadata.Namespace; ns != "" {
		if _, err := w.memory.Get(namespace(ns).Key()); err != nil {
			w.put(namespace(ns))
		}
	}
	if o.Kind == "Namespace" && o.Metadata.Labels["kubernetes.io/metadata.name"] == "" {
		labels := map[string]string{"kubernetes.io/metadata.name": o.Metadata.Name}
		for k, v := range o.Metadata.Labels {
			labels[k] = v
		}
		o.Metadata.Labels = labels
	}
	must(w.t, w.server.put(w.t.Context(), *o))
	if old, err := w.memory.Get(o.Key()); err == nil {
		o.Metadata.Generation = old.Metadata.Generation + 1
	}
	must(w.t, w.memory.Put(o))
}

func (w *world) catalog(id, file string) {
	w.t.Helper()
	blobs, err := fbc.LoadReader(w.t.Context(), bytes.NewReader(w.files[file]), file, &fbc.LoadOptions{KeepAll: true})
	must(w.t, err)
	ns, name, _ := strings.Cut(id, "/")
	must(w.t, w.content.Add(w.t.Context(), resolver.CatalogID{Name: name, Namespace: ns}, blobs))
}

func (w *world) objects(file string) []olm.Object {
	w.t.Helper()
	var list []olm.Object
	for doc := range bytes.SplitSeq(w.files[file], []byte("---\n")) {
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		var o olm.Object
		must(w.t, yaml.Unmarshal(doc, &o))
		complete(w.t, &o)
		list = append(list, o)
	}
	return list
}

// find returns the objects in memory with a kind and name, as written in a script.
func (w *world) find(kind, name string) []olm.Object {
	w.t.Helper()
	ns, n, _ := strings.Cut(name, "/")
	var list []olm.Object
	for _, o := range w.memory.List() {
		if o.Kind == kind && o.Metadata.Namespace == strings.TrimPrefix(ns, "-") && (n == "*" || o.Metadata.Name == n) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		w.t.Fatalf("there is no %s %s", kind, name)
	}
	return list
}

// manifest returns the object of a bundle.
func (w *world) manifest(kind, name string) olm.Object {
	w.t.Helper()
	for _, list := range w.content.manifests {
		for _, o := range list {
			if o.Kind == kind && o.Metadata.Name == name {
				return o
			}
		}
	}
	w.t.Fatalf("no bundle has %s %s", kind, name)
	return olm.Object{}
}

func (w *world) play() {
	t, ctx := w.t, w.t.Context()
	runs := 0
	for line := range strings.Lines(string(w.files["script"])) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "run":
			runs++
			var errs []error
			for _, c := range []reconcile.Cluster{w.memory, w.server} {
				l := &reconcile.Loop{Cluster: c, Content: w.content, MaxPasses: 200, Options: reconcile.Options{NewKey: fixedKey, CheckResources: crd.Check}}
				_, err := l.Run(ctx, testNamespace)
				errs = append(errs, err)
			}
			if (errs[0] == nil) != (errs[1] == nil) {
				t.Errorf("run %d ends on the server with %v, in memory with %v", runs, errs[1], errs[0])
			}
			if w.compare(fmt.Sprintf("run %d", runs)); t.Failed() {
				return // later steps would differ too
			}
		case "approve":
			for _, o := range w.memory.List() {
				if o.Kind != olm.KindInstallPlan {
					continue
				}
				must(t, w.server.change(ctx, o, func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["approved"] = true }))
				p, err := olm.As[olm.InstallPlan](o)
				must(t, err)
				p.Spec.Approved = true
				must(t, w.memory.Put(p))
			}
		case "put":
			for _, o := range w.objects(f[1]) {
				w.put(&o)
			}
		case "delete":
			for _, o := range w.find(f[1], f[2]) {
				must(t, w.server.remove(ctx, o))
				must(t, w.memory.Delete(o.Key()))
			}
		case "hold", "finalize":
			o := w.find(f[1], f[2])[0]
			o.Metadata.Finalizers = slices.DeleteFunc(o.Metadata.Finalizers, func(f string) bool { return f == "example.com/held" })
			if f[0] == "hold" {
				o.Metadata.Finalizers = append(o.Metadata.Finalizers, "example.com/held")
			}
			must(t, w.server.change(ctx, o, func(u *unstructured.Unstructured) { u.SetFinalizers(o.Metadata.Finalizers) }))
			must(t, w.memory.Put(&o))
			must(t, w.server.collect(ctx))
		case "catalog":
			w.catalog(f[1], f[2])
		case "unavailable", "available":
			w.server.unavailable[f[1]] = f[0] == "unavailable"
			for _, o := range w.memory.List() {
				if o.Kind == "Deployment" && o.Metadata.Name == f[1] {
					must(t, w.memory.Put(&o))
					must(t, w.server.control(ctx, o))
				}
			}
		case "sleep":
			d, err := time.ParseDuration(f[1])
			must(t, err)
			w.server.now = w.server.now.Add(d)
		case "refuse":
			w.refused[f[1]+" "+f[2]] = w.server.refuse(t, w.manifest(f[1], f[2]))
		case "permit":
			delete(w.refused, f[1]+" "+f[2])
			w.server.permit(t, w.manifest(f[1], f[2]))
		case "show":
		default:
			t.Fatalf("unknown command %q", line)
		}
	}
	if runs == 0 {
		t.Fatal("a scenario without a run")
	}
}

// fixedKey returns the same key each time.
func fixedKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), append(make([]byte, 31), 7))
}

// groupLabel matches the label of the target namespaces of an operator group.
var groupLabel = regexp.MustCompile(`olm\.operatorgroup\.uid/[-0-9a-f]+`)

// compare checks that both clusters have the same objects, and that an object on the server
// has all fields of the one in memory. The server may add fields.
func (w *world) compare(when string) {
	w.t.Helper()
	list, err := w.server.list(w.t.Context())
	must(w.t, err)
	real := map[olm.Key]map[string]any{}
	for _, u := range list {
		real[keyOf(u)] = u.Object
	}
	for _, o := range w.memory.List() {
		if w.server.initial[o.Key()] {
			continue
		}
		r, ok := real[o.Key()]
		if !ok {
			w.t.Errorf("%s: the server has no %s", when, o.Key())
			continue
		}
		delete(real, o.Key())
		text, err := o.MarshalJSON()
		must(w.t, err)
		var m map[string]any
		must(w.t, json.Unmarshal(groupLabel.ReplaceAll(text, []byte("olm.operatorgroup.uid/masked")), &m))
		text, err = json.Marshal(r)
		must(w.t, err)
		r = nil
		must(w.t, json.Unmarshal(groupLabel.ReplaceAll(text, []byte("olm.operatorgroup.uid/masked")), &r))
		for _, d := range lacks(nil, "", m, r) {
			w.t.Errorf("%s: %s %s", when, o.Key(), d)
		}
	}
	for k := range real {
		w.t.Errorf("%s: the server has %s, too", when, k)
	}
}

// own lists the fields whose values differ between clusters.
var own = []string{"uid", "uuid", "resourceVersion", "generation", "observedGeneration", "creationTimestamp", "deletionTimestamp", "managedFields"}

// lacks appends the parts of a value in memory that the server's value lacks.
func lacks(out []string, path string, memory, server any) []string {
	switch m := memory.(type) {
	case map[string]any:
		s, ok := server.(map[string]any)
		if !ok {
			break
		}
		for name, v := range m {
			if slices.Contains(own, name) {
				continue
			}
			x, ok := s[name]
			if !ok && isEmpty(v) {
				continue // omitted, or dropped by the schema
			}
			out = lacks(out, path+"/"+name, v, x)
		}
		return out
	case []any:
		s, ok := server.([]any)
		if !ok || len(s) != len(m) {
			break
		}
		for i := range m {
			out = lacks(out, fmt.Sprint(path, "/", i), m[i], s[i])
		}
		return out
	}
	if reflect.DeepEqual(memory, server) {
		return out
	}
	a, _ := json.Marshal(memory)
	b, _ := json.Marshal(server)
	return append(out, fmt.Sprintf("%s is %s, in memory %s", path, b, a))
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	}
	return false
}
