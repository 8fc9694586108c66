package sidebyside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A moment is a write of an upgrade, after which a controller is killed.
type moment struct {
	name string
	is   func(ns string, w request) bool
}

// A request changes the cluster.
type request struct {
	method, path string
	body         obj // nil if it is not JSON
}

// on returns the moment of a request with a method, or with any, for a resource in the
// namespace of the scenario.
func on(name, method, resource string, is func(o obj) bool) moment {
	return moment{name, func(ns string, w request) bool {
		return (method == "" || w.method == method) && strings.Contains(w.path+"/", "/namespaces/"+ns+"/"+resource+"/") && (is == nil || is(w.body))
	}}
}

func phased(phase string) func(obj) bool {
	return func(o obj) bool { return field(o, "status", "phase") == phase }
}

// reaches returns the moment in which a CSV is written with a phase.
func reaches(version, phase string) moment {
	return on(version+" is "+phase, "", "clusterserviceversions/widget.v"+version, phased(phase))
}

func forNext(o obj) bool {
	spec, _ := o["spec"].(obj)
	names, _ := spec["clusterServiceVersionNames"].(list)
	return slices.Contains(names, any("widget.v1.1.0"))
}

// moments lists when each controller is killed.
var moments = map[backend][]moment{
	byOLM: {
		on("the plan is created", http.MethodPost, "installplans", forNext),
		{"the plan has its steps", func(ns string, w request) bool {
			return strings.Contains(w.path, "/namespaces/"+ns+"/installplans/") && forNext(w.body) && phased("RequiresApproval")(w.body)
		}},
		{"the plan is Installing", func(ns string, w request) bool {
			return strings.Contains(w.path, "/namespaces/"+ns+"/installplans/") && forNext(w.body) && phased("Installing")(w.body)
		}},
		{"the CRD is updated", func(ns string, w request) bool {
			return w.method == http.MethodPut && strings.HasSuffix(w.path, "/customresourcedefinitions/widgets.g-"+strings.TrimPrefix(ns, "sc-")+".example.com")
		}},
		on("the CSV is created", http.MethodPost, "clusterserviceversions", func(o obj) bool { return field(o, "metadata", "name") == "widget.v1.1.0" }),
		reaches("1.1.0", "Pending"),
		reaches("1.1.0", "InstallReady"),
		on("the deployment is written", http.MethodPut, "deployments/widget-controller", nil),
		reaches("1.1.0", "Installing"),
		reaches("1.1.0", "Succeeded"),
		reaches("1.0.0", "Replacing"),
		reaches("1.0.0", "Deleting"),
		on("1.0.0 is deleted", http.MethodDelete, "clusterserviceversions/widget.v1.0.0", nil),
	},
	byOlmkit: {
		on("the CSV is created", http.MethodPost, "clusterserviceversions", func(o obj) bool { return field(o, "metadata", "name") == "widget.v1.1.0" }),
		reaches("1.1.0", "Pending"),
		on("the deployment is written", "", "deployments/widget-controller", nil),
		reaches("1.1.0", "Installing"),
		reaches("1.1.0", "Succeeded"),
		reaches("1.0.0", "Replacing"),
		reaches("1.0.0", "Deleting"),
		on("1.0.0 is deleted", http.MethodDelete, "clusterserviceversions/widget.v1.0.0", nil),
	},
}

// E12, E21, E22, E23: each controller is killed right after a write of an upgrade, and the
// other one takes over. The upgrade is finished, and a deployment is written only once.
func TestKilled(t *testing.T) {
	needOLM(t)
	for _, first := range []backend{byOLM, byOlmkit} {
		t.Run(string(first), func(t *testing.T) {
			c := newCluster(t, start(t), first)
			c.stop()
			c.gated = true
			c.also(first)
			c.start()
			for i, m := range moments[first] {
				t.Run(m.name, func(t *testing.T) {
					r := &run{cluster: c, t: t, name: fmt.Sprintf("killed-%d", i), patience: 10 * time.Minute, taken: func(string, *run) {}}
					r.killed(m, first)
				})
				c.swap(first)
			}
		})
	}
}

