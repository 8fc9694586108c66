package sidebyside

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// changing lists scenarios in which a person, a catalog or the cluster changes while operators
// are installed. They run in large tests.
var changing = []scenario{
	{"order", upgradeOrder}, {"shared_dep", sharedDependency}, {"dep_resubscribed", dependencyResubscribed}, {"superseded", superseded},
	{"approval_changed", approvalChanged}, {"plan_deleted", planDeleted}, {"moved", moved}, {"moved_midway", movedMidway}, {"priority", priority},
	{"skipped_start", skippedStart}, {"version_withdrawn", versionWithdrawn}, {"rolling_deleted", rollingDeleted}, {"broken_fixed", brokenFixed},
	{"renamed", renamedDeployment}, {"api_dropped", droppedAPI}, {"hooks_twice", hooksTwice}, {"uninstall", uninstall}, {"kinds", otherKinds},
	{"kind_missing", missingKind}, {"crd_v1beta1", betaCRD}, {"max_openshift", maxOpenShift}, {"existing", existing}, {"group_replaced", groupReplaced},
	{"twice", subscribedTwice}, {"two_deployments", twoDeployments},
}

// changingAlone lists those that need separate control planes.
var changingAlone = []scenario{{"group_widened", groupWidened}}

// republish replaces the content of a catalog.
func (r *run) republish(ns, name string, blobs ...[]obj) {
	r.t.Helper()
	r.unserve(ns, name)
	r.of(ns, name).write(r.t, blobs...)
	r.serve(ns, name)
}

// upgradeOrder upgrades an operator that needs the next version of another.
func upgradeOrder(r *run) {
	ns := r.ns("", nil)
	app := func(version, replaces, needs string) obj {
		c := csv{pkg: "app", version: version, replaces: replaces, owned: []gvk{r.kind("v1", "App")}}
		return c.bundle(list{obj{"type": "olm.package.required", "value": obj{"packageName": "base", "versionRange": needs}}}, crd(r.group(), "App"))
	}
	r.catalog(ns, "cat",
		pkg("app", channel{"old", [][]string{{"app.v1.0.0"}}}, stable([]string{"app.v1.0.0"}, []string{"app.v2.0.0", "app.v1.0.0"})),
		[]obj{app("1.0.0", "", "<2.0.0"), app("2.0.0", "app.v1.0.0", ">=2.0.0")},
		pkg("base", channel{"old", [][]string{{"base.v1.0.0"}}}, stable([]string{"base.v1.0.0"}, []string{"base.v2.0.0", "base.v1.0.0"})),
		[]obj{r.base("1.0.0", ""), r.base("2.0.0", "base.v1.0.0")})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "base", obj{"channel": "old"})
	r.phase(ns, "base.v1.0.0", "Succeeded")
	r.subscribe(ns, "app", obj{"channel": "old"})
	r.phase(ns, "app.v1.0.0", "Succeeded")
	r.before()
	r.merge("Subscription", ns, "app", obj{"spec": obj{"channel": "stable"}})
	r.pause(15 * time.Second)
	r.snap("app-alone")
	r.merge("Subscription", ns, "base", obj{"spec": obj{"channel": "stable"}})
	r.phase(ns, "app.v2.0.0", "Succeeded")
	r.phase(ns, "base.v2.0.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "app.v1.0.0")
	r.gone("ClusterServiceVersion", ns, "base.v1.0.0")
	r.snap("both")
}

// sharedDependency removes the operators that share a dependency, one after the other.
func sharedDependency(r *run) {
	ns := r.ns("", nil)
	tool := csv{pkg: "tool", version: "1.0.0", owned: []gvk{r.kind("v1", "Tool")}, required: []gvk{r.kind("v1", "Base")}}
	r.catalog(ns, "cat", r.app(), tool.one(nil, crd(r.group(), "Tool")), pkg("base", stable([]string{"base.v1.0.0"})), []obj{r.base("1.0.0", "")})
	r.both(ns)
	r.before()
	r.subscribe(ns, "tool", nil)
	r.phase(ns, "tool.v1.0.0", "Succeeded")
	r.snap("both")
	r.remove(ns, "app", "app.v1.0.0")
	r.pause(8 * time.Second)
	r.snap("one")
	r.remove(ns, "tool", "tool.v1.0.0")
	r.pause(8 * time.Second)
	r.snap("none")
}

