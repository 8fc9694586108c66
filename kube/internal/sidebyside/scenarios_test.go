package sidebyside

import (
	"bytes"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A scenario creates its namespaces and catalogs, does something, and takes snapshots.
type scenario struct {
	name string
	play func(*run)
}

// together lists the scenarios that run at once on one control plane.
var together = []scenario{
	{"own", ownNamespace}, {"dep_gvk", dependencyOnAPI}, {"dep_pkg", dependencyOnPackage}, {"upgrade", upgrade}, {"manual", manual},
	{"starting", starting}, {"missing_pkg", missingPackage}, {"missing_source", missingSource}, {"same_api", sameAPI}, {"same_api_groups", sameAPIInGroups},
	{"delete", deleted}, {"delete_csv_only", csvDeleted}, {"no_group", noGroup}, {"two_groups", twoGroups}, {"two_groups_first", twoGroupsFirst},
	{"group_deleted", groupDeleted}, {"targets", targets}, {"unsupported_group", unsupportedGroup}, {"sa_missing", accountMissing}, {"sa_weak", accountWeak},
	{"sa_docs", accountOfDocs}, {"bad_crd", refusedCRD}, {"crd_version_lost", lostVersion}, {"webhook", webhook}, {"rotation", rotation}, {"conversion_own", conversionOwn},
	{"apiservice", apiService}, {"minkube", minKube}, {"minkube_upgrade", minKubeUpgrade}, {"failforward", failForward}, {"nofailforward", noFailForward},
	{"catalog_gone", catalogGone}, {"unhealthy", unhealthy}, {"bad_source", badSource}, {"image_source", imageSource}, {"csv_direct", csvDirect},
	{"csv_nogroup", csvWithoutGroup}, {"opcondition", operatorCondition}, {"drift", drift}, {"config", config}, {"provider_deleted", providerDeleted},
	{"deprecated", deprecated}, {"bundle_image", bundleImage}, {"skiprange", skipRange}, {"not_deployed", notDeployed}, {"csv_edited", csvEdited},
	{"sub_second_manual", oneManual}, {"cond_rights", conditionRights}, {"cleanup", cleanup}, {"twenty", twenty},
}

// alone lists the scenarios that need separate control planes.
var alone = []scenario{{"all_ns", allNamespaces}, {"conversion", conversion}, {"copied_off", copiedOff}, {"all_rival", allRival}, {"delete_offline", deletedOffline}}

// versions returns a package whose versions replace each other, each with the same API.
func (r *run) versions(c csv, kind string, versions ...string) []obj {
	c.owned = []gvk{r.kind("v1", kind)}
	return c.versions(crd(r.group(), kind), versions...)
}

// versions returns a package whose versions replace each other, each with the same CRD.
func (c csv) versions(crd obj, versions ...string) []obj {
	var bundles []obj
	var entries [][]string
	last := ""
	for _, v := range versions {
		c.version, c.replaces = v, last
		bundles = append(bundles, c.bundle(nil, crd))
		entries = append(entries, []string{c.name(), last})
		last = c.name()
	}
	return append(pkg(c.pkg, channel{"stable", entries}), bundles...)
}

func (r *run) widget(versions ...string) []obj {
	return r.versions(csv{pkg: "widget"}, "Widget", versions...)
}

func stable(entries ...[]string) channel { return channel{"stable", entries} }

// one returns a package with one bundle.
func (c csv) one(properties list, objects ...obj) []obj {
	return append(pkg(c.pkg, stable([]string{c.name()})), c.bundle(properties, objects...))
}

// installed installs widget 1.0.0 in a new namespace.
func (r *run) installed() string {
	r.t.Helper()
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	return ns
}

// before waits until what was installed is at rest.
func (r *run) before() { r.t.Helper(); r.rest() }

func ownNamespace(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	r.catalog(ns, "cat", c.one(nil, crd(r.group(), "Widget"),
		obj{"apiVersion": "v1", "kind": "Service", "metadata": obj{"name": "metrics"}, "spec": obj{"ports": list{obj{"port": 8443}}, "selector": obj{"app": "x"}}},
		obj{"apiVersion": "v1", "kind": "ConfigMap", "metadata": obj{"name": "settings", "labels": obj{"mine": "yes"}}, "data": obj{"a": "b"}},
		obj{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": obj{"name": "sc-own-reader"}, "rules": list{obj{"apiGroups": list{r.group()}, "resources": list{"widgets"}, "verbs": list{"get"}}}},
		obj{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": obj{"name": "pdb"}, "spec": obj{"minAvailable": 1, "selector": obj{"matchLabels": obj{"app": "x"}}}},
		obj{"apiVersion": "v1", "kind": "Secret", "metadata": obj{"name": "sec"}, "stringData": obj{"k": "v"}},
		obj{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": obj{"name": "np"}, "spec": obj{"podSelector": obj{}, "policyTypes": list{"Ingress"}}},
		obj{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": obj{"name": "sc-own-prio", "annotations": obj{"for": "sc-own"}}, "value": 10},
	))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.plan(ns, "Complete")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

// app requires an API, and base provides it.
func (r *run) app() []obj {
	return csv{pkg: "app", version: "1.0.0", owned: []gvk{r.kind("v1", "App")}, required: []gvk{r.kind("v1", "Base")}}.one(nil, crd(r.group(), "App"))
}

func (r *run) base(version, replaces string) obj {
	return csv{pkg: "base", version: version, replaces: replaces, owned: []gvk{r.kind("v1", "Base")}}.bundle(nil, crd(r.group(), "Base"))
}

func (r *run) both(ns string) {
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "app", nil)
	r.phase(ns, "app.v1.0.0", "Succeeded")
	r.phase(ns, "base.v1.0.0", "Succeeded")
}

func dependencyOnAPI(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.app(), pkg("base", channel{"alpha", [][]string{{"base.v0.9.0"}}}, stable([]string{"base.v1.0.0", "", "base.v0.9.0"})), []obj{r.base("0.9.0", ""), r.base("1.0.0", "")})
	r.both(ns)
	r.snap("end")
}

func dependencyOnPackage(r *run) {
	ns := r.ns("", nil)
	app := csv{pkg: "app", version: "1.0.0", owned: []gvk{r.kind("v1", "App")}}
	needs := list{obj{"type": "olm.package.required", "value": obj{"packageName": "base", "versionRange": "<1.5.0"}}}
	r.catalog(ns, "cat", app.one(needs, crd(r.group(), "App")),
		pkg("base", stable([]string{"base.v1.0.0"}, []string{"base.v2.0.0", "base.v1.0.0"})), []obj{r.base("1.0.0", ""), r.base("2.0.0", "base.v1.0.0")})
	r.both(ns)
	r.snap("end")
}

func providerDeleted(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.app(), pkg("base", stable([]string{"base.v1.0.0"})), []obj{r.base("1.0.0", "")})
	r.both(ns)
	r.before()
	for _, u := range r.objects() {
		if u.GetKind() == "Subscription" && field(u.Object, "spec", "name") == "base" {
			r.delete("Subscription", ns, u.GetName())
		}
	}
	r.delete("ClusterServiceVersion", ns, "base.v1.0.0")
	r.pause(12 * time.Second)
	r.snap("end")
}

func upgrade(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0", "1.2.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": "widget.v1.0.0"})
	r.phase(ns, "widget.v1.2.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.gone("ClusterServiceVersion", ns, "widget.v1.1.0")
	r.snap("end")
}

func startManually(more obj) obj {
	out := obj{"startingCSV": "widget.v1.0.0", "installPlanApproval": "Manual"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func manual(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.plan(ns, "RequiresApproval")
	r.snap("pending")
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.plan(ns, "RequiresApproval")
	r.snap("upgrade-pending")
	r.approve(ns)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.snap("end")
}

func starting(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": "widget.v9.9.9"})
	r.condition(ns, "widget", "ResolutionFailed")
	r.snap("no-such-csv")
}

func missingPackage(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "gizmo", nil)
	r.condition(ns, "gizmo", "ResolutionFailed")
	r.snap("no-package")
	r.delete("Subscription", ns, "gizmo")
	r.subscribe(ns, "widget", obj{"channel": "nightly"})
	r.condition(ns, "widget", "ResolutionFailed")
	r.snap("no-channel")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "stable"}})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("fixed")
}

func missingSource(r *run) {
	ns := r.ns("", nil)
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"source": "nowhere"})
	r.condition(ns, "widget", "ResolutionFailed")
	r.snap("end")
}

