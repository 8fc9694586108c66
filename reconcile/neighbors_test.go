package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// neighbors returns a cluster with the operator of the scenario "targets" in
// the namespaces ops and two, each with a group of a name and spec.
func neighbors(t *testing.T, groups [2]string, spec [2]string, edit *strings.Replacer) *world {
	t.Helper()
	a, err := txtar.ParseFile("testdata/scenario/targets.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var state strings.Builder
	fmt.Fprint(&state, "apiVersion: v1\nkind: Namespace\nmetadata: {name: two}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: tenant}\n")
	for i, ns := range []string{testNamespace, "two"} {
		fmt.Fprintf(&state, `---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: %s, namespace: %s}
spec: %s
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: example, namespace: %[2]s}
spec: {name: example, channel: stable, source: community, sourceNamespace: olm}
`, groups[i], ns, spec[i])
	}
	for i, f := range a.Files {
		switch {
		case f.Name == "cluster.yaml":
			a.Files[i].Data = []byte(state.String())
		case edit != nil:
			a.Files[i].Data = []byte(edit.Replace(string(f.Data)))
		}
	}
	return newWorld(t, a)
}

// alternate runs the loops of namespaces in turn, one pass each, until none has anything to
// do, and returns the notes of their last plans.
func alternate(t *testing.T, w *world, namespaces ...string) []string {
	t.Helper()
	var notes, writes []string
	for range 60 {
		notes, writes = nil, nil
		for _, ns := range namespaces {
			s, err := w.Read(context.Background(), ns)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := reconcile.Decide(context.Background(), s, w.content, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range plan.Changes {
				writes = append(writes, ns+": "+plan.Changes[i].String())
				if _, err := w.Apply(context.Background(), plan.Changes[i]); err != nil && !errors.Is(err, reconcile.ErrConflict) {
					t.Fatal(err)
				}
			}
			for _, n := range plan.Notes {
				notes = append(notes, n.String())
			}
		}
		if len(writes) == 0 {
			return notes
		}
	}
	t.Fatalf("two loops do not settle:\n%s", strings.Join(writes, "\n"))
	return nil
}

// owners returns the owners of generated objects outside the namespaces of the operators:
// their labels, and the subjects of bindings.
func owners(t *testing.T, w *world) []string {
	t.Helper()
	var out []string
	for _, o := range w.List() {
		if o.Key().Group != olm.GroupRBAC || o.Metadata.Namespace == testNamespace || o.Metadata.Namespace == "two" {
			continue
		}
		name := o.Metadata.Name
		if strings.HasPrefix(name, "example.v0.1.1-") && !strings.HasPrefix(name, "example.v0.1.1-runner-") {
			continue // a cluster permission: its name contains its namespace
		}
		name, _, _ = strings.Cut(name, "-bFR")
		line := fmt.Sprintf("%s %s: %s", o.Kind, name, o.Metadata.Labels[ownerlabel.Namespace])
		if strings.HasSuffix(o.Kind, "Binding") {
			b, err := olm.As[olm.RoleBinding](o)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range b.Subjects {
				line += fmt.Sprintf(", %s/%s", s.Namespace, s.Name)
			}
		}
		out = append(out, line)
	}
	return out
}

// F7, F8: one operator in two namespaces. Objects that both would generate with the same
// name belong to the first. The loops settle. The second reports it, and takes over when the
// first is gone.
func TestTwoNamespaces(t *testing.T) {
	noAPIs := strings.NewReplacer("customresourcedefinitions:", "skipped:", "- {type: olm.gvk, value: {group: example.com, version: v1, kind: Example}}\n", "")
	const own, tenant, all = "{targetNamespaces: [%s]}", "{targetNamespaces: [tenant]}", "{}"
	roles := func(group, ns string) []string {
		return []string{"ClusterRole " + group + "-admin: " + ns, "ClusterRole " + group + "-edit: " + ns, "ClusterRole " + group + "-view: " + ns}
	}
	api := func(ns string) []string {
		const crd = "ClusterRole examples.example.com-v1"
		return []string{crd + "-admin: " + ns, crd + "-edit: " + ns, crd + "-view: " + ns, crd + "-view-crdview: " + ns}
	}
	bound := func(kind, ns string, accounts ...string) []string {
		return []string{
			kind + " example.v0.1.1-runner: " + ns,
			kind + "Binding example.v0.1.1-runner: " + strings.Join(append([]string{ns}, accounts...), ", "),
		}
	}
	sort := func(lists ...[]string) []string {
		out := slices.Concat(lists...)
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		name          string
		groups, spec  [2]string
		edit          *strings.Replacer
		before, after []string
		notes         []string
		copied        string // the owner of the copy in namespace tenant after the first is gone
	}{
		{
			name: "F7 one API, two groups", groups: [2]string{"first", "second"}, spec: [2]string{own, own},
			before: sort(roles("first", "ops"), roles("second", "two"), api("ops")),
			after:  sort(roles("second", "two"), api("two")),
			notes: []string{
				`ClusterServiceVersion two/example.v0.1.1: the ClusterRoles for its APIs belong to ClusterServiceVersion ops/example.v0.1.1, so those of operator group "second" do not include them; bind users to the roles of the APIs instead`,
			},
		},
		{
			name: "F7 one API, two groups of one name", groups: [2]string{"same", "same"}, spec: [2]string{own, own},
			before: sort(roles("same", "ops"), api("ops")),
			after:  sort(roles("same", "two"), api("two")),
			notes: []string{
				`OperatorGroup ops/same: namespace two has an operator group with the same name, and they share the ClusterRoles same-admin, same-edit and same-view: their users may use the APIs of both; rename one to keep them apart`,
				`OperatorGroup two/same: namespace ops has an operator group with the same name, and they share the ClusterRoles same-admin, same-edit and same-view: their users may use the APIs of both; rename one to keep them apart`,
			},
		},
		{
			name: "F7 F8 no API, one target", groups: [2]string{"first", "second"}, spec: [2]string{tenant, tenant}, edit: noAPIs,
			before: sort(roles("first", "ops"), roles("second", "two"), bound("Role", "ops", "ops/runner", "two/runner")),
			after:  sort(roles("second", "two"), bound("Role", "two", "two/runner")),
			notes:  []string{`ClusterServiceVersion two/example.v0.1.1: has no copy in namespace tenant: a copy with the same name from namespace ops exists`},
			copied: "two",
		},
		{
			name: "F7 F8 no API, all namespaces", groups: [2]string{"first", "second"}, spec: [2]string{all, all}, edit: noAPIs,
			before: sort(roles("first", "ops"), roles("second", "two"), bound("ClusterRole", "ops", "ops/runner", "two/runner")),
			after:  sort(roles("second", "two"), bound("ClusterRole", "two", "two/runner")),
			notes: []string{
				`ClusterServiceVersion ops/example.v0.1.1: has no copy in namespace two: an operator with the same name is installed there`,
				`ClusterServiceVersion two/example.v0.1.1: has no copy in namespace olm: a copy with the same name from namespace ops exists`,
				`ClusterServiceVersion two/example.v0.1.1: has no copy in namespace ops: an operator with the same name is installed there`,
				`ClusterServiceVersion two/example.v0.1.1: has no copy in namespace tenant: a copy with the same name from namespace ops exists`,
			},
			copied: "two",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := c.spec
			if spec[0] == own {
				spec = [2]string{"{targetNamespaces: [ops]}", "{targetNamespaces: [two]}"}
			}
			w := neighbors(t, c.groups, spec, c.edit)
			if diff := gocmp.Diff(c.notes, alternate(t, w, testNamespace, "two")); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(c.before, sort(owners(t, w))); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			for _, ns := range []string{testNamespace, "two"} {
				if got := installedPhase(t, w, ns); got != olm.PhaseSucceeded {
					t.Errorf("the operator in %s is %s", ns, got)
				}
			}
			for _, k := range []olm.Key{
				key(olm.KindSubscription, "ops/example"), key(olm.KindClusterServiceVersion, "ops/example.v0.1.1"),
				key(olm.KindOperatorGroup, "ops/"+c.groups[0]),
			} {
				if err := w.Remove(k); err != nil {
					t.Fatal(err)
				}
			}
			// The order of the loop that cleans up and the one that inherits does not
			// matter.
			for _, order := range [][]string{{testNamespace, "two"}, {"two", testNamespace}} {
				x := &world{Cluster: w.Clone(), content: w.content}
				alternate(t, x, order...)
				if diff := gocmp.Diff(c.after, sort(owners(t, x))); diff != "" {
					t.Errorf("%s first: owners after the first is gone (-want +got):\n%s", order[0], diff)
				}
				if got := installedPhase(t, x, "two"); got != olm.PhaseSucceeded {
					t.Errorf("the operator in two is %s", got)
				}
				if c.copied == "" {
					continue
				}
				o, err := x.Get(key(olm.KindClusterServiceVersion, "tenant/example.v0.1.1"))
				if err != nil || o.Metadata.Labels[olm.LabelCopiedFrom] != c.copied {
					t.Errorf("the copy is from %q, %v; want %q", o.Metadata.Labels[olm.LabelCopiedFrom], err, c.copied)
				}
			}
		})
	}
}

func installedPhase(t *testing.T, w *world, ns string) olm.Phase {
	t.Helper()
	o, err := w.Get(key(olm.KindClusterServiceVersion, ns+"/example.v0.1.1"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := olm.As[olm.ClusterServiceVersion](o)
	if err != nil {
		t.Fatal(err)
	}
	return c.Status.Phase
}

// F6, F3: two groups serve one namespace and the same operator is in
// both: the second fails and names the first. When the first is removed, the second
// recovers, whichever loop comes first.
func TestTwoNamespacesConflict(t *testing.T) {
	w := neighbors(t, [2]string{"first", "second"}, [2]string{"{targetNamespaces: [tenant]}", "{targetNamespaces: [tenant]}"}, nil)
	notes := strings.Join(alternate(t, w, testNamespace, "two"), "\n")
	if got := [2]olm.Phase{installedPhase(t, w, testNamespace), installedPhase(t, w, "two")}; got != [2]olm.Phase{olm.PhaseSucceeded, olm.PhaseFailed} {
		t.Errorf("the operators are %v", got)
	}
	if want := `ClusterServiceVersion two/example.v0.1.1: its APIs are provided in namespace ops by example.v0.1.1`; !strings.Contains(notes, want) {
		t.Errorf("no note %q in\n%s", want, notes)
	}
	for _, k := range []olm.Key{key(olm.KindSubscription, "ops/example"), key(olm.KindClusterServiceVersion, "ops/example.v0.1.1")} {
		if err := w.Remove(k); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range [][]string{{testNamespace, "two"}, {"two", testNamespace}} {
		x := &world{Cluster: w.Clone(), content: w.content}
		alternate(t, x, order...)
		if got := installedPhase(t, x, "two"); got != olm.PhaseSucceeded {
			t.Errorf("%s first: the operator in two is %s", order[0], got)
		}
	}
}
