package permissions

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// TestExplanations checks the examples on the pages of codes (K222, G10).
func TestExplanations(t *testing.T) {
	n := 0
	for _, e := range fbc.Explanations() {
		if !strings.HasPrefix(string(e.Code), "grants-") || e.Bad == "" {
			continue
		}
		n++
		if found := example(t, e.Bad); !slices.Contains(found, e.Code) || e.Severity != fbc.Warning {
			t.Errorf("%s: the example has %v", e.Code, found)
		}
		if found := example(t, e.Good); len(found) > 0 {
			t.Errorf("%s: the fixed example has %v", e.Code, found)
		}
	}
	if n < 10 {
		t.Errorf("%d examples; want one for each code", n)
	}
}

func example(t *testing.T, text string) []fbc.Code {
	t.Helper()
	var r Role
	if err := yaml.UnmarshalStrict([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return codesOf(r.Rules)
}

func codesOf(rules []Rule) (out []fbc.Code) {
	for _, x := range (&Role{Rules: rules}).Risks() {
		out = append(out, x.Code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// grants is how Kubernetes authorizes a request about an object without a name.
func grants(r Rule, verb, group, resource string, named bool) bool {
	in := func(list []string, words ...string) bool {
		for _, w := range words {
			for _, x := range list {
				if x == w {
					return true
				}
			}
		}
		return false
	}
	words := []string{"*", resource}
	if i := strings.IndexByte(resource, '/'); i >= 0 {
		words = append(words, "*"+resource[i:])
	}
	return (len(r.ResourceNames) == 0 || named) && in(r.Verbs, "*", verb) && in(r.APIGroups, "*", group) && in(r.Resources, words...)
}

// TestRisksAreGranted checks with random rules that a risk is found if and only if the
// rules allow one of its verbs for one of its resources (K222).
func TestRisksAreGranted(t *testing.T) {
	verbs, groups, resources := []string{"*", "delete"}, []string{"*", "apps"}, []string{"*", "*/exec", "*/token", "pods", "deployments", "secrets/exec"}
	for _, d := range dangers {
		verbs = append(verbs, d.verbs...)
		for _, r := range d.resources {
			groups, resources = append(groups, r.group), append(resources, r.name)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	some := func(list []string) (out []string) {
		for range 1 + random.IntN(2) {
			out = append(out, list[random.IntN(len(list))])
		}
		return out
	}
	found := map[fbc.Code]int{}
	for range 100_000 {
		r := Rule{Verbs: some(verbs), APIGroups: some(groups), Resources: some(resources)}
		if random.IntN(4) == 0 {
			r.ResourceNames = []string{"one"}
		}
		var want []fbc.Code
		for _, d := range dangers {
			for _, verb := range d.verbs {
				for _, x := range d.resources {
					if grants(r, verb, x.group, x.name, d.named) {
						want = append(want, d.code)
					}
				}
			}
		}
		if slices.Contains(slices.Concat(r.Verbs, r.APIGroups, r.Resources), "*") {
			want = append(want, "grants-wildcard")
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if got := codesOf([]Rule{r}); !slices.Equal(got, want) {
			t.Fatalf("%v: risks %v, want %v", r, got, want)
		}
		for _, c := range want {
			found[c]++
		}
	}
	for _, d := range dangers {
		if found[d.code] == 0 {
			t.Errorf("no rule had %s", d.code)
		}
	}
}

const csv = `kind: ClusterServiceVersion
apiVersion: operators.coreos.com/v1alpha1
metadata: {name: demo.v1}
spec:
  installModes: [{type: AllNamespaces, supported: true}, {type: SingleNamespace, supported: true}, {type: MultiNamespace, supported: true}]
  webhookdefinitions:
  - {type: ValidatingAdmissionWebhook, generateName: all.example.com, rules: [{apiGroups: [apps], resources: ["*"]}]}
  install:
    strategy: deployment
    spec:
      permissions:
      - {serviceAccountName: a, rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}
      clusterPermissions:
      - {serviceAccountName: b, rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]}
---
kind: ClusterRoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: admin}
roleRef: {kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: c}, {kind: ServiceAccount, name: a, namespace: far}, {kind: ServiceAccount, name: d, namespace: far}]
---
kind: RoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: reader}
roleRef: {kind: ClusterRole, name: view}
subjects: [{kind: Group, name: "system:authenticated"}]
`

// TestRoles checks where roles apply in OLM v1 and in classic OLM, and to which service accounts
// (K34, K35, K36, K222).
func TestRoles(t *testing.T) {
	b, err := registryv1.FromObjects(t.Context(), "demo", [][]byte{[]byte(csv)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		opts Options
		want string
	}{
		{"all namespaces", Options{}, "a@ a@ b@ c@ far/d@ system:authenticated@demo"},
		{"OLM v1", Options{Namespace: "ops", Watch: []string{"x"}}, "b@ c@ far/a@ far/d@ system:authenticated@ops a@x"},
		{"classic OLM", Options{Namespace: "ops", Watch: []string{"x", "y"}, Classic: true}, "b@ c@ far/a@ far/d@ system:authenticated@ops a@ops a@x a@y"},
	} {
		r, err := Of(b, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, role := range r.Roles {
			_, name, _ := strings.Cut(role.Subject, " ")
			got = append(got, name+"@"+role.Namespace)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if last := r.Risks[len(r.Risks)-1]; last.Code != "grants-interception" {
			t.Errorf("%s: the last risk is %v", tt.name, last)
		}
	}
	for _, tt := range []struct {
		opts Options
		want string
	}{
		{Options{Namespace: "x", Watch: []string{"x"}}, "the bundle cannot watch x, because it does not support the install mode OwnNamespace; it supports AllNamespaces, SingleNamespace, MultiNamespace"},
		{Options{Namespace: "x", Watch: []string{"x", "y"}, Classic: true}, "the bundle cannot watch x, y, because it does not support the install mode OwnNamespace; it supports AllNamespaces, SingleNamespace, MultiNamespace"},
	} { // K31
		if err := tt.opts.Possible(b); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.opts, err, tt.want)
		}
	}
	if _, err := Of(b, Options{Watch: []string{"x", "y"}}); err == nil {
		t.Error("OLM v1 watches two namespaces")
	}
}

// TestIncluded checks that the risks of a rule that allows everything are included in the first one, and come
// before those of other rules (K222).
func TestIncluded(t *testing.T) {
	csv := `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: demo.v1}
spec:
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    spec:
      clusterPermissions:
      - serviceAccountName: a
        rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
      - serviceAccountName: b
        rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
`
	b, err := registryv1.FromObjects(t.Context(), "demo", [][]byte{[]byte(csv)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, risk := range r.Risks {
		if !risk.Included() {
			shown = append(shown, string(risk.Code)+" of "+risk.Subject)
		}
	}
	if got, want := strings.Join(shown, ", "), "grants-wildcard of ServiceAccount b, grants-secrets of ServiceAccount a"; got != want || len(r.Risks) < 10 {
		t.Errorf("%s of %d risks, want %s", got, len(r.Risks), want)
	}
}
