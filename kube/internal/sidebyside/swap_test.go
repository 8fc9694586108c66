package sidebyside

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// swap replaces the backend of a cluster, as docs/recipes/cluster.md describes.
func (s *cluster) swap(to backend) {
	s.t.Helper()
	s.stop()
	for _, c := range s.catalogs {
		c.stop()
	}
	s.also(to)
	s.backend = to
	s.kubeconf = s.kubeconfOf(to)
	for name, c := range s.catalogs {
		s.serve(name.Namespace, name.Name)
		s.update("CatalogSource", name.Namespace, name.Name, obj{"spec": obj{"address": s.address(c)}})
	}
	s.start()
}

// changes returns how often the pods of each deployment were replaced since before: their
// template changed, or the deployment is another one.
func changes(before, after map[string]unstructured.Unstructured) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, is := before[name], after[name]
		if was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration() {
			out = append(out, fmt.Sprintf("deployment %s was %s at generation %d, and is %s at %d", name, was.GetUID(), was.GetGeneration(), is.GetUID(), is.GetGeneration()))
		}
	}
	return out
}

func (r *run) deployments() map[string]unstructured.Unstructured {
	r.t.Helper()
	out := map[string]unstructured.Unstructured{}
	for _, u := range r.objects() {
		if u.GetKind() == "Deployment" {
			out[u.GetName()] = u
		}
	}
	return out
}

// E22, E23: a namespace with twenty operators is taken over from OLM by olmkit, given back,
// and taken over again. No pod restarts, and each controller continues to install.
func TestSwap(t *testing.T) {
	needOLM(t)
	for _, first := range []backend{byOLM, byOlmkit} {
		t.Run("from "+string(first), func(t *testing.T) {
			c := newCluster(t, start(t), first)
			r := &run{cluster: c, t: t, name: "twenty", taken: func(string, *run) {}}
			twenty(r)
			r.rest()
			ns := r.namespaces[0]
			before, total := r.deployments(), 0
			if len(before) != 20 {
				t.Fatalf("%d deployments", len(before))
			}
			for i, next := range []backend{other(first), first, other(first)} {
				c.swap(next)
				// What the new controller installs shows that it has taken over.
				name := fmt.Sprintf("late%d", i)
				r.catalog(ns, name, r.versions(csv{pkg: name}, "Late"+fmt.Sprint(i), "1.0.0"))
				r.subscribe(ns, name, obj{"source": name})
				r.phase(ns, name+".v1.0.0", "Succeeded")
				if o, _ := r.get("ClusterServiceVersion", ns, name+".v1.0.0"); field(o, "status", "phase") != "Succeeded" {
					t.Errorf("%s does not install %s", next, name)
				}
				r.rest()
				restarts := changes(before, r.deployments())
				total += len(restarts)
				for _, d := range restarts {
					t.Errorf("taken over by %s: %s", next, d)
				}
				t.Logf("taken over by %s: %d restarts of %d operators", next, len(restarts), len(before))
				before = r.deployments()
			}
			t.Logf("%d restarts in three swaps", total)
		})
	}
}

func other(b backend) backend {
	if b == byOLM {
		return byOlmkit
	}
	return byOLM
}

func needOLM(t *testing.T) {
	t.Helper()
	if *olmBinaries == "" {
		t.Skip("make sidebyside sets -olm")
	}
}

// E34: OLM and olmkit run at once by mistake, in either order. It is reported, and after a
// minute nothing is written anymore.
func TestBothAtOnce(t *testing.T) {
	needOLM(t)
	for _, first := range []backend{byOLM, byOlmkit} {
		t.Run("first "+string(first), func(t *testing.T) {
			c := newCluster(t, start(t), first)
			r := &run{cluster: c, t: t, name: "both", taken: func(string, *run) {}}
			r.installed()
			r.rest()
			c.also(other(first))
			c.backend, c.kubeconf = other(first), c.kubeconfOf(other(first))
			c.start()
			r.merge("Subscription", r.namespaces[0], "widget", obj{"metadata": obj{"labels": obj{"some": "label"}}})
			time.Sleep(time.Minute)
			versions := func() string {
				var out strings.Builder
				for _, u := range r.objects() {
					fmt.Fprintln(&out, u.GetKind(), u.GetNamespace(), u.GetName(), u.GetResourceVersion())
				}
				return out.String()
			}
			before := versions()
			time.Sleep(time.Minute)
			if after := versions(); after != before {
				t.Errorf("something is still written after a minute:\n%s\nthen\n%s", before, after)
			}
			events, err := r.listAll(context.Background(), eventKind)
			must(t, err)
			if !slices.ContainsFunc(events, func(u unstructured.Unstructured) bool { return u.Object["reason"] == "OLMRunning" }) {
				t.Errorf("no event reports OLM")
			}
		})
	}
}

// kubeconfOf returns the path of the configuration for a backend.
func (s *cluster) kubeconfOf(b backend) string { return filepath.Join(s.dir, "kubeconfig-"+string(b)) }

// also writes the configuration for a backend.
func (s *cluster) also(b backend) {
	s.t.Helper()
	config := s.kubeconfig(b)
	if s.gated {
		s.gate = s.newGate(config)
		var err error
		config, err = s.gate.kubeconfig()
		must(s.t, err)
	}
	must(s.t, os.WriteFile(s.kubeconfOf(b), config, 0o600))
}