// rival provides the API of widget.
func (r *run) rival() []obj {
	return csv{pkg: "rival", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}.one(nil, crd(r.group(), "Widget"))
}

func sameAPI(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"), r.rival())
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.subscribe(ns, "rival", nil)
	r.condition(ns, "rival", "ResolutionFailed")
	r.snap("one-namespace")
}

func sameAPIInGroups(r *run) {
	a, b := r.ns("a", nil), r.ns("b", nil)
	r.catalog(a, "cat", r.widget("1.0.0"), r.rival())
	r.catalog(b, "cat", r.widget("1.0.0"), r.rival())
	r.operatorGroup(a, obj{"targetNamespaces": list{a, b}})
	r.subscribe(a, "widget", nil)
	r.phase(a, "widget.v1.0.0", "Succeeded")
	r.operatorGroup(b, own(b))
	r.subscribe(b, "rival", nil)
	r.phase(b, "rival.v1.0.0", "Failed")
	r.snap("conflict")
	r.delete("Subscription", a, "widget")
	r.delete("ClusterServiceVersion", a, "widget.v1.0.0")
	r.phase(b, "rival.v1.0.0", "Succeeded")
	r.snap("first-gone")
}

func deleted(r *run) {
	ns := r.installed()
	r.before()
	r.delete("Subscription", ns, "widget")
	r.snap("subscription-gone")
	r.delete("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.gone("Deployment", ns, "widget-controller")
	r.snap("csv-gone")
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("again")
}

func csvDeleted(r *run) {
	ns := r.installed()
	r.before()
	r.delete("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.pause(15 * time.Second)
	r.snap("end")
}

func noGroup(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.subscribe(ns, "widget", nil)
	r.pause(12 * time.Second)
	r.snap("no-group")
	r.operatorGroup(ns, own(ns))
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("group-made")
}

func twoGroups(r *run) {
	ns := r.installed()
	r.before()
	r.namedGroup(ns, "second", own(ns))
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.snap("two")
	r.delete("OperatorGroup", ns, "second")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("one-again")
}

func twoGroupsFirst(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.namedGroup(ns, "second", own(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(12 * time.Second)
	r.snap("end")
}

func groupDeleted(r *run) {
	ns := r.installed()
	r.before()
	r.delete("OperatorGroup", ns, "group")
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.snap("end")
}

func targets(r *run) {
	ns, other, third := r.ns("", nil), r.ns("other", nil), r.ns("third", obj{"team": "x"})
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.before()
	r.merge("OperatorGroup", ns, "group", obj{"spec": obj{"targetNamespaces": list{ns, other}}})
	r.exists("ClusterServiceVersion", other, "widget.v1.0.0")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("two")
	r.merge("OperatorGroup", ns, "group", obj{"spec": obj{"targetNamespaces": nil, "selector": obj{"matchLabels": obj{"team": "x"}}}})
	r.gone("ClusterServiceVersion", other, "widget.v1.0.0")
	r.snap("selector")
	r.merge("OperatorGroup", ns, "group", obj{"spec": obj{"targetNamespaces": list{ns}, "selector": nil}})
	r.gone("ClusterServiceVersion", third, "widget.v1.0.0")
	r.snap("own-again")
}

func unsupportedGroup(r *run) {
	ns, other := r.ns("", nil), r.ns("other", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", modes: []string{"OwnNamespace"}}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(other))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.snap("unsupported")
	r.merge("OperatorGroup", ns, "group", obj{"spec": obj{"targetNamespaces": list{ns}}})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("fixed")
}

func (r *run) account(ns, name string) {
	r.put(obj{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": obj{"name": name, "namespace": ns}})
}

func withAccount(ns string) obj {
	return obj{"targetNamespaces": list{ns}, "serviceAccountName": "boss"}
}

func accountMissing(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, withAccount(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(20 * time.Second)
	r.snap("missing")
	r.account(ns, "boss")
	r.put(obj{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": obj{"name": ns + "-boss"},
		"roleRef":  obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": list{obj{"kind": "ServiceAccount", "name": "boss", "namespace": ns}},
	})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("made")
}

func accountWeak(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.account(ns, "boss")
	r.operatorGroup(ns, withAccount(ns))
	r.subscribe(ns, "widget", nil)
	if r.backend == byOLM {
		r.plan(ns, "Failed")
	}
	r.snap("weak")
}

// accountOfDocs uses an account with the permissions that OLM's documentation lists for
// installations by tenants, which has none for CRDs.
func accountOfDocs(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", namespaced: true}, "Widget", "1.0.0"))
	r.account(ns, "boss")
	const rbac = "rbac.authorization.k8s.io"
	rule := func(group string, resources list, verbs ...any) obj {
		return obj{"apiGroups": list{group}, "resources": resources, "verbs": verbs}
	}
	r.put(obj{"apiVersion": rbac + "/v1", "kind": "Role", "metadata": obj{"name": "boss", "namespace": ns}, "rules": list{
		rule("operators.coreos.com", list{"subscriptions", "clusterserviceversions"}, "get", "create", "update", "patch"),
		rule("", list{"services", "serviceaccounts"}, "get", "create", "update", "patch"),
		rule(rbac, list{"roles", "rolebindings"}, "get", "create", "update", "patch"),
		rule("apps", list{"deployments"}, "list", "watch", "get", "create", "update", "patch", "delete"),
		rule("", list{"pods"}, "list", "watch", "get", "create", "update", "patch", "delete"),
		rule("", list{"secrets"}, "get", "list", "create", "update", "patch", "delete"),
		rule("", list{"configmaps", "pods"}, "get", "list", "watch", "create"),
	}})
	r.put(obj{
		"apiVersion": rbac + "/v1", "kind": "RoleBinding", "metadata": obj{"name": "boss", "namespace": ns},
		"roleRef": obj{"apiGroup": rbac, "kind": "Role", "name": "boss"}, "subjects": list{obj{"kind": "ServiceAccount", "name": "boss", "namespace": ns}},
	})
	r.operatorGroup(ns, withAccount(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

func refusedCRD(r *run) {
	ns := r.ns("", nil)
	size := func(more obj) obj {
		more["type"] = "integer"
		return obj{"type": "object", "properties": obj{"size": more}}
	}
	strict := size(obj{"minimum": 5})
	strict["required"] = list{"size"}
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	next := c
	next.version, next.replaces = "2.0.0", c.name()
	r.catalog(ns, "cat", pkg("widget", channel{"old", [][]string{{c.name()}}}, stable([]string{c.name()}, []string{next.name(), c.name()})),
		[]obj{c.bundle(nil, crdOf(r.group(), "Widget", size(obj{}), "v1")), next.bundle(nil, crdOf(r.group(), "Widget", strict, "v1"))})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"channel": "old"})
	r.phase(ns, c.name(), "Succeeded")
	w := obj{"apiVersion": r.group() + "/v1", "kind": "Widget", "metadata": obj{"name": "w", "namespace": ns}, "spec": obj{"size": 1}}
	r.put(w)
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "stable"}})
	r.plan(ns, "Failed")
	r.snap("refused")
	u := unstructuredOf(w)
	must(r.t, r.Patch(r.t.Context(), u, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":7}}`))))
	r.pause(40 * time.Second)
	r.snap("cr-fixed")
}

func lostVersion(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1alpha1", "Widget")}}
	next := csv{pkg: "widget", version: "2.0.0", replaces: c.name(), owned: []gvk{r.kind("v1", "Widget")}}
	r.catalog(ns, "cat", pkg("widget", stable([]string{c.name()}, []string{next.name(), c.name()})),
		[]obj{c.bundle(nil, crd(r.group(), "Widget", "v1alpha1")), next.bundle(nil, crd(r.group(), "Widget", "v1"))})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": c.name()})
	r.phase(ns, c.name(), "Succeeded")
	r.plan(ns, "Failed")
	r.snap("end")
}

func webhook(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", webhooks: hooks("widget")}, "Widget", "1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.plan(ns, "RequiresApproval")
	r.snap("installed")
	r.approve(ns)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.snap("upgraded")
	r.delete("Subscription", ns, "widget")
	r.delete("ClusterServiceVersion", ns, "widget.v1.1.0")
	r.pause(5 * time.Second)
	r.snap("deleted")
}

// rotation replaces a certificate that expires within a day by another.
func rotation(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", webhooks: hooks("widget")}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.before()
	old := r.expire(ns)
	r.merge("ClusterServiceVersion", ns, "widget.v1.0.0", obj{"metadata": obj{"labels": obj{"somebody": "wrote-it"}}}) // neither controller watches the Secret for this
	if !r.until("the certificate is replaced", func() bool { return r.trusted(ns) != nil && !bytes.Equal(r.trusted(ns), old) }) {
		r.t.Errorf("%s does not rotate the certificate", r.backend)
	}
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("rotated")
}

// converting returns an operator with an API in two versions and a conversion webhook at a
// port.
func (r *run) converting(port int, modes []string, versions ...string) []obj {
	c := csv{pkg: "widget", modes: modes, owned: []gvk{r.kind("v1", "Widget"), r.kind("v2", "Widget")}, webhooks: hooks("widget", "widgets."+r.group())}
	for _, h := range c.webhooks {
		h.(obj)["containerPort"] = port
	}
	return c.versions(crd(r.group(), "Widget", "v1", "v2"), versions...)
}

// conversion converts a custom resource to the other version and back, before and after an
// upgrade.
func conversion(r *run) {
	ns := r.ns("", nil)
	r.port = r.listen(ns, http.HandlerFunc(convert))
	r.catalog(ns, "cat", r.converting(r.port, []string{"AllNamespaces"}, "1.0.0", "1.1.0"))
	r.operatorGroup(ns, obj{})
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.lead(ns, "localhost")
	r.put(obj{"apiVersion": r.group() + "/v1", "kind": "Widget", "metadata": obj{"name": "w", "namespace": ns}, "spec": obj{"size": 3}})
	r.roundTrip(ns)
	r.plan(ns, "RequiresApproval")
	r.snap("installed")
	r.approve(ns)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.roundTrip(ns)
	r.snap("upgraded")
}

// roundTrip checks that the widget w, which somebody wrote in v1, has its fields in both
// versions.
func (r *run) roundTrip(ns string) {
	r.t.Helper()
	for version, want := range map[string]string{"v1": "size", "v2": "replicas"} {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: r.group(), Version: version, Kind: "Widget"})
		ok := r.until("the widget is read in "+version, func() bool {
			return r.Get(r.t.Context(), types.NamespacedName{Namespace: ns, Name: "w"}, u) == nil
		})
		if spec, _ := u.Object["spec"].(obj); !ok || len(spec) != 1 || spec[want] != int64(3) {
			r.t.Errorf("under %s, the spec in %s is %v, want %s: 3", r.backend, version, spec, want)
		}
	}
}

func conversionOwn(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.converting(443, nil, "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.snap("end")
}

func minKube(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", minKube: "99.0.0"}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(15 * time.Second)
	r.snap("end")
}

func minKubeUpgrade(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	next := c
	next.version, next.replaces, next.minKube = "2.0.0", c.name(), "99.0.0"
	r.catalog(ns, "cat", pkg("widget", stable([]string{c.name()}, []string{next.name(), c.name()})), []obj{c.bundle(nil, crd(r.group(), "Widget")), next.bundle(nil, crd(r.group(), "Widget"))})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"startingCSV": c.name()})
	r.phase(ns, c.name(), "Succeeded")
	r.pause(15 * time.Second)
	r.snap("end")
}

func failForward(r *run)   { failing(r, "TechPreviewUnsafeFailForward") }
func noFailForward(r *run) { failing(r, "Default") }

func failing(r *run, strategy string) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", owned: []gvk{r.kind("v1", "Widget")}}
	bundle := func(version, replaces, image string) obj {
		c := c
		c.version, c.replaces, c.image = version, replaces, image
		return c.bundle(nil, crd(r.group(), "Widget"))
	}
	one, two := []string{"widget.v1.0.0"}, []string{"widget.v2.0.0", "widget.v1.0.0"}
	r.catalog(ns, "cat", pkg("widget", channel{"old", [][]string{one}}, channel{"mid", [][]string{one, two}}, stable(one, two, []string{"widget.v3.0.0", "widget.v2.0.0", "widget.v1.0.0"})),
		[]obj{bundle("1.0.0", "", ""), bundle("2.0.0", "widget.v1.0.0", "registry.example/broken"), bundle("3.0.0", "widget.v2.0.0", "")})
	spec := own(ns)
	spec["upgradeStrategy"] = strategy
	r.operatorGroup(ns, spec)
	r.subscribe(ns, "widget", obj{"channel": "old"})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "mid"}})
	r.phase(ns, "widget.v2.0.0", "Failed")
	r.snap("failed")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "stable"}})
	if strategy != "Default" || r.backend == byOLM {
		r.phase(ns, "widget.v3.0.0", "Succeeded")
	}
	r.snap("forward")
}

