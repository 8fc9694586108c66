package registryv1

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxName is the maximum length of the names that OLM generates.
const maxName = 63

// joinName returns base-suffix, with base truncated if the name is too long. As K37
// requires, it truncates nothing if the two lengths add up to exactly 63.
func joinName(base, suffix string) string {
	if len(base)+len(suffix) > maxName {
		base = base[:maxName-len(suffix)-1]
	}
	return base + "-" + suffix
}

// hash returns the part of a role's name that depends on its content (K38).
func hash(p *v1alpha1.StrategyDeploymentPermissions) (string, error) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(p); err != nil {
		return "", err
	}
	sum := sha256.Sum224(text.Bytes())
	return new(big.Int).SetBytes(sum[:]).Text(36), nil
}

func (g *generator) strategy() *v1alpha1.StrategyDetailsDeployment {
	return &g.csv.Spec.InstallStrategy.StrategySpec
}

func accountName(p *v1alpha1.StrategyDeploymentPermissions) string {
	return cmp.Or(p.ServiceAccountName, "default")
}

// ServiceAccounts returns the names of the service accounts that the CSV grants permissions or runs
// deployments as, sorted. A missing name is "default".
func (b *Bundle) ServiceAccounts() []string {
	strategy := &b.CSV().Spec.InstallStrategy.StrategySpec
	var names []string
	for _, list := range [][]v1alpha1.StrategyDeploymentPermissions{strategy.Permissions, strategy.ClusterPermissions} {
		for i := range list {
			names = append(names, accountName(&list[i]))
		}
	}
	for i := range strategy.DeploymentSpecs {
		names = append(names, cmp.Or(strategy.DeploymentSpecs[i].Spec.Template.Spec.ServiceAccountName, "default"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// serviceAccounts adds the service accounts (K33).
func (g *generator) serviceAccounts() {
	names := map[string]bool{}
	for _, list := range [][]v1alpha1.StrategyDeploymentPermissions{g.strategy().Permissions, g.strategy().ClusterPermissions} {
		for i := range list {
			names[accountName(&list[i])] = true
		}
	}
	delete(names, "default")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		g.add(&corev1.ServiceAccount{TypeMeta: typeOf("v1", "ServiceAccount"), ObjectMeta: g.meta(name)})
	}
}

// permissions adds the roles and their bindings (K34, K35, K36).
func (g *generator) permissions() {
	if g.target != "" {
		for _, p := range g.strategy().Permissions {
			g.role("Role", g.target, &p)
		}
	}
	for _, p := range g.strategy().ClusterPermissions {
		g.role("ClusterRole", "", &p)
	}
	if g.target != "" {
		return
	}
	for _, p := range g.strategy().Permissions {
		p.Rules = append(slices.Clip(p.Rules), rbacv1.PolicyRule{
			Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"namespaces"},
		})
		g.role("ClusterRole", "", &p)
	}
}

// role adds the role and the role binding for p. Equal permissions add equal objects
// (K39).
func (g *generator) role(kind, namespace string, p *v1alpha1.StrategyDeploymentPermissions) {
	sum, err := hash(p)
	if err != nil {
		g.problems = append(g.problems, Problem{Stage: StageGenerate, Code: "manifest", Subject: p.ServiceAccountName, Message: err.Error()})
		return
	}
	meta := metav1.ObjectMeta{Name: joinName(g.csv.Name+"-"+accountName(p), sum), Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: accountName(p), Namespace: g.opts.Namespace}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: meta.Name}
	group := rbacv1.SchemeGroupVersion.String()
	if kind == "Role" {
		g.add(&rbacv1.Role{TypeMeta: typeOf(group, kind), ObjectMeta: meta, Rules: p.Rules})
		g.add(&rbacv1.RoleBinding{TypeMeta: typeOf(group, "RoleBinding"), ObjectMeta: meta, Subjects: subjects, RoleRef: ref})
		return
	}
	g.add(&rbacv1.ClusterRole{TypeMeta: typeOf(group, kind), ObjectMeta: meta, Rules: p.Rules})
	g.add(&rbacv1.ClusterRoleBinding{TypeMeta: typeOf(group, "ClusterRoleBinding"), ObjectMeta: meta, Subjects: subjects, RoleRef: ref})
}
