package sidebyside

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/envtest"
)

var settledSize = flag.Int("settled", 0, "number of namespaces of TestSettled (default: depends on the test size)")

// TestSettled starts olmkit-controller in a cluster whose namespaces each have five operators,
// all installed and running. One namespace is installed; the others are copies of it. The test
// logs how long a start takes and the memory, and fails if the controller sends requests at
// rest or does not notice a change.
func TestSettled(t *testing.T) {
	const operators = 5
	namespaces := cmp.Or(*settledSize, testsize.Of(10, 30, 300))
	dir := t.TempDir()
	policy, audit := filepath.Join(dir, "policy.json"), filepath.Join(dir, "audit.log")
	must(t, os.WriteFile(policy, []byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
		"rules": [{"level": "None", "resources": [{"group": "coordination.k8s.io"}]}, {"level": "Metadata", "users": ["system:serviceaccount:olm:olmkit"]}]}`), 0o600))
	env := &envtest.Environment{Flags: map[string]string{"audit-policy-file": policy, "audit-log-path": audit}}
	t.Cleanup(func() { must(t, env.Stop()) })
	must(t, env.Start())
	r := &run{cluster: newCluster(t, env, byOlmkit), t: t, name: "settled"}
	var packages [][]obj
	for i := range operators {
		packages = append(packages, csv{pkg: fmt.Sprintf("widget%d", i), version: "1.0.0"}.one(nil))
	}
	r.catalog("olm", "cat", packages...)
	ns := r.ns("", nil)
	r.operatorGroup(ns, own(ns))
	for i := range operators {
		r.subscribe(ns, fmt.Sprintf("widget%d", i), obj{"sourceNamespace": "olm"})
	}
	for i := range operators {
		r.phase(ns, fmt.Sprintf("widget%d.v1.0.0", i), "Succeeded")
	}
	original := r.rest()
	r.stop()
	r.unplayed()

	begin := time.Now()
	var g errgroup.Group
	g.SetLimit(32)
	for i := range namespaces {
		g.Go(func() error { return r.copy(original, ns, fmt.Sprintf("copy-%d", i)) })
	}
	must(t, g.Wait())
	t.Logf("%d copies in %.0f s", namespaces, time.Since(begin).Seconds())

	requests := func() int { return requestsIn(t, audit, "olmkit-controller/") }
	settled := func(from time.Time) time.Duration { // how long until it sends no more
		last, since := requests(), time.Now()
		for ; time.Since(since) < 10*time.Second; time.Sleep(time.Second) {
			if n := requests(); n != last {
				last, since = n, time.Now()
			}
		}
		return since.Sub(from)
	}
	// The names of the namespaces are in the templates of deployments, so that the first start writes
	// the hash of each into its label.
	for _, start := range []string{"first", "second"} {
		before, begin := requests(), time.Now()
		r.start()
		took := settled(begin)
		t.Logf("%s start, %d operators: %.1f s, %d requests, %.1f s of CPU time, %d MB", start, namespaces*operators, took.Seconds(), requests()-before, r.cpuTime().Seconds(), r.memory())
		if start == "first" {
			r.stop()
		}
	}
	before := requests()
	time.Sleep(testsize.Of(5*time.Second, 10*time.Second, time.Minute))
	if more := requests() - before; more > 0 {
		t.Errorf("%d requests at rest", more)
	}
	t.Logf("at rest: %d MB", r.memory())

	// A change: the controller creates a deleted deployment again.
	last := fmt.Sprintf("copy-%d", namespaces-1)
	begin = time.Now()
	must(t, r.Delete(context.Background(), named("Deployment", last, "widget0-controller")))
	if !r.until("the deployment is created again", func() bool { _, ok := r.get("Deployment", last, "widget0-controller"); return ok }) {
		t.FailNow()
	}
	t.Logf("a change was answered after %.2f s", time.Since(begin).Seconds())
}

// copy copies the objects of a namespace into another, with their status.
func (r *run) copy(objects []unstructured.Unstructured, from, to string) error {
	ctx := context.Background()
	if err := r.create(namespace(to, nil)); err != nil {
		return err
	}
	var uids []string // old and new, in turn
	copies := make([]*unstructured.Unstructured, len(objects))
	renamed := func(u unstructured.Unstructured) (*unstructured.Unstructured, error) {
		text, err := u.MarshalJSON()
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte(from), []byte(to))
		text = []byte(strings.NewReplacer(uids...).Replace(string(text)))
		out := &unstructured.Unstructured{}
		return out, out.UnmarshalJSON(text)
	}
	for i, o := range objects {
		if o.GetNamespace() == "" {
			continue
		}
		u, err := renamed(o)
		if err != nil {
			return err
		}
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(u.Object, "metadata", name)
		}
		err = r.Create(ctx, u)
		if apierrors.IsAlreadyExists(err) { // an earlier request succeeded although its answer was lost
			err = r.Get(ctx, client.ObjectKeyFromObject(u), u)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		copies[i] = u
		uids = append(uids, string(o.GetUID()), string(u.GetUID()))
	}
	for i, o := range objects {
		if copies[i] == nil || o.Object["status"] == nil {
			continue
		}
		u, err := renamed(o)
		if err != nil {
			return err
		}
		if o.GetKind() == "Deployment" {
			if err := unstructured.SetNestedField(u.Object, copies[i].GetGeneration(), "status", "observedGeneration"); err != nil {
				return err
			}
		}
		patch, err := json.Marshal(obj{"status": u.Object["status"]})
		if err != nil {
			return err
		}
		if err := r.Status().Patch(ctx, copies[i], client.RawPatch("application/merge-patch+json", patch)); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}
