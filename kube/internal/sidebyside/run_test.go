package sidebyside

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A run is one scenario on a cluster. Its namespaces begin with sc-<scenario>, and its APIs
// are in one group.
type run struct {
	*cluster
	t          *testing.T
	name       string
	namespaces []string
	steps      int
	port       int                       // of the aggregated API, if any
	patience   time.Duration             // how long until waits, if not three minutes
	taken      func(step string, r *run) // takes a snapshot
}

func (r *run) id() string    { return strings.ReplaceAll(r.name, "_", "-") }
func (r *run) group() string { return "g-" + r.id() + ".example.com" }

func (r *run) kind(version, kind string) gvk { return gvk{r.group(), version, kind} }

// It creates a namespace. A suffix is added to its name.
func (r *run) ns(suffix string, labels obj) string {
	r.t.Helper()
	name := "sc-" + r.id()
	if suffix != "" {
		name += "-" + suffix
	}
	r.namespaces = append(r.namespaces, name)
	must(r.t, r.create(namespace(name, labels)))
	return name
}

// put creates an object.
func (r *run) put(o obj) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%s is created", o["kind"]), func() bool {
		err := r.create(o)
		if err != nil && !apierrors.IsNotFound(err) && !strings.Contains(err.Error(), "no matches for kind") { // its CRD is not served yet
			r.t.Fatal(err)
		}
		return err == nil
	})
}

// operatorGroup creates the OperatorGroup "group".
func (r *run) operatorGroup(ns string, spec obj) { r.t.Helper(); r.namedGroup(ns, "group", spec) }

func (r *run) namedGroup(ns, name string, spec obj) {
	r.t.Helper()
	r.put(obj{"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": obj{"name": name, "namespace": ns}, "spec": spec})
}

// own returns the spec of an OperatorGroup that serves its own namespace.
func own(ns string) obj { return obj{"targetNamespaces": list{ns}} }

// subscribe creates a subscription named after its package, to channel stable of catalog cat
// in the same namespace, unless more has other values.
func (r *run) subscribe(ns, pkg string, more obj) {
	r.t.Helper()
	spec := obj{"name": pkg, "channel": "stable", "source": "cat", "sourceNamespace": ns}
	for k, v := range more {
		spec[k] = v
	}
	r.put(obj{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": obj{"name": pkg, "namespace": ns}, "spec": spec})
}

func (r *run) get(kind, ns, name string) (obj, bool) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kindOf(kind))
	err := r.Get(context.Background(), types.NamespacedName{Namespace: ns, Name: name}, u)
	return u.Object, err == nil
}

// merge applies a JSON merge patch.
func (r *run) merge(kind, ns, name string, patch obj) {
	r.t.Helper()
	r.patch(types.MergePatchType, kind, ns, name, patch)
}

func (r *run) patch(as types.PatchType, kind, ns, name string, patch any) {
	r.t.Helper()
	text, err := json.Marshal(patch)
	must(r.t, err)
	must(r.t, r.Patch(context.Background(), named(kind, ns, name), client.RawPatch(as, text)))
}

func named(kind, ns, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kindOf(kind))
	u.SetNamespace(ns)
	u.SetName(name)
	return u
}

func (r *run) delete(kind, ns, name string) {
	r.t.Helper()
	must(r.t, client.IgnoreNotFound(r.Delete(context.Background(), named(kind, ns, name))))
}

// until waits for a condition, but not forever: snapshots show what is missing. It reports
// whether the condition holds.
func (r *run) until(what string, ok func() bool) bool {
	for end := time.Now().Add(cmp.Or(r.patience, 3*time.Minute)); !ok(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Logf("%s, %s: not in time: %s", r.name, r.backend, what)
			return false
		}
	}
	return true
}

// pause gives OLM time in which nothing should happen. Snapshots wait until olmkit is at rest.
func (r *run) pause(d time.Duration) {
	if r.backend == byOLM {
		time.Sleep(d)
	}
}

// field returns a string in an object, such as status, phase.
func field(o obj, path ...string) string {
	s, _, _ := unstructured.NestedString(o, path...)
	return s
}