func (r *run) gadget() []obj { return r.versions(csv{pkg: "gadget"}, "Gadget", "1.0.0") }

func catalogGone(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"), r.gadget())
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.before()
	r.unserve(ns, "cat")
	r.pause(20 * time.Second)
	r.snap("server-gone")
	r.subscribe(ns, "gadget", nil)
	r.pause(15 * time.Second)
	r.snap("new-subscription")
	r.serve(ns, "cat")
	r.phase(ns, "gadget.v1.0.0", "Succeeded")
	r.snap("back")
	r.delete("CatalogSource", ns, "cat")
	r.pause(10 * time.Second)
	r.snap("source-deleted")
}

func unhealthy(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.catalog(ns, "sick", r.gadget())
	r.until("it is read", func() bool {
		o, _ := r.get("CatalogSource", ns, "sick")
		return field(o, "status", "connectionState", "lastObservedState") == "READY"
	})
	r.unserve(ns, "sick")
	r.pause(8 * time.Second)
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	if r.backend == byOLM {
		r.pause(45 * time.Second)
	} else {
		r.phase(ns, "widget.v1.0.0", "Succeeded")
	}
	r.snap("end")
}

func (r *run) source(ns, name string, spec obj) error {
	return r.create(obj{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": obj{"name": name, "namespace": ns}, "spec": spec})
}

func badSource(r *run) {
	ns := r.ns("", nil)
	must(r.t, r.source(ns, "internal", obj{"sourceType": "internal", "configMap": "nope"}))
	must(r.t, r.source(ns, "empty", obj{"sourceType": "grpc"}))
	must(r.t, r.source(ns, "badtype", obj{"sourceType": "nfs", "address": "x"}))
	r.pause(6 * time.Second)
	r.snap("end")
}

func imageSource(r *run) {
	ns := r.ns("", nil)
	must(r.t, r.source(ns, "cat", obj{"sourceType": "grpc", "image": "registry.invalid/catalog:v1", "displayName": "x", "publisher": "y"}))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(15 * time.Second)
	r.snap("end")
}

func (r *run) direct(ns string) {
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}.object()
	c["metadata"].(obj)["namespace"] = ns
	r.put(c)
}

func csvDirect(r *run) {
	ns := r.ns("", nil)
	r.operatorGroup(ns, own(ns))
	r.direct(ns)
	r.phase(ns, "widget.v1.0.0", "Pending")
	r.pause(5 * time.Second)
	r.snap("no-crd")
	r.put(crd(r.group(), "Widget"))
	r.pause(5 * time.Second)
	r.snap("no-permissions")
	r.account(ns, "widget-sa")
	r.pause(5 * time.Second)
	r.snap("sa")
}

func csvWithoutGroup(r *run) {
	ns := r.ns("", nil)
	r.put(crd(r.group(), "Widget"))
	r.direct(ns)
	r.pause(8 * time.Second)
	r.snap("end")
}

func operatorCondition(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.exists("OperatorCondition", ns, "widget.v1.0.0")
	r.merge("OperatorCondition", ns, "widget.v1.0.0", obj{"spec": obj{"conditions": list{obj{
		"type": "Upgradeable", "status": "False", "reason": "Busy", "message": "not now", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}}})
	r.pause(3 * time.Second)
	r.approve(ns)
	r.pause(10 * time.Second)
	r.snap("blocked")
	r.merge("OperatorCondition", ns, "widget.v1.0.0", obj{"spec": obj{"overrides": list{obj{"type": "Upgradeable", "status": "True", "reason": "Forced", "message": "yes"}}}})
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.snap("overridden")
}

func drift(r *run) {
	ns := r.installed()
	r.before()
	r.delete("Deployment", ns, "widget-controller")
	r.exists("Deployment", ns, "widget-controller")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("deployment-deleted")
	r.merge("Deployment", ns, "widget-controller", obj{"metadata": obj{"labels": obj{"user": "label"}, "annotations": obj{"user": "note"}}, "spec": obj{"replicas": 3}})
	r.pause(10 * time.Second)
	r.snap("deployment-changed")
	for _, u := range r.objects() {
		if u.GetKind() == "Role" {
			r.delete("Role", ns, u.GetName())
		}
	}
	r.pause(12 * time.Second)
	r.snap("role-deleted")
	r.delete("ServiceAccount", ns, "widget-sa")
	r.pause(12 * time.Second)
	r.snap("account-deleted")
	r.delete("CustomResourceDefinition", "", "widgets."+r.group())
	r.pause(12 * time.Second)
	r.snap("crd-deleted")
}

func config(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"config": obj{
		"env": list{obj{"name": "A", "value": "b"}}, "envFrom": list{obj{"configMapRef": obj{"name": "x", "optional": true}}},
		"resources": obj{"limits": obj{"memory": "1Gi"}, "requests": obj{"cpu": "100m"}}, "nodeSelector": obj{"a": "b"},
		"tolerations": list{obj{"key": "k", "operator": "Exists"}}, "annotations": obj{"note": "x"},
		"volumes": list{obj{"name": "v", "emptyDir": obj{}}}, "volumeMounts": list{obj{"name": "v", "mountPath": "/v"}}, "selector": obj{"matchLabels": obj{"q": "r"}},
		"affinity": obj{"nodeAffinity": obj{"requiredDuringSchedulingIgnoredDuringExecution": obj{"nodeSelectorTerms": list{obj{"matchExpressions": list{obj{"key": "z", "operator": "Exists"}}}}}}},
	}})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"config": obj{"env": list{obj{"name": "A", "value": "c"}}}}})
	r.pause(10 * time.Second)
	r.snap("changed")
}