// killed upgrades an operator, kills the controller at a moment, and lets the other one
// continue.
func (r *run) killed(m moment, first backend) {
	ns := r.ns("", nil)
	v1 := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	if first == byOLM {
		v1.webhooks = hooks("widget") // OLM replaces the certificate in each upgrade, which restarts the pods
	}
	v2 := v1
	v2.version, v2.replaces, v2.owned = "1.1.0", v1.name(), []gvk{r.kind("v1", "Widget"), r.kind("v2", "Widget")}
	old := []obj{v1.bundle(nil, crd(r.group(), "Widget", "v1"))}
	r.catalog(ns, "cat", pkg("widget", stable([]string{v1.name()})), old)
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"installPlanApproval": "Manual"})
	r.approve(ns)
	r.phase(ns, v1.name(), "Succeeded")
	reached := r.gate.at(func(w request) bool { return m.is(ns, w) })
	r.republish(ns, "cat", pkg("widget", stable([]string{v1.name()}, []string{v2.name(), v1.name()})), old, []obj{v2.bundle(nil, crd(r.group(), "Widget", "v2", "v1"))})
	is := func() bool {
		select {
		case <-reached:
			return true
		default:
			return false
		}
	}
	if !r.until("there is a plan for the new version, or it is dead", func() bool { return is() || r.planned(ns, v2.name()) }) {
		r.t.FailNow()
	}
	early := is()
	if !early {
		r.approve(ns)
	}
	if !r.until("it is dead", is) {
		r.t.FailNow()
	}
	atDeath := r.live(ns)
	r.swap(other(first))
	if early {
		r.approve(ns)
	}
	r.phase(ns, v2.name(), "Succeeded")
	r.gone("ClusterServiceVersion", ns, v1.name())
	r.until("the subscription is at the new version", func() bool {
		o, _ := r.get("Subscription", ns, "widget")
		return field(o, "status", "state") == "AtLatestKnown" && field(o, "status", "installedCSV") == v2.name()
	})
	for _, u := range r.rest() {
		switch u.GetKind() {
		case "ClusterServiceVersion":
			if u.GetName() != v2.name() || field(u.Object, "status", "phase") != "Succeeded" {
				r.t.Errorf("%s is %s, %s: %s", u.GetName(), field(u.Object, "status", "phase"), field(u.Object, "status", "reason"), field(u.Object, "status", "message"))
			}
		case "Subscription":
			if state, installed := field(u.Object, "status", "state"), field(u.Object, "status", "installedCSV"); state != "AtLatestKnown" || installed != v2.name() {
				r.t.Errorf("the subscription is %s with %s", state, installed)
			}
		case "InstallPlan":
			if phase := field(u.Object, "status", "phase"); phase != "Complete" && phase != "" { // OLM fills in the steps later, or never
				r.t.Errorf("install plan %s is %s: %s", u.GetName(), phase, field(u.Object, "status", "message"))
			}
		}
	}
	for _, d := range r.replacedPods(atDeath, r.live(ns)) {
		r.t.Errorf("%s", d)
	}
	if v1.webhooks != nil && r.trusted(ns) == nil {
		r.t.Error("the API server does not trust the certificate of the webhooks")
	}
}

// live returns the deployment of the operator, and its certificate, as they are now.
func (r *run) live(ns string) []obj {
	d, _ := r.get("Deployment", ns, "widget-controller")
	s, _ := r.get("Secret", ns, "widget-controller-service-cert")
	return []obj{d, s}
}

// replacedPods compares what live returned when a controller died with what it returns in the
// end: the deployment of the new version is written only once, by one of the controllers.
func (r *run) replacedPods(died, now []obj) (faults []string) {
	was, is := unstructuredOf(died[0]), unstructuredOf(now[0])
	upgraded := func(u *unstructured.Unstructured) bool {
		text, err := u.MarshalJSON()
		return err == nil && bytes.Contains(text, []byte("registry.example/op:1.1.0"))
	}
	want := was.GetGeneration()
	if !upgraded(was) {
		want++
	}
	if !upgraded(is) {
		faults = append(faults, "the deployment does not run the new version")
	}
	if was.GetUID() != is.GetUID() || is.GetGeneration() != want {
		faults = append(faults, fmt.Sprintf("the deployment was %s at generation %d, and is %s at %d, want %d", was.GetUID(), was.GetGeneration(), is.GetUID(), is.GetGeneration(), want))
		for _, d := range differences(nil, "", normalize(died[0]), normalize(now[0])) {
			faults = append(faults, "then and now: "+d)
		}
		for i, list := range [][]obj{died, now} {
			faults = append(faults, fmt.Sprintf("%s: annotations %v, certificate of %v", []string{"then", "now"}[i], list[0]["spec"].(obj)["template"].(obj)["metadata"], list[1]["metadata"]))
		}
	}
	return faults
}

// planned reports whether an install plan for a CSV has steps.
func (r *run) planned(ns, csv string) bool {
	r.t.Helper()
	for _, u := range r.plans(ns) {
		if forNext(u.Object) && field(u.Object, "status", "phase") != "" {
			return true
		}
	}
	return false
}

// A gate passes the requests of a controller on to the API server, until one that a test
// waits for was successful. Then it passes nothing anymore, as if the controller were dead.
type gate struct {
	url   string
	proxy *httputil.ReverseProxy

	mu      sync.Mutex // is held during a write
	is      func(request) bool
	reached chan struct{} // nil if nothing is waited for
	closed  bool
}

// newGate starts a gate that has the permissions of a kubeconfig.
func (s *cluster) newGate(kubeconfig []byte) *gate {
	s.t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	must(s.t, err)
	to, err := url.Parse(config.Host)
	must(s.t, err)
	transport, err := rest.TransportFor(config)
	must(s.t, err)
	g := &gate{proxy: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}}
	srv := httptest.NewServer(g)
	g.url = srv.URL
	s.t.Cleanup(func() {
		srv.CloseClientConnections() // watches do not end
		srv.Close()
	})
	return g
}

// kubeconfig returns a configuration for the gate.
func (g *gate) kubeconfig() ([]byte, error) {
	return clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "c",
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: g.url}},
	})
}

// at closes the gate after the first successful request that has a property. The channel is
// closed then.
func (g *gate) at(is func(request) bool) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.is, g.reached = is, make(chan struct{})
	return g.reached
}

func (g *gate) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodGet {
		g.proxy.ServeHTTP(w, req)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		http.Error(w, "the test has killed the controller", http.StatusServiceUnavailable)
		return
	}
	text, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(text))
	status := &statusWriter{ResponseWriter: w}
	g.proxy.ServeHTTP(status, req)
	sent := request{method: req.Method, path: req.URL.Path}
	if json.Unmarshal(text, &sent.body) != nil {
		sent.body = nil
	}
	if status.code < 300 && g.reached != nil && g.is(sent) {
		g.closed = true
		close(g.reached)
	}
}

// A statusWriter remembers the status of a response.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}