func (r *run) phase(ns, csv, phase string) {
	r.until(csv+" is "+phase, func() bool {
		o, ok := r.get("ClusterServiceVersion", ns, csv)
		return ok && field(o, "status", "phase") == phase
	})
}

func (r *run) plans(ns string) []unstructured.Unstructured {
	r.t.Helper()
	items, err := r.listAll(context.Background(), kindOf("InstallPlan"), client.InNamespace(ns))
	must(r.t, err)
	return items
}

func (r *run) plan(ns, phase string) {
	r.until("an install plan is "+phase, func() bool {
		return slices.ContainsFunc(r.plans(ns), func(u unstructured.Unstructured) bool { return field(u.Object, "status", "phase") == phase })
	})
}

// approve approves all install plans of a namespace once one requires it.
func (r *run) approve(ns string) {
	r.t.Helper()
	r.plan(ns, "RequiresApproval")
	for _, u := range r.plans(ns) {
		if approved, _, _ := unstructured.NestedBool(u.Object, "spec", "approved"); !approved {
			r.merge("InstallPlan", ns, u.GetName(), obj{"spec": obj{"approved": true}})
		}
	}
}

func (r *run) condition(ns, sub, kind string) {
	r.until(sub+" has "+kind, func() bool {
		o, _ := r.get("Subscription", ns, sub)
		conditions, _, _ := unstructured.NestedSlice(o, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool { c2 := c.(obj); return c2["type"] == kind && c2["status"] == "True" })
	})
}

func (r *run) exists(kind, ns, name string) {
	r.until(kind+" "+name, func() bool { _, ok := r.get(kind, ns, name); return ok })
}

func (r *run) gone(kind, ns, name string) {
	r.until(kind+" "+name+" is gone", func() bool { _, ok := r.get(kind, ns, name); return !ok })
}

// objects returns what the scenario has in the cluster.
func (r *run) objects() []unstructured.Unstructured {
	r.t.Helper()
	ctx := context.Background()
	var out []unstructured.Unstructured
	for _, k := range kinds {
		for _, ns := range r.namespaces {
			items, err := r.listAll(ctx, k, client.InNamespace(ns))
			must(r.t, err)
			out = append(out, items...)
		}
	}
	var names []string
	for _, n := range append(slices.Clone(r.namespaces), r.group()) {
		names = append(names, regexp.QuoteMeta(n))
	}
	mine := regexp.MustCompile(`(^|[^\w-])(` + strings.Join(names, "|") + `)($|[^\w-])`)
	for _, k := range clusterKinds {
		items, err := r.listAll(ctx, k)
		must(r.t, err)
		for _, u := range items {
			text, err := u.MarshalJSON()
			must(r.t, err)
			if k.Kind == "OLMConfig" || k.Kind == "APIService" && u.Object["spec"].(obj)["service"] == nil {
				continue // of no scenario, or made by the API server from a CRD
			}
			if k.Kind == "Namespace" && slices.Contains(r.namespaces, u.GetName()) || k.Kind != "Namespace" && mine.Match(text) {
				out = append(out, u)
			}
		}
	}
	return out
}

// rest waits until nothing has changed for some time, and returns the objects.
func (r *run) rest() []unstructured.Unstructured {
	r.t.Helper()
	quiet, limit := 1500*time.Millisecond, time.Minute
	if r.backend == byOLM {
		quiet, limit = 15*time.Second, 3*time.Minute
	}
	var last string
	end, since := time.Now().Add(limit), time.Now()
	for {
		objects := r.objects()
		var now strings.Builder
		for _, u := range objects {
			fmt.Fprintln(&now, u.GetKind(), u.GetNamespace(), u.GetName(), u.GetResourceVersion())
		}
		switch {
		case now.String() != last:
			last, since = now.String(), time.Now()
		case time.Since(since) > quiet:
			return objects
		}
		if time.Now().After(end) {
			r.t.Logf("%s, %s: it does not come to rest", r.name, r.backend)
			return objects
		}
		time.Sleep(quiet / 4)
	}
}

// snap takes a snapshot of a step.
func (r *run) snap(step string) {
	r.t.Helper()
	r.steps++
	r.taken(fmt.Sprintf("%s/%d-%s", r.name, r.steps, step), r)
}