func deprecated(r *run) {
	ns := r.ns("", nil)
	reference := func(ref obj, message string) obj { return obj{"reference": ref, "message": message} }
	r.catalog(ns, "cat", r.widget("1.0.0", "1.1.0"), []obj{{"schema": "olm.deprecations", "package": "widget", "entries": list{
		reference(obj{"schema": "olm.package"}, "package is old"), reference(obj{"schema": "olm.channel", "name": "stable"}, "channel is old"),
		reference(obj{"schema": "olm.bundle", "name": "widget.v1.0.0"}, "bundle is old"),
	}}})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", startManually(nil))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("end")
}

// bundleImage has a bundle whose image cannot be pulled.
func bundleImage(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0"}.object()
	r.catalog(ns, "cat", pkg("widget", stable([]string{"widget.v1.0.0"})), []obj{{
		"schema": "olm.bundle", "name": "widget.v1.0.0", "package": "widget", "image": "registry.invalid/widget:v1", "properties": list{
			obj{"type": "olm.package", "value": obj{"packageName": "widget", "version": "1.0.0"}},
			obj{"type": "olm.gvk", "value": obj{"group": r.group(), "version": "v1", "kind": "Widget"}},
			obj{"type": "olm.csv.metadata", "value": obj{"displayName": "w", "installModes": c["spec"].(obj)["installModes"], "annotations": obj{}}},
		},
	}})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.pause(25 * time.Second)
	r.snap("end")
}

