package extension_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/kube/registryv1"
)

const systemNamespace = "olmv1-system"

// A stage is an API server with a controller, catalogs and bundles. No pods run: deployments
// become available at once, except those that are broken.
type stage struct {
	t      *testing.T
	env    *envtest.Environment
	client client.Client
	server *httptest.Server

	mu       sync.Mutex
	catalogs map[string]map[string]string // content, by name and package
	bundles  map[string][]byte            // by image
	real     map[string]string            // directories of bundles, by image
	broken   map[string]bool              // by name of the deployment
	slow     map[string]bool              // packages whose registries do not answer
	ahead    time.Duration                // of the controller's clock

	extensions, heap int        // see the command memory
	kubeletBusy      sync.Mutex // held while the kubelet has lists of objects in memory

	groups       []string // of the user who applies objects
	experimental bool     // the cluster has ClusterObjectSets

	stop     func()
	requests atomic.Int64 // of controllers
	kills    bool         // each controller makes one write
}

// Scripts in testdata/script state what a cluster has, what happens, and what it has then.
// They run on a real API server, with the CRDs of the standard channel of OLM v1, which are
// the real ones where those are available, and with those of the experimental channel. The
// condition [experimental] is true there. Commands:
//
//   - namespace NAME creates a namespace.
//   - bundle PACKAGE VERSION [FILE] adds a bundle with testdata/bundle.yaml and the manifests in
//     a file, or only with these if they have a CSV. @PACKAGE@ and @VERSION@ are replaced, @BIG@ by the
//     properties of a schema of a megabyte, and @WIDE@ by many properties. Without arguments it removes all bundles.
//   - catalog NAME PACKAGE VERSION... serves a catalog in which each version of a package
//     replaces the last. It replaces what the catalog had of that package.
//   - apply FILE applies objects as a user, and delete KIND NAME deletes one. "! apply" waits until
//     the API server rejects them with an error that contains the arguments after FILE.
//   - warned FILE TEXT applies objects until the API server warns with a text that contains another,
//     and "! warned FILE" applies them without any warning.
//   - patch KIND NAME JSON merges fields into an object.
//   - as GROUP... has apply act as a user in these groups, too.
//   - status FILE sets the status of objects.
//   - broken NAME... lists the deployments that do not become available.
//   - slow PACKAGE... lists the packages whose images are in registries that do not answer, one for each.
//   - later DURATION advances the clock of the controller.
//   - many NAMESPACE applies extensions of 50 packages, or of 1,000 if tests are large, and waits
//     until they are installed. With "many NAMESPACE N FILE" there are N, and their bundles have the
//     manifests in a file.
//   - memory KB checks that the memory of this program has grown by at most so much for each of
//     those extensions. That includes what the test keeps.
//   - real NAMESPACE N applies extensions of N real bundles that need nothing but an API server,
//     and waits until they are installed.
//   - quiet checks that the controller makes no requests while nothing changes, except watches.
//   - release EXTENSION N STATUS VERSION installs a bundle of the package with that name as operator-controller
//     does with Helm: it writes release N with a status and, if that is deployed, the objects.
//   - restart ends the controller and starts another one.
//   - kills has each controller killed after its first write, and another one started.
//   - field KIND NAME PATH VALUE waits until a field of an object has a value. Elements of lists
//     have numbers, and dots in keys follow a backslash.
//   - state FILE waits until the cluster is in a state. With -update it waits until nothing
//     changes any more, and prints the state.
func TestScripts(t *testing.T) { // K63, K64, K69
	log.SetLogger(logr.Discard())
	t.Run("standard", func(t *testing.T) {
		t.Parallel()
		crds := ownCRDs
		if _, err := os.Stat("../../../shared/crds"); err == nil {
			crds = realcat.Shared(t, "crds")
		}
		scripts(t, "testdata/script", crds)
	})
	t.Run("experimental", func(t *testing.T) {
		t.Parallel()
		scripts(t, "testdata/script", experimentalCRDs...)
	})
}

