package impact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/kube/permissions"
)

// TestEscalation checks with random rules that a permission is gained if and only if an API
// server refuses a user with the old rules to grant the new ones (K225).
func TestEscalation(t *testing.T) {
	var env envtest.Environment
	if err := env.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	// Who may escalate may grant everything.
	escalate := []rbacv1.PolicyRule{{Verbs: []string{"escalate"}, APIGroups: []string{rbacGroup}, Resources: []string{"clusterroles"}}}
	mayCreate := permissions.Rule{Verbs: []string{"create"}, APIGroups: []string{rbacGroup}, Resources: []string{"clusterroles"}}
	random := rand.New(rand.NewPCG(7, 8))
	subsets, gains := 0, 0
	for i := range testsize.Of(150, 600, 6000) {
		old, created := append(randomRules(random), mayCreate), randomRules(random)
		if random.IntN(3) == 0 { // subsets are rare
			created = old[:random.IntN(len(old))]
		}
		if may, _ := validation.Covers(policyRules(old), escalate); may {
			continue
		}
		user := fmt.Sprint("user-", i)
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: policyRules(old)}
		if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: user},
			Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacGroup, Name: user}},
		}
		if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		config := rest.CopyConfig(env.Config)
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
			gains++
		} else {
			subsets++
		}
	}
	if subsets < 30 || gains < 30 {
		t.Errorf("%d pairs without gains and %d with; the rules are too similar", subsets, gains)
	}
}