func skipRange(r *run) {
	ns := r.ns("", nil)
	c := csv{pkg: "widget", version: "1.0.0", owned: []gvk{r.kind("v1", "Widget")}}
	next := c
	next.version, next.annotations = "2.0.0", obj{"olm.skipRange": ">=1.0.0 <2.0.0"}
	blobs := pkg("widget", channel{"old", [][]string{{c.name()}}}, stable([]string{next.name()}))
	blobs[2]["entries"].(list)[0].(obj)["skipRange"] = ">=1.0.0 <2.0.0"
	r.catalog(ns, "cat", blobs, []obj{c.bundle(nil, crd(r.group(), "Widget")), next.bundle(nil, crd(r.group(), "Widget"))})
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"channel": "old"})
	r.phase(ns, c.name(), "Succeeded")
	r.merge("Subscription", ns, "widget", obj{"spec": obj{"channel": "stable"}})
	r.phase(ns, next.name(), "Succeeded")
	r.gone("ClusterServiceVersion", ns, c.name())
	r.snap("end")
}

func notDeployed(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", image: "registry.example/broken"}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Failed")
	r.snap("end")
}

// csvEdited scales an operator as ODF's scales what it depends on.
func csvEdited(r *run) {
	ns := r.installed()
	r.before()
	r.patch(types.JSONPatchType, "ClusterServiceVersion", ns, "widget.v1.0.0", list{obj{"op": "replace", "path": "/spec/install/spec/deployments/0/spec/replicas", "value": 0}})
	r.until("it is scaled", func() bool {
		d, _ := r.get("Deployment", ns, "widget-controller")
		spec, _ := d["spec"].(obj)
		return spec["replicas"] == int64(0)
	})
	r.snap("scaled")
}

