package sidebyside

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/internal/envtest"
)

// A backend is what manages the operators of a cluster.
type backend string

const (
	byOLM    backend = "OLM"
	byOlmkit backend = "olmkit"
)

// kinds lists what scenarios have in their namespaces, and clusterKinds what they have
// outside.
var kinds = []schema.GroupVersionKind{
	{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "CatalogSource"}, {Group: "operators.coreos.com", Version: "v1", Kind: "OperatorGroup"},
	{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription"}, {Group: "operators.coreos.com", Version: "v1alpha1", Kind: "InstallPlan"},
	{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "ClusterServiceVersion"}, {Group: "operators.coreos.com", Version: "v2", Kind: "OperatorCondition"},
	{Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "ServiceAccount"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
	{Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}, {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "batch", Version: "v1", Kind: "Job"}, {Version: "v1", Kind: "Pod"},
}

var clusterKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Namespace"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, {Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
	{Group: "operators.coreos.com", Version: "v1", Kind: "Operator"}, {Group: "operators.coreos.com", Version: "v1", Kind: "OLMConfig"},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
}

var eventKind = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

// kindOf returns the full name of a kind.
func kindOf(kind string) schema.GroupVersionKind {
	for _, k := range slices.Concat(kinds, clusterKinds) {
		if k.Kind == kind {
			return k
		}
	}
	panic("unknown kind " + kind)
}

// A cluster is a control plane with a backend.
type cluster struct {
	client.Client
	watched  cache.Cache // what listAll reads
	t        *testing.T
	env      *envtest.Environment
	backend  backend
	dir      string
	kubeconf string // of the backend
	running  []*process
	gated    bool   // the backend goes through gate
	gate     *gate  // is renewed with the configuration
	unplayed func() // stops what plays the missing controllers, and watched

	mu       sync.Mutex
	catalogs map[types.NamespacedName]*catalog
}

// newCluster starts a backend in a control plane, and what plays the missing controllers.
func newCluster(t *testing.T, env *envtest.Environment, b backend) *cluster {
	t.Helper()
	env.Config.QPS = -1
	c, err := client.New(env.Config, client.Options{})
	must(t, err)
	s := &cluster{Client: c, t: t, env: env, backend: b, dir: t.TempDir(), catalogs: map[types.NamespacedName]*catalog{}}
	must(t, client.IgnoreAlreadyExists(s.create(namespace("olm", nil))))
	must(t, client.IgnoreAlreadyExists(s.create(obj{"apiVersion": "operators.coreos.com/v1", "kind": "OLMConfig", "metadata": obj{"name": "cluster"}})))
	s.also(b)
	s.kubeconf = s.kubeconfOf(b)
	ctx, cancel := context.WithCancel(context.Background())
	// Polling would cost the API server more than the backend does.
	s.watched, err = cache.New(env.Config, cache.Options{DefaultTransform: cache.TransformStripManagedFields()})
	must(t, err)
	var background sync.WaitGroup
	background.Go(func() {
		if err := s.watched.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	background.Go(func() { s.play(ctx) })
	s.unplayed = func() { cancel(); background.Wait() }
	t.Cleanup(func() {
		s.stop()
		for _, c := range s.catalogs {
			c.stop()
		}
		s.unplayed()
	})
	s.start()
	return s
}

// kubeconfig returns the configuration for a backend: of an administrator for OLM, and of an
// account with the permissions that it prints for olmkit.
func (s *cluster) kubeconfig(b backend) []byte {
	if b == byOLM {
		return s.env.KubeConfig()
	}
	text, err := kube.Manifests("olm", "olmkit")
	must(s.t, err)
	for doc := range bytes.SplitSeq(text, []byte("---\n")) {
		var o obj
		must(s.t, yaml.Unmarshal(doc, &o))
		must(s.t, client.IgnoreAlreadyExists(s.create(o)))
	}
	// E7: the account may read custom resources, as docs/recipes/cluster.md recommends.
	must(s.t, client.IgnoreAlreadyExists(s.create(obj{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": obj{"name": "olmkit-view"},
		"rules": list{obj{"apiGroups": list{"*"}, "resources": list{"widgets", "gadgets"}, "verbs": list{"get", "list"}}},
	})))
	must(s.t, client.IgnoreAlreadyExists(s.create(obj{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": obj{"name": "olmkit-view"},
		"roleRef":  obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "olmkit-view"},
		"subjects": list{obj{"kind": "ServiceAccount", "namespace": "olm", "name": "olmkit"}},
	})))
	k, err := kubernetes.NewForConfig(s.env.Config)
	must(s.t, err)
	seconds := int64(24 * 60 * 60)
	r, err := k.CoreV1().ServiceAccounts("olm").CreateToken(context.Background(), "olmkit",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	must(s.t, err)
	config := rest.AnonymousClientConfig(s.env.Config)
	out, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "c",
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: r.Status.Token}},
	})
	must(s.t, err)
	return out
}