// TestMemory runs scripts that measure memory. Nothing else runs at the same time.
func TestMemory(t *testing.T) {
	log.SetLogger(logr.Discard())
	t.Run("standard", func(t *testing.T) { scripts(t, "testdata/memory", ownCRDs) })
	if testsize.Of(false, true, true) {
		t.Run("experimental", func(t *testing.T) { scripts(t, "testdata/memory", experimentalCRDs...) })
	}
}

// experimentalCRDs are those of the experimental channel.
var experimentalCRDs = []string{ownCRDs + "/clustercatalogs.yaml", "testdata/experimental"}

func scripts(t *testing.T, dir string, crds ...string) {
	s := &stage{t: t, env: &envtest.Environment{}, experimental: len(crds) > 1}
	if err := s.env.Start(crds...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.env.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/catalogs/"), "/")
		s.mu.Lock()
		defer s.mu.Unlock()
		io.WriteString(w, s.content(name))
	}))
	t.Cleanup(s.server.Close)
	var err error
	if s.client, err = client.New(s.env.Config, client.Options{Scheme: s.scheme()}); err != nil {
		t.Fatal(err)
	}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}})
	ctx, cancel := context.WithCancel(t.Context())
	var kubelet sync.WaitGroup
	kubelet.Go(func() { s.kubelet(ctx) })
	t.Cleanup(func() { cancel(); kubelet.Wait() })
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir: dir, ContinueOnError: false, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			s.mu.Lock()
			s.groups, s.catalogs, s.bundles, s.real, s.broken, s.slow, s.ahead, s.kills = nil, map[string]map[string]string{}, map[string][]byte{}, map[string]string{}, map[string]bool{}, map[string]bool{}, 0, false
			s.mu.Unlock()
			s.start()
			e.Defer(s.clean)
			return nil
		},
		Condition: func(name string) (bool, error) { // [shared]: real bundles are there
			_, err := os.Stat("../../../shared/conformance/v1render/bundles")
			large := testsize.Of(false, false, true)
			return name == "shared" && err == nil || name == "experimental" && s.experimental || name == "large" && large, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"namespace": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(s.client.Create(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: args[0]}}))
			},
			"bundle":  s.bundle,
			"catalog": s.catalog,
			"apply":   s.apply,
			"delete":  s.delete,
			"broken": func(_ *testscript.TestScript, _ bool, args []string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				clear(s.broken)
				for _, name := range args {
					s.broken[name] = true
				}
			},
			"slow": func(_ *testscript.TestScript, _ bool, args []string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				clear(s.slow)
				for _, name := range args {
					s.slow[name] = true
				}
			},
			"later": func(ts *testscript.TestScript, _ bool, args []string) {
				d, err := time.ParseDuration(args[0])
				ts.Check(err)
				s.mu.Lock()
				s.ahead += d
				s.mu.Unlock()
			},
			"restart": func(*testscript.TestScript, bool, []string) { s.stop(); s.start() },
			"kills": func(*testscript.TestScript, bool, []string) {
				s.stop()
				s.mu.Lock()
				s.kills = true
				s.mu.Unlock()
				s.start()
			},
			"warned":  s.warned,
			"patch":   s.patch,
			"status":  s.setStatus,
			"as":      func(_ *testscript.TestScript, _ bool, args []string) { s.groups = args },
			"field":   s.field,
			"real":    s.realBundles,
			"many":    s.many,
			"quiet":   s.quiet,
			"memory":  s.memory,
			"release": s.release,
			"state":   s.state,
		},
	})
}

// inTurn runs scripts one after another, because they share the cluster.
type inTurn struct{ *testing.T }

func (t inTurn) Parallel()     {}
func (t inTurn) Verbose() bool { return testing.Verbose() }
func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

func (s *stage) scheme() *runtime.Scheme {
	types := scheme(s.t)
	if err := clientscheme.AddToScheme(types); err != nil {
		s.t.Fatal(err)
	}
	return types
}