func oneManual(r *run) {
	ns := r.ns("", nil)
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", obj{"installPlanApproval": "Manual"})
	r.subscribe(ns, "gadget", nil)
	r.catalog(ns, "cat", r.widget("1.0.0"), r.gadget()) // last, so that nothing is planned for one of them alone
	r.plan(ns, "RequiresApproval")
	r.snap("pending")
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.phase(ns, "gadget.v1.0.0", "Succeeded")
	r.snap("end")
}

// conditionRights asks the API server whether an operator may update its own condition, and no
// other.
func conditionRights(r *run) {
	ns := r.installed()
	allowed := func(condition string) bool {
		review := obj{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": obj{
			"user": "system:serviceaccount:" + ns + ":widget-sa",
			"resourceAttributes": obj{
				"group": "operators.coreos.com", "version": "v2", "resource": "operatorconditions", "verb": "update", "namespace": ns, "name": condition,
			},
		}}
		u := unstructuredOf(review)
		must(r.t, r.Create(r.t.Context(), u))
		ok, _, _ := unstructured.NestedBool(u.Object, "status", "allowed")
		return ok
	}
	if !r.until("the operator may update its condition", func() bool { return allowed("widget.v1.0.0") }) {
		r.t.Errorf("under %s, the operator may not update its own condition", r.backend)
	}
	if allowed("gadget.v1.0.0") {
		r.t.Errorf("under %s, the operator may update the condition of another", r.backend)
	}
	r.snap("end")
}

