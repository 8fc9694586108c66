package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A catalogServer serves a catalog with an ETag, or fails.
type catalogServer struct {
	text             atomic.Value
	down             atomic.Bool
	whole, unchanged atomic.Int32
}

func (s *catalogServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.down.Load() {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	text := s.text.Load().(string)
	tag := fmt.Sprintf("\"%d\"", len(text))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		s.unchanged.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.whole.Add(1)
	io.WriteString(w, text)
}

// run starts a replica of the command in a separate process. The function it returns
// signals the process to exit and waits for it.
func run(t *testing.T, args ...string) (end func()) {
	t.Helper()
	return replicate(t, args...).end
}

// A replica is a process that runs the command.
type replica struct {
	out   *bytes.Buffer
	ended chan struct{} // closed when the process has exited
	err   error         // of the process; valid when ended is closed
	end   func()
}

func replicate(t *testing.T, args ...string) *replica {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, append([]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"}, args...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	r := &replica{out: &bytes.Buffer{}, ended: make(chan struct{})}
	cmd.Stderr = r.out
	check(t, cmd.Start())
	go func() {
		r.err = cmd.Wait()
		close(r.ended)
	}()
	r.end = sync.OnceFunc(func() {
		select {
		case <-r.ended:
			return // it exited by itself; tests that expect this check err
		default:
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		// Print all goroutines, to show what it waits for.
		kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
		defer kill.Stop()
		<-r.ended
		if r.err != nil {
			t.Errorf("%v\n%s", r.err, r.out)
		} else if t.Failed() {
			t.Logf("%s", r.out)
		}
	})
	t.Cleanup(r.end)
	return r
}

// E8, D14, G1: two replicas use a catalog that is served over HTTP. The leader installs an
// operator, upgrades it when the content changes, and reports an outage of the server that
// is longer than the grace period. When the leader exits, the other replica takes over.
func TestServedCatalogAndFailover(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	config := filepath.Join(dir, "config")
	check(t, os.WriteFile(config, env.KubeConfig(), 0o600))
	one, two := served(t, "0.2.1"), served(t, "0.2.1", "0.2.2")
	srv := &catalogServer{}
	srv.text.Store(one)
	ts := httptest.NewServer(srv)
	defer ts.Close()
	c, err := client.New(env.Config, client.Options{Scheme: newScheme(t)})
	check(t, err)
	for _, name := range []string{"catalogs", "served"} {
		check(t, client.IgnoreAlreadyExists(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
	}
	for _, o := range []client.Object{
		&operatorsv1alpha1.CatalogSource{
			ObjectMeta: metav1.ObjectMeta{Name: "served", Namespace: "catalogs"},
			Spec:       operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Address: ts.URL},
		},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "served", Namespace: "served"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{"served"}}},
		&operatorsv1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: "gadget", Namespace: "served"},
			Spec:       &operatorsv1alpha1.SubscriptionSpec{Package: "gadget", Channel: "stable", CatalogSource: "served", CatalogSourceNamespace: "catalogs"},
		},
	} {
		check(t, c.Create(ctx, o))
	}
	args := []string{
		"--kubeconfig", config, "--global-namespace=catalogs", "--leader-elect", "--leader-election-namespace=catalogs",
		"--catalog-interval=300ms", "--catalog-grace=2s",
	}
	holder := func() string {
		lease := &coordinationv1.Lease{}
		if c.Get(ctx, client.ObjectKey{Namespace: "catalogs", Name: "olmkit"}, lease) != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	endFirst := run(t, append(args, "--cache-dir", filepath.Join(dir, "one"))...)
	eventually(t, func() error {
		if holder() == "" {
			return fmt.Errorf("nobody leads")
		}
		return nil
	})
	first := holder()
	run(t, append(args, "--cache-dir", filepath.Join(dir, "two"))...)
	installed := func(version string) func() error {
		return func() error {
			play(t, c, "served")
			csv := &operatorsv1alpha1.ClusterServiceVersion{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "served", Name: "gadget.v" + version}, csv); err != nil {
				return err
			}
			if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
				return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
			}
			return nil
		}
	}
	state := func(want string) func() error {
		return func() error {
			src := &operatorsv1alpha1.CatalogSource{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "catalogs", Name: "served"}, src); err != nil {
				return err
			}
			if g := src.Status.GRPCConnectionState; g == nil || g.LastObservedState != want {
				return fmt.Errorf("the catalog is %+v, want %s", g, want)
			}
			return nil
		}
	}
	eventually(t, installed("0.2.1"))
	eventually(t, state("READY"))
	eventually(t, func() error {
		if srv.unchanged.Load() == 0 {
			return fmt.Errorf("the client never made a conditional request")
		}
		return nil
	})
	if n := srv.whole.Load(); n != 1 {
		t.Errorf("the same catalog was sent %d times", n)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "one", "catalogs", "*.jsonl")); err != nil || len(files) != 1 {
		t.Errorf("the cache has %q, %v", files, err)
	}

	endFirst()
	eventually(t, func() error {
		if h := holder(); h == "" || h == first {
			return fmt.Errorf("%q leads", h)
		}
		return nil
	})
	srv.text.Store(two)
	eventually(t, installed("0.2.2"))
	srv.down.Store(true)
	eventually(t, state("TRANSIENT_FAILURE"))
	eventually(t, func() error {
		sub := &operatorsv1alpha1.Subscription{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "served", Name: "gadget"}, sub); err != nil {
			return err
		}
		if !slices.ContainsFunc(sub.Status.Conditions, func(c operatorsv1alpha1.SubscriptionCondition) bool {
			return c.Type == operatorsv1alpha1.SubscriptionCatalogSourcesUnhealthy && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("the subscription does not report the unhealthy catalog: %+v", sub.Status.Conditions)
		}
		return nil
	})
	srv.down.Store(false)
	eventually(t, state("READY"))
}

