package kube_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/kube"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// A permission is the permission for one request.
type permission struct{ group, resource, verb string }

func (p permission) String() string {
	return p.verb + " " + strings.TrimSuffix(p.resource+"."+p.group, ".")
}

// used holds the permissions that the restricted clients of this test binary used.
// TestStrongPermissions adds those that the API server itself checks when a role or binding
// grants more than its writer has.
var used = struct {
	sync.Mutex
	by map[permission]int
}{by: map[permission]int{}}

// need returns the permission that a request needs; none for discovery.
func need(r *http.Request) (permission, bool) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var p permission
	switch {
	case path[0] == "api" && len(path) > 2:
		path = path[2:]
	case path[0] == "apis" && len(path) > 3:
		p.group, path = path[1], path[3:]
	default:
		return p, false
	}
	if path[0] == "namespaces" && len(path) > 2 {
		path = path[2:]
	}
	p.resource = path[0]
	if len(path) > 2 {
		p.resource += "/" + path[2]
	}
	switch r.Method {
	case http.MethodGet:
		p.verb = "get"
		if len(path) == 1 {
			p.verb = "list"
			if r.URL.Query().Get("watch") != "" {
				p.verb = "watch"
			}
		}
	case http.MethodPost:
		p.verb = "create"
	case http.MethodPut:
		p.verb = "update"
	case http.MethodPatch:
		p.verb = "patch"
	case http.MethodDelete:
		p.verb = "delete"
	}
	return p, true
}

// record adds the permission that a request used. An impersonated request counts for the
// impersonated user.
func record(r *http.Request) {
	p, ok := need(r)
	if r.Header.Get("Impersonate-User") != "" {
		p, ok = permission{"", "serviceaccounts", "impersonate"}, true
	}
	if ok {
		used.Lock()
		used.by[p]++
		used.Unlock()
	}
}

// granted returns the individual permissions of the rules.
func granted() map[permission]bool {
	out := map[permission]bool{}
	for _, r := range kube.Rules() {
		for _, g := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					out[permission{g, resource, verb}] = true
				}
			}
		}
	}
	return out
}

// byTests holds the permissions that tests need to act as users.
var byTests = map[permission]bool{
	{olmGroup, "subscriptions", "delete"}: true,
}

const (
	rbacGroup = "rbac.authorization.k8s.io"
	olmGroup  = "operators.coreos.com"
)

// missing returns what is wrong with the rules after all tests have run.
func missing() []string {
	used.Lock()
	defer used.Unlock()
	allowed := granted()
	var out []string
	for p := range used.by {
		if !allowed[p] && !byTests[p] && p.group != "coordination.k8s.io" && !strings.HasPrefix(p.group, "example.com") {
			out = append(out, "no rule grants a permission that was used: "+p.String())
		}
	}
	for p := range allowed {
		// Reads go through the cache, except after a conflict, and conflicts happen
		// by chance.
		chance := p.verb == "get" && (allowed[permission{p.group, p.resource, "create"}] || allowed[permission{p.group, p.resource, "update"}])
		if used.by[p] == 0 && !chance {
			out = append(out, "no test needs the permission to "+p.String())
		}
	}
	slices.Sort(out)
	return out
}

// A suite runs all tests of the package and then checks which permissions they used.
type suite struct{ *testing.M }

// Run runs the tests. It checks the permissions only if all tests ran.
func (s suite) Run() int {
	code := s.M.Run()
	if code != 0 || flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" || flag.Lookup("test.list").Value.String() != "" {
		return code
	}
	for _, m := range missing() {
		fmt.Fprintln(os.Stderr, "least privilege:", m)
		code = 1
	}
	return code
}

// A bundle can contain objects of all kinds that the rules list, and the rules permit
// upgrading them.
func TestEveryKind(t *testing.T) {
	c, ctx := admin(t), context.Background()
	text, err := os.ReadFile("testdata/every.yaml")
	must(t, err)
	for _, o := range []struct {
		group, kind, plural string
		scope               apiextensionsv1.ResourceScope
	}{
		{"monitoring.coreos.com", "ServiceMonitor", "servicemonitors", apiextensionsv1.NamespaceScoped},
		{"monitoring.coreos.com", "PrometheusRule", "prometheusrules", apiextensionsv1.NamespaceScoped},
		{"autoscaling.k8s.io", "VerticalPodAutoscaler", "verticalpodautoscalers", apiextensionsv1.NamespaceScoped},
		{"console.openshift.io", "ConsoleCLIDownload", "consoleclidownloads", apiextensionsv1.ClusterScoped},
		{"console.openshift.io", "ConsoleLink", "consolelinks", apiextensionsv1.ClusterScoped},
		{"console.openshift.io", "ConsolePlugin", "consoleplugins", apiextensionsv1.ClusterScoped},
		{"console.openshift.io", "ConsoleQuickStart", "consolequickstarts", apiextensionsv1.ClusterScoped},
		{"console.openshift.io", "ConsoleYAMLSample", "consoleyamlsamples", apiextensionsv1.ClusterScoped},
	} {
		define(t, crdOf(o.group, "v1", o.kind, o.plural, o.scope))
	}
	content := catalogs(t, c, "every", widgets(t, []string{"0.1.1", "0.1.2"}, "every.yaml"))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "every")
	t.Cleanup(func() {
		wipe(t, "every")
		for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
			must(t, c.DeleteAllOf(ctx, o, client.InNamespace("every")))
		}
		must(t, c.Delete(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "every"}}))
	})
	must(t, c.Create(ctx, operatorGroup("every", "every")))
	sub := subscription("every", "every")
	sub.Spec.StartingCSV = "widget.v0.1.1"
	must(t, c.Create(ctx, sub))
	eventually(t, patience, func() error { return installed(c, "every", "0.1.2") })
	for doc := range strings.SplitSeq(string(text), "---\n") {
		u := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal([]byte(doc), &u.Object))
		if scope, err := c.IsObjectNamespaced(u); err != nil || scope {
			must(t, err)
			u.SetNamespace("every")
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			t.Error(err)
			continue
		}
		version, _, _ := unstructured.NestedString(u.Object, "data", "version")
		if version = cmp.Or(u.GetAnnotations()["version"], version); version != "0.1.2" && version != "MC4xLjI=" {
			t.Errorf("%s has version %q", u.GetKind(), version)
		}
	}
}