func cleanup(r *run) {
	ns := r.ns("", nil)
	r.catalog(ns, "cat", r.versions(csv{pkg: "widget", cleanup: true}, "Widget", "1.0.0"))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.put(obj{"apiVersion": r.group() + "/v1", "kind": "Widget", "metadata": obj{"name": "w", "namespace": ns}, "spec": obj{"size": 1}})
	r.before()
	r.delete("Subscription", ns, "widget")
	r.delete("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.gone("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.snap("end")
}

// twenty installs twenty operators of all sorts in one namespace.
func twenty(r *run) {
	ns := r.ns("", nil)
	var blobs []obj
	var names []string
	for i := range 20 {
		name := "op" + string(rune('a'+i))
		c := csv{pkg: name}
		if i%4 == 3 {
			c.webhooks = hooks(name)
		}
		blobs = append(blobs, r.versions(c, "Op"+string(rune('a'+i)), "1.0.0")...)
		names = append(names, name)
	}
	r.operatorGroup(ns, own(ns))
	for _, name := range names {
		r.subscribe(ns, name, nil)
	}
	r.catalog(ns, "cat", blobs) // last, so that one plan installs all
	for _, name := range names {
		r.phase(ns, name+".v1.0.0", "Succeeded")
	}
	r.snap("installed")
}

func allNamespaces(r *run) {
	ns, team, empty := r.ns("", nil), r.ns("team", nil), r.ns("empty", nil)
	r.catalog("olm", "cat", r.widget("1.0.0", "1.1.0"))
	r.operatorGroup(ns, obj{})
	r.subscribe(ns, "widget", startManually(obj{"sourceNamespace": "olm"}))
	r.approve(ns)
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.exists("ClusterServiceVersion", team, "widget.v1.0.0")
	r.plan(ns, "RequiresApproval")
	r.snap("installed")
	late := r.ns("late", nil)
	r.exists("ClusterServiceVersion", late, "widget.v1.0.0")
	r.approve(ns)
	r.phase(ns, "widget.v1.1.0", "Succeeded")
	r.gone("ClusterServiceVersion", team, "widget.v1.0.0")
	r.snap("upgraded")
	r.delete("ClusterServiceVersion", team, "widget.v1.1.0")
	r.exists("ClusterServiceVersion", team, "widget.v1.1.0")
	r.merge("ClusterServiceVersion", empty, "widget.v1.1.0", obj{"spec": obj{"description": "changed"}})
	r.pause(10 * time.Second)
	r.snap("copy-changed")
	r.delete("Subscription", ns, "widget")
	r.delete("ClusterServiceVersion", ns, "widget.v1.1.0")
	r.gone("ClusterServiceVersion", team, "widget.v1.1.0")
	r.snap("deleted")
}

func copiedOff(r *run) {
	ns, team := r.ns("", nil), r.ns("team", nil)
	r.catalog("olm", "cat", r.widget("1.0.0"))
	r.operatorGroup(ns, obj{})
	r.subscribe(ns, "widget", obj{"sourceNamespace": "olm"})
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.exists("ClusterServiceVersion", team, "widget.v1.0.0")
	r.merge("OLMConfig", "", "cluster", obj{"spec": obj{"features": obj{"disableCopiedCSVs": true}}})
	r.gone("ClusterServiceVersion", team, "widget.v1.0.0")
	r.snap("off")
	r.merge("OLMConfig", "", "cluster", obj{"spec": obj{"features": obj{"disableCopiedCSVs": false}}})
	r.exists("ClusterServiceVersion", team, "widget.v1.0.0")
	r.snap("on")
}

func allRival(r *run) {
	a, b := r.ns("a", nil), r.ns("b", nil)
	r.catalog("olm", "cat", r.widget("1.0.0"), r.rival())
	r.operatorGroup(a, obj{})
	r.subscribe(a, "widget", obj{"sourceNamespace": "olm"})
	r.phase(a, "widget.v1.0.0", "Succeeded")
	r.before()
	r.operatorGroup(b, obj{})
	r.subscribe(b, "rival", obj{"sourceNamespace": "olm"})
	r.phase(b, "rival.v1.0.0", "Failed")
	r.snap("conflict")
}

// deletedOffline deletes an operator while no controller runs.
func deletedOffline(r *run) {
	ns := r.installed()
	r.before()
	r.stop()
	r.delete("Subscription", ns, "widget")
	r.delete("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.snap("offline")
	r.start()
	r.pause(20 * time.Second)
	r.snap("online")
}

// apiService serves an aggregated API with the certificate that was made for it.
func apiService(r *run) {
	ns, group := r.ns("", nil), "ext-"+r.group()
	r.port = r.listen(ns, aggregated(group))
	c := csv{pkg: "widget", version: "1.0.0", apis: list{obj{
		"group": group, "version": "v1", "kind": "Thing", "name": "things", "deploymentName": "widget-controller", "containerPort": r.port, "displayName": "Thing", "description": "Thing",
	}}}
	r.catalog(ns, "cat", c.one(nil))
	r.operatorGroup(ns, own(ns))
	r.subscribe(ns, "widget", nil)
	r.exists("APIService", "", "v1."+group)
	r.snap("unavailable")
	r.lead(ns, "localhost")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("available")
	r.lead(ns, "gone.invalid")
	r.until("the operator has not succeeded", func() bool {
		o, ok := r.get("ClusterServiceVersion", ns, "widget.v1.0.0")
		return ok && field(o, "status", "phase") != "Succeeded"
	})
	r.pause(15 * time.Second)
	r.snap("dead")
	r.lead(ns, "localhost")
	r.phase(ns, "widget.v1.0.0", "Succeeded")
	r.snap("alive")
	r.delete("Subscription", ns, "widget")
	r.delete("ClusterServiceVersion", ns, "widget.v1.0.0")
	r.gone("APIService", "", "v1."+group)
	r.snap("deleted")
}