// remove deletes a subscription and its CSV.
func (r *run) remove(ns, sub, csv string) {
	r.t.Helper()
	r.delete("Subscription", ns, sub)
	r.delete("ClusterServiceVersion", ns, csv)
	r.gone("ClusterServiceVersion", ns, csv)
}

// dependencyResubscribed replaces the subscription that was generated for a dependency by a
// person's, with another channel.
func dependencyResubscribed(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.app(), pkg("base", channel{"slow", [][]string{{"base.v1.0.0"}}}, channel{"fast", [][]string{{"base.v1.0.0"}, {"base.v2.0.0", "base.v1.0.0"}}}),
		[]obj{r.base("1.0.0", ""), r.base("2.0.0", "base.v1.0.0")})
	r.both(ns)
	r.before()
	for _, u := range r.objects() {
		if u.GetKind() == "Subscription" && field(u.Object, "spec", "name") == "base" {
			r.delete("Subscription", ns, u.GetName())
		}
	}
	r.subscribe(ns, "base", obj{"channel": "fast"})
	r.pause(30 * time.Second)
	r.snap("end")
}

// superseded publishes another version while a plan waits for approval. The plan stays.
func superseded(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.plan(ns, "RequiresApproval")
	r.before()
	all := r.widget("1.0.0", "1.1.0", "1.2.0")
	all[1]["entries"] = list{obj{"name": "widget.v1.2.0", "replaces": "widget.v1.0.0", "skips": list{"widget.v1.1.0"}}, obj{"name": "widget.v1.0.0"}, obj{"name": "widget.v1.1.0", "replaces": "widget.v1.0.0"}}
	r.republish(ns, "cat", all)
	r.pause(30 * time.Second)
	r.snap("superseded")
}

// approvalChanged makes a subscription automatic while its plan waits for approval.
func approvalChanged(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"installPlanApproval": "Manual"})
	r.plan(ns, "RequiresApproval")
	r.before()
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"installPlanApproval": "Automatic"}})
	r.pause(12 * time.Second)
	r.snap("automatic")
	r.approveAll(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

// approveAll approves all install plans of a namespace.
func (r *run) approveAll(ns string) {
	r.t.Helper()
	for _, u := range r.plans(ns) {
		r.merge("InstallPlan", ns, u.GetName(), obj{"spec": obj{"approved": true}})
	}
}

// planDeleted deletes a plan that waits for approval.
func planDeleted(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"installPlanApproval": "Manual"})
	r.plan(ns, "RequiresApproval")
	r.before()
	for _, u := range r.plans(ns) {
		r.delete("InstallPlan", ns, u.GetName())
	}
	r.pause(20 * time.Second)
	r.snap("deleted")
}

// moved moves a subscription to another catalog, which has a newer version.
func moved(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.catalog(ns, "next", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.before()
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"source": "next"}})
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.snap("moved")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"source": "cat"}})
	r.pause(12 * time.Second)
	r.snap("back")
}

// movedMidway moves a subscription to another channel while its upgrade cannot finish.
func movedMidway(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", owned: []gvk{r.kind("v1", "Widget")}}
	bundle := func(version, replaces, image string) obj {
		c := c
		c.version, c.replaces, c.image = version, replaces, image
		return c.bundle(nil, crd(r.group(), "Widget"))
	}
	one, two := []string{"widget.v1.0.0"}, []string{"widget.v2.0.0", "widget.v1.0.0"}
	r.catalog(ns, "cat", pkg("widget", channel{"old", [][]string{one}}, channel{"mid", [][]string{one, two}}, stable(one, two, []string{"widget.v3.0.0", "widget.v2.0.0"})),
		[]obj{bundle("1.0.0", "", ""), bundle("2.0.0", "widget.v1.0.0", "registry.example/slow"), bundle("3.0.0", "widget.v2.0.0", "")})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"channel": "old"})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "mid"}})
	r.phase(ns, "widget.v2.0.0", "Installing")
	r.before()
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "stable"}})
	r.pause(20 * time.Second)
	r.snap("waits")
	r.available(ns, "widget-controller")
	r.phase(ns, "widget.v2.0.0", "Succeeded")
	if r.backend == byOLM {
		r.pause(time.Minute) // it stays
	} else {
		r.phase(ns, "widget.v3.0.0", "Succeeded")
		r.gone("ClusterServiceVersion", ns, "widget.v2.0.0")
	}
	r.snap("end")
}

