package impact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-helpers/auth/rbac/validation"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/kube/permissions"
)

// TestEscalation checks that a permission is gained if and only if an API server refuses a user
// with the old rules to grant the new ones (K225): with random rules, and with those of real
// bundles and parts of them.
func TestEscalation(t *testing.T) {
	config := envtest.Run(t)
	e := escalation{config: config}
	var err error
	if e.admin, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	t.Run("random", func(t *testing.T) {
		e.subsets, e.gains = 0, 0
		for range testsize.Of(150, 600, 6000) {
			old, created := randomRules(random), randomRules(random)
			if random.IntN(3) == 0 { // subsets are rare
				created = old[:random.IntN(len(old)+1)]
			}
			e.check(t, old, created)
		}
		if e.subsets < 30 || e.gains < 30 {
			t.Errorf("%d pairs without gains and %d with; the rules are too similar", e.subsets, e.gains)
		}
	})
	t.Run("real", func(t *testing.T) {
		bundles := realRules(t)
		e.subsets, e.gains = 0, 0
		for i := range testsize.Of(40, 150, 1000) {
			old := bundles[i%len(bundles)]
			created := partOf(random, old)
			if random.IntN(3) == 0 { // what two operators may do
				created = append(created, partOf(random, bundles[random.IntN(len(bundles))])...)
			}
			if random.IntN(2) == 0 {
				old, created = created, old
			}
			e.check(t, old, created)
		}
		if e.subsets < 10 || e.gains < 10 {
			t.Errorf("%d pairs without gains and %d with; the rules are too similar", e.subsets, e.gains)
		}
	})
}

// realRules returns the cluster-wide rules of real bundles.
func realRules(t *testing.T) (out [][]permissions.Rule) {
	files, err := filepath.Glob("../../../shared/conformance/v1render/bundles/*/manifests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var csv v1alpha1.ClusterServiceVersion
		if err := yaml.Unmarshal(text, &csv); err != nil || csv.Kind != v1alpha1.ClusterServiceVersionKind {
			continue // other manifests, and those that are broken on purpose
		}
		var rules []permissions.Rule
		for _, p := range csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions {
			for _, r := range p.Rules {
				rules = append(rules, permissions.Rule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, NonResourceURLs: r.NonResourceURLs})
			}
		}
		if len(rules) > 0 {
			out = append(out, rules)
		}
	}
	if len(out) == 0 {
		t.Skip("there are no real bundles here")
	}
	return out
}

// partOf returns rules without some rules, verbs and resources.
func partOf(random *rand.Rand, rules []permissions.Rule) (out []permissions.Rule) {
	without := func(list []string) []string {
		if len(list) < 2 || random.IntN(8) > 0 {
			return list
		}
		n := random.IntN(len(list))
		return slices.Delete(slices.Clone(list), n, n+1)
	}
	for _, r := range rules {
		if random.IntN(8) == 0 {
			continue
		}
		r.Verbs, r.Resources = without(r.Verbs), without(r.Resources)
		out = append(out, r)
	}
	return out
}

// An escalation compares what is gained with what an API server refuses, and counts both cases.
type escalation struct {
	admin                 *kubernetes.Clientset
	config                *rest.Config
	users, subsets, gains int
}

func (e *escalation) check(t *testing.T, old, created []permissions.Rule) {
	t.Helper()
	old = append(slices.Clone(old), permissions.Rule{Verbs: []string{"create"}, APIGroups: []string{rbacGroup}, Resources: []string{"clusterroles"}})
	// Who may escalate may grant everything.
	escalate := []rbacv1.PolicyRule{{Verbs: []string{"escalate"}, APIGroups: []string{rbacGroup}, Resources: []string{"clusterroles"}}}
	if may, _ := validation.Covers(policyRules(old), escalate); may {
		return
	}
	e.users++
	user := fmt.Sprint("user-", e.users)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: policyRules(old)}
	if _, err := e.admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacGroup, Name: user}},
	}
	if _, err := e.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(e.config)
	config.Impersonate.UserName = user
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	grant := func(ctx context.Context, rules []permissions.Rule) error {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Rules: policyRules(rules)}
		_, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	// Once the user may create a role without rules, the API server knows the old rules.
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := grant(ctx, nil)
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	}); err != nil {
		t.Fatal(err)
	}
	err = grant(t.Context(), created)
	refused := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "attempting to grant RBAC permissions not currently held")
	if err != nil && !refused {
		t.Fatal(err)
	}
	gained, ok := uncovered(old, created)
	if !ok || refused != (len(gained) > 0) {
		t.Errorf("from %v to %v: gained %v, but the API server says: %v", old, created, gained, err)
	}
	if refused {
		e.gains++
	} else {
		e.subsets++
	}
}
