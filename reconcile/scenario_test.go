package reconcile_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// A world is a cluster with its catalogs, and the files of a scenario. A
// scenario is a script of commands, one per line:
//
//	run                     runs the loop to its end
//	decide                  prints one plan without applying it
//	approve                 approves every install plan
//	put FILE                puts the objects of a file into the cluster
//	delete KIND NS/NAME     deletes an object ("-" for no namespace,
//	                        "*" for all of the namespace)
//	hold KIND NS/NAME       gives it a finalizer
//	finalize KIND NS/NAME   takes its finalizers away, as who set them would
//	sleep DURATION          lets time pass; the clock runs from the first one on
//	refuse KIND NAME        lets the cluster refuse writes of an object
//	permit KIND NAME        ends that
//	catalog NS/NAME FILE    gives a catalog another content
//	unavailable NAME        lets a deployment stay unavailable
//	available NAME          ends that
//	show KIND NS/NAME       prints an object
type world struct {
	*memcluster.Cluster
	content
	files       map[string][]byte
	unavailable map[string]bool
	// clock is the time, in nanoseconds since 1970, of a scenario that sleeps.
	clock *atomic.Int64
	// refused holds the objects, as "<kind> <name>", whose writes the cluster always
	// refuses.
	refused map[string]bool
}

// A content adds the manifests of a scenario, in files manifests/<bundle>.yaml, to those
// generated from catalogs.
type content struct {
	*reconcile.Catalogs
	manifests map[string][]olm.Object
}

func (c content) Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error) {
	if list, ok := c.manifests[b.Name()]; ok {
		return list, nil
	}
	return c.Catalogs.Manifests(ctx, id, b)
}

const testNamespace = "ops"

var errRefused = errors.New("is forbidden")

func newWorld(t testing.TB, a *txtar.Archive) *world {
	t.Helper()
	w := &world{
		Cluster: &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "v1.30.2", Controllers: true},
		content: content{&reconcile.Catalogs{StandIns: true}, map[string][]olm.Object{}},
		files:   map[string][]byte{}, unavailable: map[string]bool{},
		clock: new(atomic.Int64), refused: map[string]bool{},
	}
	w.clock.Store(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	w.Admit = func(c reconcile.Change) error {
		if w.refused[c.Key().Kind+" "+c.Key().Name] {
			return errRefused
		}
		return nil
	}
	w.Available = func(d *olm.Deployment) bool { return !w.unavailable[d.Metadata.Name] }
	for _, f := range a.Files {
		w.files[f.Name] = f.Data
	}
	if bytes.Contains(w.files["script"], []byte("sleep ")) {
		w.Now = func() time.Time { return time.Unix(0, w.clock.Load()).UTC() }
	}
	for _, name := range slices.Sorted(keys(w.files)) {
		switch dir, base, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "/"); dir {
		case "catalog":
			w.catalog(t, base, name)
			ns, n, _ := strings.Cut(base, "/")
			src := &olm.CatalogSource{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindCatalogSource, Metadata: olm.Metadata{Name: n, Namespace: ns}}}
			src.Status.ConnectionState = &olm.ConnectionState{LastObservedState: olm.ConnectionReady}
			w.put(t, src)
		case "manifests":
			w.manifests[base] = objects(t, w.files[name])
		}
	}
	for _, ns := range []string{"olm", testNamespace} {
		w.put(t, &olm.Namespace{Header: olm.Header{APIVersion: "v1", Kind: "Namespace", Metadata: olm.Metadata{Name: ns}}})
	}
	w.put(t, resources(objects(t, w.files["cluster.yaml"]))...)
	return w
}

func keys[K cmp.Ordered, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (w *world) put(t testing.TB, list ...olm.Resource) {
	t.Helper()
	if err := w.Put(list...); err != nil {
		t.Fatal(err)
	}
}

func (w *world) catalog(t testing.TB, id, file string) {
	t.Helper()
	blobs, err := fbc.LoadReader(context.Background(), bytes.NewReader(w.files[file]), file, &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	ns, name, _ := strings.Cut(id, "/")
	if err := w.Add(context.Background(), resolver.CatalogID{Name: name, Namespace: ns}, blobs); err != nil {
		t.Fatal(err)
	}
}

func objects(t testing.TB, text []byte) []olm.Object {
	t.Helper()
	var list []olm.Object
	for doc := range bytes.SplitSeq(text, []byte("---\n")) {
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		var o olm.Object
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		list = append(list, o)
	}
	return list
}

func resources(list []olm.Object) []olm.Resource {
	var out []olm.Resource
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

func (w *world) loop() *reconcile.Loop {
	return &reconcile.Loop{Cluster: w.Cluster, Content: w.content, MaxPasses: 200, Options: reconcile.Options{NewKey: fixedKey, CheckResources: checkSizes}}
}

// fixedKey returns the same key each time.
func fixedKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), append(make([]byte, 31), 7))
}