// available makes a deployment available whose image is slow.
func (r *run) available(ns, name string) {
	r.t.Helper()
	d, ok := r.get("Deployment", ns, name)
	if !ok {
		r.t.Fatalf("no deployment %s", name)
	}
	must(r.t, r.setStatus(context.Background(), &unstructured.Unstructured{Object: d}, true))
}

// priority changes which of two catalogs a dependency is taken from.
func priority(r *run) {
	ns := r.ns("", nil)
	tool := csv{pkg: "tool", version: "1.0.0", owned: []gvk{r.kind("v1", "Tool")}, required: []gvk{r.kind("v1", "Base")}}
	r.catalog(ns, "cat", r.app(), tool.one(nil, crd(r.group(), "Tool")))
	r.catalog(ns, "low", pkg("base", stable([]string{"base.v1.0.0"})), []obj{r.base("1.0.0", "")})
	r.catalog(ns, "high", pkg("base", stable([]string{"base.v2.0.0"})), []obj{r.base("2.0.0", "")})
	r.merge("CatalogSource", ns, "high", obj{"spec": obj{"priority": 10}})
	for _, name := range []string{"low", "high"} {
		r.until("it is read", func() bool {
			o, _ := r.get("CatalogSource", ns, name)
			return field(o, "status", "connectionState", "lastObservedState") == "READY"
		})
	}
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "app", nil)
	r.phase(ns, "app.v1.0.0", "Succeeded")
	r.phase(ns, "base.v2.0.0", "Succeeded")
	r.snap("high")
	r.merge("CatalogSource", ns, "low", obj{"spec": obj{"priority": 20}})
	r.pause(8 * time.Second)
	r.snap("changed")
	for _, u := range r.objects() {
		if u.GetKind() == "Subscription" && field(u.Object, "spec", "name") == "base" {
			r.delete("Subscription", ns, u.GetName())
		}
	}
	r.delete("Subscription", ns, "app")
	for _, name := range []string{"app.v1.0.0", "base.v2.0.0"} {
		r.delete("ClusterServiceVersion", ns, name)
		r.gone("ClusterServiceVersion", ns, name)
	}
	r.subscribe(ns, "tool", nil)
	r.phase(ns, "tool.v1.0.0", "Succeeded")
	r.snap("low")
}

// skippedStart starts with a version that a later one skips.
func skippedStart(r *run) {
	ns := r.ns("", nil)
	all := r.widget("1.0.0", "1.1.0", "1.2.0")
	all[1]["entries"] = list{obj{"name": "widget.v1.2.0", "replaces": "widget.v1.0.0", "skips": list{"widget.v1.1.0"}}, obj{"name": "widget.v1.0.0"}, obj{"name": "widget.v1.1.0", "replaces": "widget.v1.0.0"}}
	r.catalog(ns, "cat", all)
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": "widget.v1.1.0"})
	r.phase(ns, "widget.v1.2.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.1.0")
	r.snap("end")
}

// versionWithdrawn publishes a catalog without the installed version, and then one that leads
// further.
func versionWithdrawn(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.before()
	r.republish(ns, "cat", r.widget("1.0.0"))
	r.pause(12 * time.Second)
	r.snap("withdrawn")
	next := r.widget("1.0.0", "1.2.0")
	next[1]["entries"] = list{obj{"name": "widget.v1.2.0", "replaces": "widget.v1.0.0", "skipRange": ">=1.0.0 <1.2.0"}, obj{"name": "widget.v1.0.0"}}
	r.republish(ns, "cat", next)
	r.phase(ns, "widget.v1.2.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.1.0")
	r.snap("further")
}