func (s *stage) create(o client.Object) {
	if err := s.client.Create(s.t.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		s.t.Fatal(err)
	}
}

// Bundle makes a stage the source of its bundles.
func (s *stage) Bundle(ctx context.Context, image string) (*registryv1.Bundle, error) {
	if strings.Contains(image, ".slow.example/") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.mu.Lock()
	text, ok := s.bundles[image]
	dir := s.real[image]
	s.mu.Unlock()
	if dir != "" {
		return registryv1.Read(ctx, os.DirFS(dir), nil)
	}
	if !ok {
		return nil, fmt.Errorf("%s: no such image", image)
	}
	pkg, _, _ := strings.Cut(strings.TrimPrefix(image, "registry.example/"), ":")
	return registryv1.FromObjects(ctx, pkg, [][]byte{text}, nil)
}

func (s *stage) bundle(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(s.bundles)
		return
	}
	text, err := os.ReadFile("testdata/bundle.yaml")
	ts.Check(err)
	if len(args) > 2 {
		more := ts.ReadFile(args[2])
		if strings.Contains(more, "kind: ClusterServiceVersion") {
			text = nil
		}
		text = append(text, "\n---\n"+more...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bundles["registry.example/"+args[0]+":"+args[1]] = []byte(strings.NewReplacer("@PACKAGE@", args[0], "@VERSION@", args[1], "@BIG@", bigSchema, "@WIDE@", wideSchema).Replace(string(text)))
}

// wideSchema has 1,500 properties, as the largest CRDs of real bundles.
var wideSchema = func() string {
	var list []string
	for i := range 1500 {
		list = append(list, fmt.Sprintf("field%d: {type: string, description: the description of one of many fields}", i))
	}
	return "{" + strings.Join(list, ", ") + "}"
}()

// bigSchema has 250 properties of 4 KiB.
var bigSchema = func() string {
	var list []string
	for i := range 250 {
		list = append(list, fmt.Sprintf("field%d: {type: string, description: %s}", i, strings.Repeat("a long text ", 350)))
	}
	return "{" + strings.Join(list, ", ") + "}"
}()

func (s *stage) catalog(ts *testscript.TestScript, _ bool, args []string) {
	name, pkg := args[0], args[1]
	text := fmt.Sprintf(`{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`+"\n", pkg)
	channel := strings.ReplaceAll(channelText("stable", args[2:]...), "etcd", pkg)
	for _, v := range args[2:] {
		channel += strings.ReplaceAll(bundleText(v), "etcd", pkg)
	}
	s.mu.Lock()
	if s.slow[pkg] {
		channel = strings.ReplaceAll(channel, "registry.example/", pkg+".slow.example/")
	}
	if s.catalogs[name] == nil {
		s.catalogs[name] = map[string]string{}
	}
	s.catalogs[name][pkg] = text + channel
	s.mu.Unlock()
	cat := &clusterCatalogs(s.t, name)[0]
	err := s.client.Create(s.t.Context(), cat)
	if apierrors.IsAlreadyExists(err) {
		err = s.client.Get(s.t.Context(), client.ObjectKeyFromObject(cat), cat)
	}
	ts.Check(err)
	at := metav1.NewTime(time.Now().Truncate(time.Second))
	s.mu.Lock()
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(s.content(name))))
	s.mu.Unlock()
	cat.Status = api.ClusterCatalogStatus{
		Conditions:     []metav1.Condition{{Type: "Serving", Status: "True", Reason: "Available", LastTransitionTime: at}},
		URLs:           &api.ClusterCatalogURLs{Base: s.server.URL + "/catalogs/" + name},
		LastUnpacked:   &at,
		ResolvedSource: &api.ResolvedCatalogSource{Type: "Image", Image: &api.ResolvedImageSource{Ref: "registry.example/catalog@sha256:" + digest}},
	}
	ts.Check(s.client.Status().Update(s.t.Context(), cat))
}

