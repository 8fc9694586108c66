package reconcile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// drifted returns a settled world with an operator whose deployment has resources.
func drifted(t *testing.T) *world {
	t.Helper()
	w := worldOf(t, "drift")
	for name, list := range w.manifests {
		for i, o := range list {
			if o.Kind == olm.KindClusterServiceVersion {
				o.Rest = o.Rest.With("spec", []byte(strings.Replace(string(o.Rest["spec"]), `"name":"operator"`,
					`"name":"operator","args":["-v"],"ports":[],"stdin":false,"resources":{"limits":{"cpu":"1500m","memory":"1024Mi","ephemeral-storage":"1e3"}}`, 1)))
				w.manifests[name][i] = o
			}
		}
	}
	undisturbed(t, w)
	return w
}

// edit changes the text of a deployment's spec.
func (w *world) edit(t *testing.T, old, new string) {
	t.Helper()
	d := get[olm.Deployment](t, w.Cluster, "Deployment", "ops/example")
	text := strings.Replace(string(d.Spec), old, new, 1)
	if text == string(d.Spec) {
		t.Fatalf("no %s in %s", old, d.Spec)
	}
	d.Spec = []byte(text)
	d.Metadata.Generation++
	w.put(t, d)
}

// E3: the workloads of an operator are restored after they were changed or deleted, with the
// same label. The cluster ends as before.
func TestDrift(t *testing.T) {
	remove := func(kind, prefix string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			t.Helper()
			for _, o := range w.List() {
				if o.Kind == kind && strings.HasPrefix(o.Metadata.Name, prefix) {
					if err := w.Remove(o.Key()); err != nil {
						t.Fatal(err)
					}
					return
				}
			}
			t.Fatalf("no %s %s", kind, prefix)
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, *world)
	}{
		{"image", func(t *testing.T, w *world) { w.edit(t, "example:0.1.1", "example:evil") }},
		{"arguments gone", func(t *testing.T, w *world) { w.edit(t, `"args":["-v"],`, "") }},
		{"argument more", func(t *testing.T, w *world) { w.edit(t, `["-v"]`, `["-v","-x"]`) }},
		{"limit", func(t *testing.T, w *world) { w.edit(t, `"1500m"`, `"1600m"`) }},
		{"replicas", func(t *testing.T, w *world) { w.edit(t, `"replicas":1`, `"replicas":0`) }},
		{"ServiceAccount", remove("ServiceAccount", "runner")},
		{"Role", remove("Role", "example.v0.1.1-runner-")},
		{"RoleBinding", remove("RoleBinding", "example.v0.1.1-runner-")},
		{"ClusterRole", remove("ClusterRole", "example.v0.1.1-2")},
		{"ClusterRoleBinding", remove("ClusterRoleBinding", "example.v0.1.1-2")},
		{"rules", func(t *testing.T, w *world) {
			for _, o := range w.List() {
				if o.Kind == "Role" {
					o.Rest = olm.Members{"rules": []byte(`[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]`)}
					w.put(t, &o)
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := drifted(t)
			want := whatever(t, w.Cluster)
			c.spoil(t, w)
			undisturbed(t, w)
			d := get[olm.Deployment](t, w.Cluster, "Deployment", "ops/example")
			if d.Metadata.Annotations != nil { // how it was found
				d.Metadata.Annotations = nil
				w.put(t, d)
			}
			if diff := gocmp.Diff(want, whatever(t, w.Cluster)); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

// Fields that an API server adds to a deployment do not count as changes.
func TestNoDrift(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"default", `"name":"operator"`, `"imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log","name":"operator"`},
		{"quantity", `"1500m"`, `"1.5"`},
		{"quantity of two powers", `"1024Mi"`, `"1Gi"`},
		{"quantity without an exponent", `"1e3"`, `"1k"`},
		{"empty list", `"ports":[],`, ""},
		{"false", `,"stdin":false`, ""},
	} {
		w := drifted(t)
		w.edit(t, c.old, c.new)
		if r, err := w.loop().Run(t.Context(), testNamespace); err != nil || r.Changes > 0 {
			t.Errorf("%s: %d changes, error %v", c.name, r.Changes, err)
		}
	}
}

// If something, such as a webhook, changes a deployment each time it is written, this is
// reported and the deployment is left alone.
func TestDriftEachTime(t *testing.T) {
	w := drifted(t)
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		err := apply()
		if err == nil && c.Object.Kind == "Deployment" {
			w.edit(t, "example:0.1.1", "mirror:0.1.1")
		}
		return err
	}
	w.edit(t, "example:0.1.1", "mirror:0.1.1")
	r, err := w.loop().Run(t.Context(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	noted(t, r.Plan, "example", "/template/spec/containers/0/image differs from the operator's specification; it was already reverted once and changed again")
	atRest(t, w.Cluster)
}

// If the cluster refuses to restore an object, the operator's status reports that, and the
// object is restored when it is permitted. If a service account limits the installation,
// nothing is restored.
func TestRefusedRestoration(t *testing.T) {
	account := olm.Key{Kind: "ServiceAccount", Namespace: "ops", Name: "runner"}
	w := drifted(t)
	if err := w.Remove(account); err != nil {
		t.Fatal(err)
	}
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if c.Key() == account {
			return errors.New("is forbidden")
		}
		return apply()
	}
	if _, err := w.loop().Run(t.Context(), testNamespace); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("create %s: is forbidden", account)) {
		t.Errorf("got error %v", err)
	}
	csv := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1")
	if csv.Status.Phase != olm.PhasePending || !strings.Contains(csv.Status.Message, "ServiceAccount runner (Service account does not exist)") {
		t.Errorf("the operator is %s: %s", csv.Status.Phase, csv.Status.Message)
	}
	w.Intercept = nil
	undisturbed(t, w)
	atRest(t, w.Cluster)

	group := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
	group.Spec.ServiceAccountName = "installer"
	w.put(t, group)
	w.existing(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: installer, namespace: ops}}`)
	if err := w.Remove(account); err != nil {
		t.Fatal(err)
	}
	undisturbed(t, w)
	if _, err := w.Get(account); err == nil {
		t.Error("the service account came back, whoever may make it")
	}
	csv = get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1")
	if csv.Status.Phase == olm.PhaseSucceeded {
		t.Errorf("the operator is %s: %s", csv.Status.Phase, csv.Status.Message)
	}
}