// start starts the processes of the backend.
func (s *cluster) start() {
	s.t.Helper()
	if s.backend == byOLM {
		for _, name := range []string{"olm", "catalog"} {
			s.running = append(s.running, s.spawn(name, filepath.Join(*olmBinaries, name), "--namespace", "olm"))
		}
		return
	}
	s.running = append(s.running, s.spawn("olmkit", controller(s.t), "--kubeconfig", s.kubeconf, "--global-namespace", "olm", "--allow-private-catalogs",
		"--catalog-interval=3s", "--catalog-grace=5s", "--catalog-patience=10s", "--metrics-bind-address=0", "--health-probe-bind-address=0"))
}

// stop kills the processes of the backend.
func (s *cluster) stop() {
	for _, p := range s.running {
		p.stop()
	}
	s.running = nil
}

// controller builds olmkit-controller, once.
var controller = func() func(*testing.T) string {
	var once sync.Once
	var path string
	return func(t *testing.T) string {
		once.Do(func() {
			path = filepath.Join(shared, "olmkit-controller")
			if out, err := exec.Command("go", "build", "-o", path, "github.com/olmkit/olmkit/kube/cmd/olmkit-controller").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
		return path
	}
}()

// A process is killed when stop is called, or when this process is gone.
type process struct {
	cmd   *exec.Cmd
	alive io.Closer
	pid   string // the file with its process ID
}

// spawn starts a program, which writes its log into a file.
func (s *cluster) spawn(name, path string, args ...string) *process {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(s.t, err)
	defer log.Close()
	pid := filepath.Join(s.dir, name+".pid")
	cmd := exec.Command("/bin/sh", append([]string{"-c", `"$@" & p=$!; echo $p >"$0"; cat; kill -9 $p; wait $p; exit 0`, pid, path}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconf, "OPERATOR_NAMESPACE=olm", "OPERATOR_NAME=olm-operator")
	alive, err := cmd.StdinPipe()
	must(s.t, err)
	must(s.t, cmd.Start())
	return &process{cmd, alive, pid}
}

func (p *process) stop() {
	p.alive.Close()
	p.cmd.Wait() // it was killed
}

// A catalog is served by gRPC to OLM and by HTTP to olmkit, at one port.
type catalog struct {
	dir, address string
	end          func()
}

func (c *catalog) stop() {
	if c.end != nil {
		c.end()
		c.end = nil
	}
}

// catalog serves a catalog and creates its CatalogSource.
func (s *cluster) catalog(ns, name string, blobs ...[]obj) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.t, err)
	c := &catalog{dir: filepath.Join(s.dir, "catalogs", ns, name), address: l.Addr().String()}
	must(s.t, l.Close())
	must(s.t, os.MkdirAll(c.dir, 0o755))
	c.write(s.t, blobs...)
	s.mu.Lock()
	s.catalogs[types.NamespacedName{Namespace: ns, Name: name}] = c
	s.mu.Unlock()
	s.serve(ns, name)
	must(s.t, s.create(obj{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": obj{"name": name, "namespace": ns},
		"spec": obj{"sourceType": "grpc", "address": s.address(c), "displayName": name},
	}))
}

// address returns the address of a catalog for the backend.
func (s *cluster) address(c *catalog) string {
	if s.backend == byOLM {
		return c.address
	}
	return "http://" + c.address
}

func (s *cluster) unserve(ns, name string) { s.of(ns, name).stop() }

func (s *cluster) of(ns, name string) *catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catalogs[types.NamespacedName{Namespace: ns, Name: name}]
}

// serve serves a catalog to the backend.
func (s *cluster) serve(ns, name string) {
	s.t.Helper()
	c := s.of(ns, name)
	_, port, err := net.SplitHostPort(c.address)
	must(s.t, err)
	if s.backend == byOLM {
		p := s.spawn("opm-"+ns+"-"+name, filepath.Join(*olmBinaries, "opm"), "serve", c.dir, "--port", port, "--pprof-addr", "",
			"--termination-log", filepath.Join(s.t.TempDir(), "log"))
		c.end = p.stop
		eventually(s.t, "the catalog is served", func() bool {
			conn, err := net.Dial("tcp", c.address)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		return
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "catalog.json"))
	must(s.t, err)
	var l net.Listener
	eventually(s.t, "the port is free", func() bool { l, err = net.Listen("tcp", c.address); return err == nil })
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/all" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))))
		w.Header().Set("Content-Type", "application/jsonl")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	})}
	go srv.Serve(l) // Close ends it
	c.end = func() { srv.Close() }
}