// content returns the content of a catalog.
func (s *stage) content(name string) (out string) {
	for _, pkg := range slices.Sorted(maps.Keys(s.catalogs[name])) {
		out += s.catalogs[name][pkg]
	}
	return out
}

func (s *stage) many(ts *testscript.TestScript, _ bool, args []string) {
	n := testsize.Of(50, 50, 1000)
	if len(args) > 1 {
		var err error
		n, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	s.kubeletBusy.Lock()
	s.extensions, s.heap = n, heap()
	s.kubeletBusy.Unlock()
	for i := range n {
		name := fmt.Sprintf("many-%d", i)
		s.bundle(ts, false, append([]string{name, "1.0.0"}, args[min(len(args), 2):]...))
		s.catalog(ts, false, []string{"community", name, "1.0.0"})
	}
	for i := range n {
		s.extension(ts, fmt.Sprintf("many-%d", i), args[0])
	}
	s.installed(ts, n)
}

// heap returns how much memory is in use.
func heap() int {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.GC() // of pools, too
	goruntime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func (s *stage) memory(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	s.kubeletBusy.Lock()
	each := (heap() - s.heap) / 1000 / s.extensions
	s.kubeletBusy.Unlock()
	ts.Logf("%d kB for each of %d extensions", each, s.extensions)
	if each > most {
		ts.Fatalf("%d kB for each of %d extensions, more than %d", each, s.extensions, most)
	}
}

// extension creates an extension that is named like its package.
func (s *stage) extension(ts *testscript.TestScript, name, namespace string) {
	e := clusterExtension(s.t, "packageName: "+name)
	e.Name, e.Spec.Namespace = name, namespace
	ts.Check(s.client.Create(s.t.Context(), e))
}

// realBundles installs bundles of operators that are published.
func (s *stage) realBundles(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := realcat.Shared(s.t, "conformance", "v1render", "bundles")
	entries, err := os.ReadDir(dir)
	ts.Check(err)
	names := map[string]bool{} // of objects
	found := 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		b, err := registryv1.Read(s.t.Context(), os.DirFS(path), nil)
		if err != nil || found == n {
			continue
		}
		m, err := b.Render(s.t.Context(), registryv1.RenderOptions{Namespace: args[0], Certificates: registryv1.ServiceCA})
		if err != nil || slices.ContainsFunc(m.Objects(), func(o *unstructured.Unstructured) bool {
			return !clientscheme.Scheme.Recognizes(o.GroupVersionKind()) && o.GetKind() != "CustomResourceDefinition" ||
				strings.HasSuffix(o.GetKind(), "WebhookConfiguration") || names[registryv1.Key(o)]
		}) {
			continue
		}
		for _, o := range m.Objects() {
			names[registryv1.Key(o)] = true
		}
		pkg := fmt.Sprintf("real-%d", found)
		s.mu.Lock()
		s.real["registry.example/"+pkg+":1.0.0"] = path
		s.mu.Unlock()
		s.catalog(ts, false, []string{"community", pkg, "1.0.0"})
		s.extension(ts, pkg, args[0])
		found++
	}
	if found < n {
		ts.Fatalf("there are only %d such bundles", found)
	}
	s.installed(ts, n)
}

// installed waits until all extensions are available.
func (s *stage) installed(ts *testscript.TestScript, n int) {
	for deadline := time.Now().Add(max(2*patience, time.Duration(n)*2*time.Second)); ; time.Sleep(100 * time.Millisecond) {
		var list api.ClusterExtensionList
		ts.Check(s.client.List(s.t.Context(), &list))
		installed := 0
		for _, e := range list.Items {
			if meta.IsStatusConditionTrue(e.Status.Conditions, "Available") {
				installed++
			}
		}
		if installed == n {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%d of %d extensions are installed:\n%s", installed, n, s.text())
		}
	}
}

// quiet waits until the controller makes no more requests, and checks that it makes none.
func (s *stage) quiet(ts *testscript.TestScript, _ bool, _ []string) {
	last := int64(-1)
	for deadline := time.Now().Add(patience); s.requests.Load() != last; time.Sleep(3 * time.Second) {
		if last = s.requests.Load(); time.Now().After(deadline) {
			ts.Fatalf("%d requests, and no end", last)
		}
	}
	time.Sleep(5 * time.Second)
	if n := s.requests.Load() - last; n > 0 {
		ts.Fatalf("%d requests at rest", n)
	}
}

// objects calls f for each object in a file.
func objects(ts *testscript.TestScript, file string, f func(*unstructured.Unstructured)) {
	d := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(ts.ReadFile(file)), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); err == io.EOF {
			return
		} else if err != nil {
			ts.Fatalf("%s: %v", file, err)
		}
		f(o)
	}
}

