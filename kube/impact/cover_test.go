package impact

import (
	"math/rand/v2"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/olmkit/olmkit/kube/permissions"
)

func policyRules(rules []permissions.Rule) (out []rbacv1.PolicyRule) {
	for _, r := range rules {
		out = append(out, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, NonResourceURLs: r.NonResourceURLs})
	}
	return out
}

// randomRules returns a few rules that often cover each other.
func randomRules(random *rand.Rand) (out []permissions.Rule) {
	some := func(least int, list ...string) (out []string) {
		for range least + random.IntN(3) {
			out = append(out, list[random.IntN(len(list))])
		}
		return out
	}
	for range random.IntN(4) {
		r := permissions.Rule{Verbs: some(1, "*", "get", "list", "create")}
		if random.IntN(5) == 0 {
			r.NonResourceURLs = some(1, "*", "/", "/health", "/health/*", "/metrics", "/health/x")
		} else {
			r.APIGroups = some(1, "*", "", "apps")
			r.Resources = some(1, "*", "pods", "pods/log", "*/log", "secrets", "deployments/log")
			if random.IntN(3) == 0 {
				r.ResourceNames = some(1, "", "a", "b")
			}
		}
		out = append(out, r)
	}
	return out
}

// TestUncovered checks with random rules that a permission is gained if and only if the API
// server's escalation check refuses it, and that exactly the gained permissions are missing
// (K225).
func TestUncovered(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rules := func() []permissions.Rule { return randomRules(random) }
	subsets, gains := 0, 0
	for range 30_000 {
		old, created := rules(), rules()
		gained, ok := uncovered(old, created)
		if !ok {
			t.Fatalf("%v and %v were not compared", old, created)
		}
		covered, _ := validation.Covers(policyRules(old), policyRules(created))
		if covered != (len(gained) == 0) {
			t.Fatalf("from %v to %v: gained %v, but the API server finds covered=%v", old, created, gained, covered)
		}
		if covered {
			subsets++
		} else {
			gains++
		}
		if all, missing := validation.Covers(policyRules(slices.Concat(old, gained)), policyRules(created)); !all {
			t.Fatalf("from %v to %v: gained %v lacks %v", old, created, gained, missing)
		}
		if real, extra := validation.Covers(policyRules(created), policyRules(gained)); !real {
			t.Fatalf("from %v to %v: gained %v, but %v is not granted", old, created, gained, extra)
		}
		for i := range gained {
			atoms(&gained[i], func(a atom) {
				one := join(map[atom]bool{a: true})
				if has, _ := validation.Covers(policyRules(old), policyRules(one)); has {
					t.Fatalf("from %v to %v: gained %v, but %v was granted before", old, created, gained, one)
				}
			})
		}
	}
	if subsets < 1000 || gains < 1000 {
		t.Errorf("%d pairs without gains and %d with; the rules are too similar", subsets, gains)
	}
}