// play makes deployments available, because no controller runs here.
func play(t *testing.T, c client.Client, ns string) {
	var list appsv1.DeploymentList
	check(t, c.List(context.Background(), &list, client.InNamespace(ns)))
	for _, d := range list.Items {
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		if err := c.Status().Update(context.Background(), &d); err != nil {
			t.Logf("deployment %s: %v", d.Name, err)
		}
	}
}

// served returns a catalog with the given versions of an operator. The last one is the
// head.
func served(t *testing.T, versions ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"schema":"olm.package","name":"gadget","defaultChannel":"stable"}` + "\n")
	var entries []string
	for i, v := range versions {
		replaces := ""
		if i > 0 {
			replaces = `,"replaces":"gadget.v` + versions[i-1] + `"`
		}
		entries = append(entries, `{"name":"gadget.v`+v+`"`+replaces+`}`)
	}
	fmt.Fprintf(&b, `{"schema":"olm.channel","package":"gadget","name":"stable","entries":[%s]}`+"\n", strings.Join(entries, ","))
	for i, v := range versions {
		replaces := ""
		if i > 0 {
			replaces = `"replaces":"gadget.v` + versions[i-1] + `",`
		}
		csv := fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"gadget.v%s"},"spec":{%s"version":"%s","displayName":"Gadget","installModes":[{"type":"OwnNamespace","supported":true}],"install":{"strategy":"deployment","spec":{"deployments":[{"name":"gadget","spec":{"replicas":1,"selector":{"matchLabels":{"app":"gadget"}},"template":{"metadata":{"labels":{"app":"gadget"}},"spec":{"containers":[{"name":"gadget","image":"example.com/gadget:%s"}]}}}}]}}}}`, v, replaces, v, v)
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"gadget","name":"gadget.v%s","image":"example.com/gadget:%s","properties":[{"type":"olm.package","value":{"packageName":"gadget","version":"%s"}},{"type":"olm.bundle.object","value":{"data":"%s"}}]}`+"\n",
			v, v, v, base64.StdEncoding.EncodeToString([]byte(csv)))
	}
	return b.String()
}