// rollingDeleted deletes an operator while its pods start.
func rollingDeleted(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", image: "registry.example/slow"}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Installing")
	r.snap("installing")
	r.remove(ns, "widget", "widget.v1.0.0")
	r.gone("Deployment", ns, "widget-controller")
	r.snap("deleted")
}

// brokenFixed repairs a failed operator by editing its CSV.
func brokenFixed(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", image: "registry.example/broken"}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.before()
	r.patch(types.JSONPatchType, "ClusterServiceVersion", ns, "widget.v1.0.0", list{obj{"op": "replace", "path": "/spec/install/spec/deployments/0/spec/template/spec/containers/0/image", "value": "registry.example/op:1.0.0"}})
	if r.backend == byOLM {
		r.pause(30 * time.Second)
	} else {
		r.phase(ns, "widget.v1.0.0", "Succeeded")
	}
	r.snap("end")
}

// renamedDeployment upgrades to a version whose deployment and service account have other
// names.
func renamedDeployment(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	next := c
	next.version, next.replaces = "2.0.0", c.name()
	renamed := next.bundle(nil, crd(r.group(), "Widget"))
	change(renamed, func(csv obj) {
		install := csv["spec"].(obj)["install"].(obj)["spec"].(obj)
		d := install["deployments"].(list)[0].(obj)
		d["name"] = "widget-manager"
		d["spec"].(obj)["template"].(obj)["spec"].(obj)["serviceAccountName"] = "widget-manager"
		for _, k := range []string{"permissions", "clusterPermissions"} {
			install[k].(list)[0].(obj)["serviceAccountName"] = "widget-manager"
		}
	})
	r.catalog(ns, "cat", pkg("widget", stable([]string{c.name()}, []string{next.name(), c.name()})), []obj{c.bundle(nil, crd(r.group(), "Widget")), renamed})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": c.name()})
	r.phase(ns, next.name(), "Succeeded")
	r.gone("ClusterServiceVersion", ns, c.name())
	r.gone("Deployment", ns, "widget-controller")
	r.snap("end")
}

// droppedAPI upgrades to a version without one of the APIs.
func droppedAPI(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget"), r.kind("v1", "Extra")}}
	next := csv{pkg: "widget", version: "2.0.0", replaces: c.name(), owned: []gvk{r.kind("v1", "Widget")}}
	r.catalog(ns, "cat", pkg("widget", stable([]string{c.name()}, []string{next.name(), c.name()})),
		[]obj{c.bundle(nil, crd(r.group(), "Widget"), crd(r.group(), "Extra")), next.bundle(nil, crd(r.group(), "Widget"))})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": c.name()})
	r.phase(ns, next.name(), "Succeeded")
	r.gone("ClusterServiceVersion", ns, c.name())
	r.snap("end")
}

// hooksTwice upgrades an operator with webhooks twice, and replaces its certificate in between.
func hooksTwice(r *run) {
	r.patience = 10 * time.Minute // OLM tries again with a growing delay
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", webhooks: hooks("widget")}, "Widget", "1.0.0", "1.1.0", "1.2.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.approve(ns)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.before()
	old := r.expire(ns)
	r.merge("ClusterServiceVersion", ns, "widget.v1.1.0", obj{"metadata": obj{"labels": obj{"somebody": "wrote-it"}}})
	if !r.until("the certificate is replaced", func() bool { ca := r.trusted(ns); return ca != nil && string(ca) != string(old) }) {
		r.t.Errorf("%s does not rotate the certificate", r.backend)
	}
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.approve(ns)
	r.phase(ns, "widget.v1.2.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.1.0")
	r.snap("end")
}