func (s *stage) apply(ts *testscript.TestScript, fails bool, args []string) {
	config := rest.CopyConfig(s.env.Config)
	if len(s.groups) > 0 {
		config.Impersonate = rest.ImpersonationConfig{UserName: "user", Groups: append([]string{"system:masters"}, s.groups...)}
	}
	c, err := client.New(config, client.Options{Scheme: s.scheme()})
	ts.Check(err)
	objects(ts, args[0], func(o *unstructured.Unstructured) {
		apply := func(opts ...client.ApplyOption) error {
			return c.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), append(opts, client.FieldOwner("user"), client.ForceOwnership)...)
		}
		if !fails {
			ts.Check(apply())
			return
		}
		for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			err := apply(client.DryRunAll)
			if err != nil && strings.Contains(err.Error(), strings.Join(args[1:], " ")) {
				return
			}
			if time.Now().After(deadline) {
				ts.Fatalf("%s: %v", args[0], err)
			}
		}
	})
}

// warnings collects the warnings of an API server.
type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

func (s *stage) warned(ts *testscript.TestScript, none bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		w := &warnings{}
		config := rest.CopyConfig(s.env.Config)
		config.WarningHandler = w
		c, err := client.New(config, client.Options{Scheme: s.scheme()})
		ts.Check(err)
		objects(ts, args[0], func(o *unstructured.Unstructured) {
			ts.Check(c.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("user"), client.ForceOwnership))
		})
		text := strings.Join(w.list, "\n")
		switch {
		case none && text == "", !none && strings.Contains(text, args[1]):
			return
		case none, time.Now().After(deadline):
			ts.Fatalf("warnings: %q", text)
		}
	}
}

func (s *stage) patch(ts *testscript.TestScript, fails bool, args []string) {
	err := s.client.Patch(s.t.Context(), named(args[0], args[1]), client.RawPatch(types.MergePatchType, []byte(args[2])))
	if fails != (err != nil) {
		ts.Fatalf("patch: %v", err)
	}
}

// setStatus sets the status of objects once they exist.
func (s *stage) setStatus(ts *testscript.TestScript, _ bool, args []string) {
	objects(ts, args[0], func(o *unstructured.Unstructured) {
		text, err := json.Marshal(map[string]any{"status": o.Object["status"]})
		ts.Check(err)
		for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			err := s.client.Status().Patch(s.t.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, text))
			if !apierrors.IsNotFound(err) || time.Now().After(deadline) {
				ts.Check(err)
				return
			}
		}
	})
}