// script runs the commands of a scenario and returns what they print.
func (w *world) script(t testing.TB, run func(out *strings.Builder)) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(string(w.files["script"])) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		fmt.Fprintf(&out, "> %s", line)
		switch f[0] {
		case "run":
			run(&out)
		case "decide":
			s, err := w.Read(context.Background(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := reconcile.Decide(context.Background(), s, w.content, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range plan.Changes {
				fmt.Fprintln(&out, &plan.Changes[i])
			}
		case "approve":
			w.approve(t)
		case "put":
			for _, o := range objects(t, w.files[f[1]]) {
				if old, err := w.Get(o.Key()); err == nil {
					o.Metadata.Generation = old.Metadata.Generation + 1
				}
				w.put(t, &o)
			}
		case "delete":
			for _, k := range w.keysOf(key(f[1], f[2])) {
				if err := w.Delete(k); err != nil {
					t.Fatal(err)
				}
			}
		case "hold", "finalize":
			o, err := w.Get(key(f[1], f[2]))
			if err != nil {
				t.Fatal(err)
			}
			o.Metadata.Finalizers = slices.DeleteFunc(o.Metadata.Finalizers, func(f string) bool { return f == "example.com/held" })
			if f[0] == "hold" {
				o.Metadata.Finalizers = append(o.Metadata.Finalizers, "example.com/held")
			}
			w.put(t, &o)
		case "sleep":
			d, err := time.ParseDuration(f[1])
			if err != nil {
				t.Fatal(err)
			}
			w.clock.Add(int64(d))
		case "refuse", "permit":
			w.refused[f[1]+" "+f[2]] = f[0] == "refuse"
		case "catalog":
			w.catalog(t, f[1], f[2])
		case "unavailable", "available":
			w.unavailable[f[1]] = f[0] == "unavailable"
			if o, err := w.Get(key("Deployment", testNamespace+"/"+f[1])); err == nil {
				w.put(t, &o)
			}
		case "show":
			o, err := w.Get(key(f[1], f[2]))
			if err != nil {
				fmt.Fprintln(&out, err)
				continue
			}
			o.Metadata.UID, o.Metadata.ResourceVersion = "", ""
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
		default:
			t.Fatalf("unknown command %q", line)
		}
	}
	return out.String()
}

// keysOf returns a key or, for the name "*", the keys of all objects that differ only in
// their name.
func (w *world) keysOf(k olm.Key) []olm.Key {
	if k.Name != "*" {
		return []olm.Key{k}
	}
	var list []olm.Key
	for _, o := range w.List() {
		if x := o.Key(); x.Group == k.Group && x.Kind == k.Kind && x.Namespace == k.Namespace {
			list = append(list, x)
		}
	}
	return list
}

func key(kind, name string) olm.Key {
	ns, n, _ := strings.Cut(name, "/")
	k := olm.Key{Kind: kind, Namespace: strings.TrimPrefix(ns, "-"), Name: n}
	switch kind {
	case "Deployment":
		k.Group = "apps"
	case olm.KindCRD:
		k.Group = olm.GroupCRD
	case "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
		k.Group = olm.GroupRBAC
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		k.Group = "admissionregistration.k8s.io"
	case "APIService":
		k.Group = "apiregistration.k8s.io"
	case "ServiceAccount", "Service", "Secret", "Namespace":
	default:
		k.Group = olm.Group
	}
	return k
}

func (w *world) approve(t testing.TB) {
	t.Helper()
	for _, o := range w.List() {
		if o.Kind != olm.KindInstallPlan {
			continue
		}
		ip, err := olm.As[olm.InstallPlan](o)
		if err != nil {
			t.Fatal(err)
		}
		ip.Spec.Approved = true
		w.put(t, ip)
	}
}

// summary prints the fields that users look at.
func (w *world) summary(out *strings.Builder) {
	for _, o := range w.List() {
		switch o.Kind {
		case olm.KindSubscription:
			s, err := olm.As[olm.Subscription](o)
			if err != nil {
				fmt.Fprintln(out, err)
				continue
			}
			fmt.Fprintf(out, "  %s: %s, installed %q, current %q\n", s.Key(), s.Status.State, s.Status.InstalledCSV, s.Status.CurrentCSV)
			for _, c := range s.Status.Conditions {
				if c.Status == olm.ConditionTrue {
					fmt.Fprintf(out, "    %s %s: %s\n", c.Type, c.Reason, c.Message)
				}
			}
		case olm.KindClusterServiceVersion:
			c, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				fmt.Fprintln(out, err)
				continue
			}
			fmt.Fprintf(out, "  %s: %s, %s: %s\n", c.Key(), c.Status.Phase, c.Status.Reason, c.Status.Message)
			if c.Status.Phase == olm.PhasePending || c.Status.Phase == olm.PhaseFailed {
				for _, r := range c.Status.RequirementStatus {
					if r.Status != "Present" {
						fmt.Fprintf(out, "    %s %s: %s, %s\n", r.Kind, r.Name, r.Status, r.Message)
					}
				}
			}
		case olm.KindInstallPlan:
			p, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				fmt.Fprintln(out, err)
				continue
			}
			fmt.Fprintf(out, "  %s: generation %d, %s, %v %s\n", p.Key(), p.Spec.Generation, p.Status.Phase, p.Spec.ClusterServiceVersionNames, p.Status.Message)
		}
	}
}

// F3, F6, F10 and E1 to E10: the scenarios in testdata, without faults.
func TestScenarios(t *testing.T) {
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		w := newWorld(t, a)
		got := w.script(t, func(out *strings.Builder) {
			l := w.loop()
			l.Progress = func(pass int, c reconcile.Change, err error) {
				if fmt.Fprintf(out, "%d %s\n", pass, &c); err != nil {
					fmt.Fprintf(out, "    refused: %s\n", err)
				}
			}
			r, err := l.Run(context.Background(), testNamespace)
			if err != nil {
				fmt.Fprintf(out, "error: %s\n", err)
			}
			w.summary(out)
			for _, n := range r.Plan.Notes {
				fmt.Fprintf(out, "  note: %s\n", n)
			}
		})
		if golden.Update() {
			a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
			if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if diff := gocmp.Diff(string(w.files["want"]), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a.Comment, diff)
		}
	})
}

func each(t *testing.T, run func(t *testing.T, file string, a *txtar.Archive)) {
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run(t, file, a)
		})
	}
}