// uninstall deletes an operator as "kubectl operator uninstall --delete-all" does: the
// subscription, what the Operator lists, and the operator group.
func uninstall(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", webhooks: hooks("widget")}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.before()
	name := "widget." + ns
	var components []gvkName
	r.until("the Operator lists the CSV", func() bool {
		o, _ := r.get("Operator", "", name)
		refs, _, _ := unstructured.NestedSlice(o, "status", "components", "refs")
		components = nil
		for _, ref := range refs {
			ref := ref.(obj)
			ns, _ := ref["namespace"].(string)
			components = append(components, gvkName{ref["kind"].(string), ns, ref["name"].(string)})
		}
		return slices.Contains(components, gvkName{"ClusterServiceVersion", ns, "widget.v1.0.0"}) && slices.Contains(components, gvkName{"CustomResourceDefinition", "", "widgets." + r.group()})
	})
	r.delete("Subscription", ns, "widget")
	for _, kind := range []string{"ClusterServiceVersion", "CustomResourceDefinition"} {
		for _, c := range components {
			if c.kind == kind {
				r.delete(kind, c.ns, c.name)
				r.gone(kind, c.ns, c.name)
			}
		}
	}
	r.delete("OperatorGroup", ns, "group")
	r.gone("Deployment", ns, "widget-controller")
	r.pause(8 * time.Second)
	r.snap("end")
	r.delete("Operator", "", name)
	r.pause(8 * time.Second)
	r.snap("operator-gone")
}

type gvkName struct{ kind, ns, name string }

// otherCRDs are the kinds of other projects that bundles may contain.
var otherCRDs = []struct {
	group, version, kind string
	cluster              bool
}{
	{"monitoring.coreos.com", "v1", "ServiceMonitor", false}, {"monitoring.coreos.com", "v1", "PrometheusRule", false},
	{"autoscaling.k8s.io", "v1", "VerticalPodAutoscaler", false}, {"console.openshift.io", "v1", "ConsoleYAMLSample", true},
	{"console.openshift.io", "v1", "ConsoleQuickStart", true},
}