var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ServiceAccount"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Service"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, {Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Namespace"}, {Version: "v1", Kind: "PersistentVolumeClaim"}, {Version: "v1", Kind: "Pod"},
	{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterObjectSet"}, {Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterExtension"},
	{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterCatalog"},
}

// named returns an object of a kind with a name, which may begin with a namespace.
func named(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	for _, k := range kinds {
		if k.Kind == kind {
			o.SetGroupVersionKind(k)
		}
	}
	namespace, name, ok := strings.Cut(name, "/")
	if !ok {
		namespace, name = "", namespace
	}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func (s *stage) delete(ts *testscript.TestScript, _ bool, args []string) {
	var opts []client.DeleteOption
	if len(args) > 2 {
		opts = append(opts, client.PropagationPolicy(args[2]))
	}
	ts.Check(s.client.Delete(s.t.Context(), named(args[0], args[1]), opts...))
}

func (s *stage) field(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		o := named(args[0], args[1])
		if err := s.client.Get(s.t.Context(), client.ObjectKeyFromObject(o), o); err != nil && !apierrors.IsNotFound(err) {
			ts.Fatalf("%v", err)
		}
		got := at(o.Object, args[2])
		if fmt.Sprint(got) == args[3] {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s is %v, not %s", args[2], got, args[3])
		}
	}
}

// at returns the value at a path, or nil.
func at(v any, path string) any {
	for _, key := range strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[strings.ReplaceAll(key, "\x00", ".")]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(x) {
				return nil
			}
			v = x[n]
		default:
			return nil
		}
	}
	return v
}

// patience is how long a script waits for a state.
const patience = time.Minute

// text returns the state of the cluster: the conditions of the extensions and their revisions,
// and the objects with the revisions that they belong to.
func (s *stage) text() string {
	ctx := s.t.Context()
	var lines []string
	conditions := func(list []metav1.Condition) {
		for _, c := range list {
			if slices.Contains([]string{"Installed", "Progressing", "Available", "Succeeded"}, c.Type) {
				lines = append(lines, fmt.Sprintf("  %s %s %s: %s", c.Type, c.Status, c.Reason, strings.ReplaceAll(c.Message, "\n", "\n    ")))
			}
		}
	}
	var list api.ClusterExtensionList
	if err := s.client.List(ctx, &list); err != nil {
		s.t.Fatal(err)
	}
	for _, e := range list.Items {
		lines = append(lines, "extension "+e.Name)
		conditions(e.Status.Conditions)
		revisions, err := extension.Revisions(ctx, s.client, systemNamespace, e.Name)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range revisions {
			lines = append(lines, "revision "+r.Name)
			conditions(r.Conditions)
		}
	}
	if s.experimental {
		var sets api.ClusterObjectSetList
		if err := s.client.List(ctx, &sets); err != nil {
			s.t.Fatal(err)
		}
		for _, set := range sets.Items {
			if !slices.ContainsFunc(list.Items, func(e api.ClusterExtension) bool { return e.Name == set.Labels["olm.operatorframework.io/owner-name"] }) {
				lines = append(lines, "revision "+set.Name)
				conditions(set.Status.Conditions)
			}
		}
	}
	for _, k := range kinds {
		if k.Group == api.GroupVersion.Group {
			continue
		}
		u := &unstructured.UnstructuredList{}
		u.SetGroupVersionKind(k)
		if err := s.client.List(ctx, u, client.HasLabels{"olm.operatorframework.io/owner-name"}); err != nil {
			s.t.Fatal(err)
		}
		for _, o := range u.Items {
			if o.GetNamespace() == systemNamespace {
				continue
			}
			revision := o.GetLabels()["olm.operatorframework.io/owner-name"] + "-" + o.GetAnnotations()["olm.operatorframework.io/revision"]
			if c := metav1.GetControllerOf(&o); c != nil && c.Kind == "ClusterObjectSet" {
				revision = c.Name
			}
			lines = append(lines, fmt.Sprintf("%s %s of %s", k.Kind, strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"), revision))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *stage) state(ts *testscript.TestScript, _ bool, args []string) {
	want, last, since := ts.ReadFile(args[0]), "", time.Now()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		got := s.text()
		if got != last {
			last, since = got, time.Now()
		}
		switch {
		case golden.Update():
			settled := 3 * time.Second
			if strings.Contains(got, "Retrying") {
				settled = 15 * time.Second
			}
			if time.Since(since) > settled {
				ts.Logf("-- %s --\n%s", args[0], got)
				return
			}
		case got == want:
			return
		case time.Now().After(deadline):
			ts.Fatalf("(-want +got):\n%s", cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
	}
}