// update applies a JSON merge patch.
func (s *cluster) update(kind, ns, name string, patch obj) {
	s.t.Helper()
	text, err := json.Marshal(patch)
	must(s.t, err)
	must(s.t, s.Patch(context.Background(), named(kind, ns, name), client.RawPatch(types.MergePatchType, text)))
}

func (s *cluster) create(o obj) error { return s.Create(context.Background(), unstructuredOf(o)) }

// unstructuredOf returns a copy of an object with the types that decoded JSON has.
func unstructuredOf(o obj) *unstructured.Unstructured {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	return u
}

// play makes deployments available, and deletes objects none of whose owners exist, until ctx
// is done.
func (s *cluster) play(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(200 * time.Millisecond)
		deployments, err := s.listAll(ctx, kindOf("Deployment"))
		if err != nil {
			continue
		}
		for i := range deployments {
			s.deploy(ctx, &deployments[i])
		}
		if n%6 == 0 {
			s.collect(ctx)
		}
	}
}

// listAll lists objects by namespace and name, as they were a moment ago.
func (s *cluster) listAll(ctx context.Context, k schema.GroupVersionKind, opts ...client.ListOption) ([]unstructured.Unstructured, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	err := s.watched.List(ctx, l, opts...)
	slices.SortFunc(l.Items, func(a, b unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return l.Items, err
}

// deploy sets the status of a deployment: available, unless its image is broken. A deployment
// whose image is slow has no status yet.
func (s *cluster) deploy(ctx context.Context, d *unstructured.Unstructured) {
	containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
	text, _ := json.Marshal(containers)
	if seen, _, _ := unstructured.NestedInt64(d.Object, "status", "observedGeneration"); seen == d.GetGeneration() || bytes.Contains(text, []byte("/slow:")) {
		return
	}
	_ = s.setStatus(ctx, d, !bytes.Contains(text, []byte("/broken:"))) // the next turn repeats it
}

// setStatus makes a deployment available, or lets it fail.
func (s *cluster) setStatus(ctx context.Context, d *unstructured.Unstructured, available bool) error {
	generation := d.GetGeneration()
	replicas, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
	is := func(ok, no string) string {
		if available {
			return ok
		}
		return no
	}
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind, reason string) obj {
		return obj{"type": kind, "status": is("True", "False"), "reason": reason, "message": "played", "lastUpdateTime": now, "lastTransitionTime": now}
	}
	ready, waiting := replicas, int64(0)
	if !available {
		ready, waiting = 0, replicas
	}
	patch, _ := json.Marshal(obj{"status": obj{
		"observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": waiting,
		"conditions": list{
			condition("Available", is("MinimumReplicasAvailable", "MinimumReplicasUnavailable")),
			condition("Progressing", is("NewReplicaSetAvailable", "ProgressDeadlineExceeded")),
		},
	}})
	return s.Status().Patch(ctx, d, client.RawPatch(types.MergePatchType, patch))
}

// collect deletes the objects none of whose owners exist, and removes owners that do not exist
// from others, as Kubernetes does.
func (s *cluster) collect(ctx context.Context) {
	var all []unstructured.Unstructured
	exists := map[types.UID]bool{}
	for i, k := range slices.Concat(kinds, clusterKinds) {
		items, err := s.listAll(ctx, k)
		if err != nil {
			return
		}
		for _, u := range items {
			exists[u.GetUID()] = true
		}
		if i < len(kinds) {
			all = append(all, items...)
		}
	}
	for _, u := range all {
		owners := u.GetOwnerReferences()
		if len(owners) == 0 || u.GetDeletionTimestamp() != nil {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(owners), func(o metav1.OwnerReference) bool { return !exists[o.UID] && s.isGone(ctx, u.GetNamespace(), o) })
		// The next turn repeats what fails.
		switch {
		case len(left) == 0:
			_ = s.Delete(ctx, &u, client.Preconditions{UID: new(u.GetUID()), ResourceVersion: new(u.GetResourceVersion())})
		case len(left) < len(owners):
			u.SetOwnerReferences(left)
			_ = s.Update(ctx, &u)
		}
	}
}

// isGone reports whether the owner of an object does not exist. It may have been created after
// the owners were listed.
func (s *cluster) isGone(ctx context.Context, ns string, owner metav1.OwnerReference) bool {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(owner.APIVersion)
	u.SetKind(owner.Kind)
	err := s.Get(ctx, types.NamespacedName{Namespace: ns, Name: owner.Name}, u)
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || err == nil && u.GetUID() != owner.UID
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition, for minutes on a slow machine.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within minutes: %s", what)
		}
	}
}

func namespace(name string, labels obj) obj {
	return obj{"apiVersion": "v1", "kind": "Namespace", "metadata": obj{"name": name, "labels": labels}}
}