// otherKinds has a bundle with objects of all other kinds that OLM installs.
func otherKinds(r *run) {
	ns := r.ns("", nil)
	objects := []obj{
		crd(r.group(), "Widget"),
		{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": obj{"name": "pdb"}, "spec": obj{"minAvailable": 1, "selector": obj{"matchLabels": obj{"app": "x"}}}},
		{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": obj{"name": ns + "-prio"}, "value": 10},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": obj{"name": "reader"}, "rules": list{obj{"apiGroups": list{""}, "resources": list{"pods"}, "verbs": list{"get"}}}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": obj{"name": "reader"}, "roleRef": obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}, "subjects": list{obj{"kind": "ServiceAccount", "name": "widget-sa", "namespace": ns}}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": obj{"name": ns + "-reader"}, "roleRef": obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}, "subjects": list{obj{"kind": "ServiceAccount", "name": "widget-sa", "namespace": ns}}},
		{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": obj{"name": "helper"}},
	}
	for _, k := range otherCRDs {
		d := crd(k.group, k.kind, k.version)
		d["metadata"].(obj)["annotations"] = obj{"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"}
		if k.cluster {
			d["spec"].(obj)["scope"] = "Cluster"
		}
		r.put(d)
		o := obj{"apiVersion": k.group + "/" + k.version, "kind": k.kind, "metadata": obj{"name": ns + "-x"}, "spec": obj{"a": "b"}}
		r.until(k.kind+" is served", func() bool {
			u := unstructuredOf(o)
			if !k.cluster {
				u.SetNamespace(ns)
			}
			return apierrors.IsNotFound(r.Get(r.t.Context(), client.ObjectKeyFromObject(u), u))
		})
		objects = append(objects, o)
	}
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	next := c
	next.version, next.replaces = "1.1.0", c.name()
	changed := slices.Clone(objects)
	changed = slices.DeleteFunc(changed, func(o obj) bool { return o["kind"] == "PrometheusRule" })
	for i, o := range changed {
		if o["kind"] == "ServiceMonitor" {
			changed[i] = obj{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": o["metadata"], "spec": obj{"a": "c"}}
		}
	}
	r.catalog(ns, "cat", pkg("widget", stable([]string{c.name()}, []string{next.name(), c.name()})), []obj{c.bundle(nil, objects...), next.bundle(nil, changed...)})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	others := func(want string) { // the kinds that snapshots lack
		for _, k := range otherCRDs {
			u := unstructuredOf(obj{"apiVersion": k.group + "/" + k.version, "kind": k.kind, "metadata": obj{"name": ns + "-x"}})
			if !k.cluster {
				u.SetNamespace(ns)
			}
			if err := r.Get(r.t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
				r.t.Errorf("%s: %s %v", r.backend, k.kind, err)
				continue
			}
			if k.kind == "ServiceMonitor" && field(u.Object, "spec", "a") != want {
				r.t.Errorf("%s: the spec of the ServiceMonitor is %v, want a: %s", r.backend, u.Object["spec"], want)
			}
			if u.GetLabels()["olm.managed"] != "true" || k.cluster == (len(u.GetOwnerReferences()) > 0) {
				r.t.Errorf("%s: %s has the labels %v and the owners %v", r.backend, k.kind, u.GetLabels(), u.GetOwnerReferences())
			}
		}
	}
	r.approve(ns)
	r.phase(ns, c.name(), "Succeeded")
	r.plan(ns, "RequiresApproval")
	r.snap("installed")
	others("b")
	r.approve(ns)
	r.phase(ns, next.name(), "Succeeded")
	r.gone("ClusterServiceVersion", ns, c.name())
	r.snap("upgraded")
	others("c")
	r.remove(ns, "widget", next.name())
	r.gone("Deployment", ns, "widget-controller")
	r.snap("deleted")
}

// missingKind has a bundle with an object whose kind the cluster does not have yet.
func missingKind(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	r.catalog(ns, "cat", c.one(nil, crd(r.group(), "Widget"),
		obj{"apiVersion": "console.openshift.io/v1", "kind": "ConsolePlugin", "metadata": obj{"name": ns + "-plugin"}, "spec": obj{}},
		obj{"apiVersion": "v1", "kind": "ConfigMap", "metadata": obj{"name": "settings"}, "data": obj{"a": "b"}}))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(60 * time.Second)
	r.snap("end")
}

// betaCRD has a bundle with a CRD in the version that Kubernetes removed.
func betaCRD(r *run) {
	ns := r.ns("", nil)
	d := crd(r.group(), "Widget")
	d["apiVersion"] = "apiextensions.k8s.io/v1beta1"
	spec := d["spec"].(obj)
	spec["version"], spec["subresources"] = "v1", obj{"status": obj{}}
	spec["versions"] = list{obj{"name": "v1", "served": true, "storage": true}}
	spec["validation"] = obj{"openAPIV3Schema": obj{"type": "object", "properties": obj{"spec": obj{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	r.catalog(ns, "cat", c.one(nil, d))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(40 * time.Second)
	r.snap("end")
}

// maxOpenShift has a bundle that an upgrade of OpenShift would break.
func maxOpenShift(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}, annotations: obj{"olm.properties": `[{"type": "olm.maxOpenShiftVersion", "value": "4.1"}]`}}
	r.catalog(ns, "cat", c.one(list{obj{"type": "olm.maxOpenShiftVersion", "value": "4.1"}}, crd(r.group(), "Widget")))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

// existing has objects with the names that the operator's have.
func existing(r *run) {
	ns := r.ns("", nil)
	r.put(obj{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": obj{"name": "widget-sa", "namespace": ns, "labels": obj{"mine": "yes"}}})
	r.put(obj{"apiVersion": "v1", "kind": "ConfigMap", "metadata": obj{"name": "settings", "namespace": ns, "labels": obj{"mine": "yes"}}, "data": obj{"a": "mine", "c": "d"}})
	r.put(obj{"apiVersion": "v1", "kind": "Service", "metadata": obj{"name": "metrics", "namespace": ns}, "spec": obj{"ports": list{obj{"port": 80}}, "selector": obj{"app": "mine"}}})
	r.put(obj{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": obj{"name": "widget-controller", "namespace": ns, "labels": obj{"mine": "yes"}}, "spec": obj{
		"replicas": 2, "selector": obj{"matchLabels": obj{"app": "widget-controller"}},
		"template": obj{"metadata": obj{"labels": obj{"app": "widget-controller"}}, "spec": obj{"containers": list{obj{"name": "mine", "image": "registry.example/mine:1"}}}},
	}})
	d := crd(r.group(), "Widget")
	d["metadata"].(obj)["labels"] = obj{"mine": "yes"}
	r.put(d)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	r.catalog(ns, "cat", c.one(nil, crd(r.group(), "Widget"),
		obj{"apiVersion": "v1", "kind": "Service", "metadata": obj{"name": "metrics"}, "spec": obj{"ports": list{obj{"port": 8443}}, "selector": obj{"app": "x"}}},
		obj{"apiVersion": "v1", "kind": "ConfigMap", "metadata": obj{"name": "settings"}, "data": obj{"a": "b"}}))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

// groupReplaced replaces the operator group by one with another name.
func groupReplaced(r *run) {
	ns := r.installed()
	r.before()
	r.delete("OperatorGroup", ns, "group")
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.namedGroup(ns, "other", own(ns))
	r.merge("ClusterServiceVersion", ns, "widget.v1.0.0", obj{"metadata": obj{"labels": obj{"somebody": "wrote-it"}}}) // OLM does not notice the group
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

// subscribedTwice has two subscriptions to one package.
func subscribedTwice(r *run) {
	ns := r.installed()
	r.before()
	r.put(obj{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": obj{"name": "again", "namespace": ns},
		"spec": obj{"name": "widget", "channel": "stable", "source": "cat", "sourceNamespace": ns}})
	r.condition(ns, "again", "ResolutionFailed")
	r.pause(10 * time.Second)
	r.snap("twice")
	r.delete("Subscription", ns, "again")
	r.pause(10 * time.Second)
	r.snap("once")
}

// twoDeployments has an operator one of whose two deployments fails after an upgrade.
func twoDeployments(r *run) {
	ns := r.ns("", nil)
	second := func(bundle obj, image string) obj {
		change(bundle, func(csv obj) {
			install := csv["spec"].(obj)["install"].(obj)["spec"].(obj)
			d := install["deployments"].(list)[0].(obj)
			text, _ := json.Marshal(d)
			var other obj
			_ = json.Unmarshal([]byte(strings.ReplaceAll(string(text), "widget-controller", "widget-helper")), &other)
			other["spec"].(obj)["template"].(obj)["spec"].(obj)["containers"].(list)[0].(obj)["image"] = image
			install["deployments"] = list{d, other}
		})
		return bundle
	}
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	next := c
	next.version, next.replaces = "2.0.0", c.name()
	r.catalog(ns, "cat", pkg("widget", stable([]string{c.name()}, []string{next.name(), c.name()})),
		[]obj{second(c.bundle(nil, crd(r.group(), "Widget")), "registry.example/helper:1"), second(next.bundle(nil, crd(r.group(), "Widget")), "registry.example/broken:2")})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, c.name(), "Succeeded")
	r.approve(ns)
	r.phase(ns, next.name(), "Failed")
	r.pause(10 * time.Second)
	r.snap("failed")
}

// groupWidened changes an operator group from its own namespace to all, and back.
func groupWidened(r *run) {
	ns, team := r.ns("", nil), r.ns("team", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.before()
	r.merge("OperatorGroup", ns, "group", obj{"spec": obj{"targetNamespaces": nil}})
	r.exists("ClusterServiceVersion", team, "widget.v1.0.0")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("all")
	r.approve(ns)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.exists("ClusterServiceVersion", team, "widget.v1.1.0")
	r.gone("ClusterServiceVersion", team, "widget.v1.0.0")
	r.snap("upgraded")
	r.merge("OperatorGroup", ns, "group", obj{"spec": obj{"targetNamespaces": list{ns}}})
	r.gone("ClusterServiceVersion", team, "widget.v1.1.0")
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.snap("own-again")
}

// write writes the file of a catalog.
func (c *catalog) write(t interface {
	Helper()
	Fatal(...any)
}, blobs ...[]obj) {
	t.Helper()
	f, err := os.Create(filepath.Join(c.dir, "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, b := range slices.Concat(blobs...) {
		if err := json.NewEncoder(f).Encode(b); err != nil {
			t.Fatal(err)
		}
	}
}
