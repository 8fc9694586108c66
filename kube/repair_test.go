package kube_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/resolver"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// F7: changed roles and bindings are restored, and a deployment that is no longer in the
// CSV is deleted. The operator's OperatorCondition is obeyed (E6).
func TestRepair(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "repair", widgets(t, []string{"0.1.1"}))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "repair")
	t.Cleanup(func() { wipe(t, "repair") })
	must(t, c.Create(ctx, operatorGroup("repair", "repair")))
	must(t, c.Create(ctx, subscription("repair", "repair")))
	eventually(t, patience, func() error { return installed(c, "repair", "0.1.1") })

	one := func(list client.ObjectList) client.Object {
		t.Helper()
		must(t, c.List(ctx, list, client.MatchingLabels{"olm.owner": "widget.v0.1.1"}))
		items, err := meta.ExtractList(list)
		must(t, err)
		if len(items) == 0 {
			t.Fatalf("the operator has no %T", list)
		}
		return items[0].(client.Object)
	}
	for _, list := range []client.ObjectList{&rbacv1.RoleList{}, &rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}} {
		was := one(list)
		now := was.DeepCopyObject().(client.Object)
		switch o := now.(type) {
		case *rbacv1.Role:
			o.Rules = nil
		case *rbacv1.ClusterRole:
			o.Rules = nil
		case *rbacv1.RoleBinding:
			o.Subjects = nil
		case *rbacv1.ClusterRoleBinding:
			o.Subjects = nil
		}
		must(t, c.Update(ctx, now))
		eventually(t, patience, func() error {
			must(t, c.Get(ctx, client.ObjectKeyFromObject(was), now))
			if !equality.Semantic.DeepEqual(said(was), said(now)) {
				return fmt.Errorf("%T %s has %v, want %v", now, now.GetName(), said(now), said(was))
			}
			return nil
		})
	}

	condition := &operatorsv2.OperatorCondition{}
	must(t, c.Get(ctx, client.ObjectKey{Namespace: "repair", Name: "widget.v0.1.1"}, condition))
	condition.Spec.Conditions = []metav1.Condition{{Type: operatorsv2.Upgradeable, Status: metav1.ConditionFalse, Reason: "Busy", Message: "not now", LastTransitionTime: metav1.Now().Rfc3339Copy()}}
	const component = "operators.coreos.com/widget.repair" // E30
	if _, ok := condition.Labels[component]; !ok {
		t.Errorf("the condition has the labels %v, want %s", condition.Labels, component)
	}
	delete(condition.Labels, component)
	must(t, c.Update(ctx, condition))
	eventually(t, patience, func() error {
		must(t, c.Get(ctx, client.ObjectKeyFromObject(condition), condition))
		if x := meta.FindStatusCondition(condition.Status.Conditions, operatorsv2.Upgradeable); x == nil || x.Reason != "Busy" {
			return fmt.Errorf("the operator's condition is ignored: %+v", condition.Status.Conditions)
		}
		if _, ok := condition.Labels[component]; !ok {
			return fmt.Errorf("the condition has the labels %v, want %s", condition.Labels, component)
		}
		return nil
	})

	// E31: the Operator is created again while it has components.
	operator := &operatorsv1.Operator{ObjectMeta: metav1.ObjectMeta{Name: "widget.repair"}}
	components := func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(operator), operator); err != nil {
			return err
		}
		if s := operator.Status.Components; s == nil || !slices.ContainsFunc(s.Refs, func(r operatorsv1.RichReference) bool {
			return r.Kind == "OperatorCondition" && r.Name == condition.Name && len(r.Conditions) == 1 && r.Conditions[0].Reason == "Busy"
		}) {
			return fmt.Errorf("the Operator lists %+v", s)
		}
		return nil
	}
	eventually(t, patience, components)
	must(t, c.Delete(ctx, operator))
	eventually(t, patience, components)

	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	eventually(t, patience, func() error {
		must(t, c.Get(ctx, client.ObjectKey{Namespace: "repair", Name: "widget.v0.1.1"}, csv))
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name = "gadget"
		return c.Update(ctx, csv)
	})
	eventually(t, patience, func() error {
		if err := c.Get(ctx, client.ObjectKey{Namespace: "repair", Name: "gadget"}, &appsv1.Deployment{}); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "repair", Name: "widget"}, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the old deployment is still there: %v", err)
		}
		return nil
	})
}

// said returns the rules of a role, or the subjects and role of a binding.
func said(o client.Object) any {
	switch o := o.(type) {
	case *rbacv1.Role:
		return o.Rules
	case *rbacv1.ClusterRole:
		return o.Rules
	case *rbacv1.RoleBinding:
		return o.Subjects
	case *rbacv1.ClusterRoleBinding:
		return o.Subjects
	}
	return nil
}

// E1, E3: an operator's dependencies are installed with it, each with a subscription.
func TestDependency(t *testing.T) {
	c, ctx := admin(t), context.Background()
	csv, err := os.ReadFile("testdata/light.csv.yaml")
	must(t, err)
	// The same operator, except that it does not own the API.
	before, after, ok := strings.Cut(string(csv), "  customresourcedefinitions:\n")
	_, after, found := strings.Cut(after, "  install:\n")
	if !ok || !found {
		t.Fatal("the CSV in testdata has changed")
	}
	text := strings.NewReplacer("VERSION", "0.1.1", "widget", "needer").Replace(before + "  install:\n" + after)
	text = widgetText(t, "light.csv.yaml", []string{"0.1.1"}) + fmt.Sprintf(`---
schema: olm.package
name: needer
defaultChannel: stable
---
schema: olm.channel
package: needer
name: stable
entries: [{name: needer.v0.1.1}]
---
schema: olm.bundle
package: needer
name: needer.v0.1.1
image: example.com/needer:0.1.1
properties:
- {type: olm.package, value: {packageName: needer, version: 0.1.1}}
- {type: olm.gvk.required, value: {group: example.com, version: v1, kind: Widget}}
- {type: olm.bundle.object, value: {data: %s}}
`, base64.StdEncoding.EncodeToString([]byte(text)))
	blobs, err := fbc.LoadReader(ctx, strings.NewReader(text), "needer.yaml", &fbc.LoadOptions{KeepAll: true})
	must(t, err)
	content := catalogs(t, c, "dependency", blobs)
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "dependency")
	t.Cleanup(func() { wipe(t, "dependency") })
	must(t, c.Create(ctx, operatorGroup("dependency", "dependency")))
	sub := subscription("dependency", "dependency")
	sub.Name, sub.Spec.Package = "needer", "needer"
	must(t, c.Create(ctx, sub))
	eventually(t, patience, func() error {
		for _, name := range []string{"needer.v0.1.1", "widget.v0.1.1"} {
			csv := &operatorsv1alpha1.ClusterServiceVersion{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "dependency", Name: name}, csv); err != nil {
				return err
			}
			if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
				return fmt.Errorf("%s is %s: %s", name, csv.Status.Phase, csv.Status.Message)
			}
		}
		list := &operatorsv1alpha1.SubscriptionList{}
		if err := c.List(ctx, list, client.InNamespace("dependency")); err != nil {
			return err
		}
		packages := map[string]string{}
		for _, s := range list.Items {
			packages[s.Spec.Package] = s.Status.InstalledCSV
		}
		if len(packages) != 2 || packages["widget"] != "widget.v0.1.1" || packages["needer"] != "needer.v0.1.1" {
			return fmt.Errorf("the subscriptions are for %v", packages)
		}
		return nil
	})
}

// After many upgrades, only the last install plans are kept.
func TestOldPlans(t *testing.T) {
	c, ctx := admin(t), context.Background()
	versions := []string{"0.1.1", "0.1.2", "0.1.3", "0.1.4", "0.1.5", "0.1.6", "0.1.7"}
	content := catalogs(t, c, "plans", widgetsOf(t, "light.csv.yaml", versions))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "plans")
	t.Cleanup(func() { wipe(t, "plans") })
	must(t, c.Create(ctx, operatorGroup("plans", "plans")))
	sub := subscription("plans", "plans")
	sub.Spec.StartingCSV = "widget.v0.1.1"
	must(t, c.Create(ctx, sub))
	eventually(t, patience, func() error { return installed(c, "plans", "0.1.7") })
	eventually(t, patience, func() error {
		list := &operatorsv1alpha1.InstallPlanList{}
		if err := c.List(ctx, list, client.InNamespace("plans")); err != nil {
			return err
		}
		if len(list.Items) > 5 {
			return fmt.Errorf("there are %d plans", len(list.Items))
		}
		return nil
	})
}

// E8: the tag of a catalog image changes with the version of the cluster.
func TestTemplate(t *testing.T) {
	c, ctx := admin(t), context.Background()
	config, _ := restricted(t)
	start(t, config, nil)
	namespace(t, c, "template")
	src := &operatorsv1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Name: "follows", Namespace: "template", Annotations: map[string]string{
			"olm.catalogImageTemplate": "example.com/catalog:v{kube_major_version}.{kube_minor_version}",
		}},
		Spec: operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Image: "example.com/catalog:old"},
	}
	must(t, c.Create(ctx, src))
	t.Cleanup(func() { must(t, c.Delete(ctx, src)) })
	eventually(t, patience, func() error {
		must(t, c.Get(ctx, client.ObjectKeyFromObject(src), src))
		if src.Spec.Image != "example.com/catalog:v1.36" || !meta.IsStatusConditionTrue(src.Status.Conditions, "TemplatesHaveResolved") {
			return fmt.Errorf("the image is %s: %+v", src.Spec.Image, src.Status.Conditions)
		}
		return nil
	})
}

// E8: the permissions of kube.Rules suffice to write the health of catalogs.
func TestCatalogHealth(t *testing.T) {
	c, ctx, dir := admin(t), context.Background(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(widgetText(t, "light.csv.yaml", []string{"0.1.1"})), 0o600))
	config, _ := restricted(t)
	m, err := manager.New(config, manager.Options{
		Scheme: newScheme(t), Metrics: metricsserver.Options{BindAddress: "0"}, Cache: cache.Options{DefaultTransform: kube.Pack()},
	})
	must(t, err)
	store := content.New(&content.Options{Sources: content.Sources{Named: map[resolver.CatalogID]content.Source{
		{Name: "healthy", Namespace: globalNamespace}: content.Dir(dir, nil),
	}}})
	must(t, (&content.Reconciler{Client: m.GetClient(), Store: store}).SetupWithManager(m))
	var sources []*operatorsv1alpha1.CatalogSource
	for _, name := range []string{"healthy", "nowhere"} {
		src := &operatorsv1alpha1.CatalogSource{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: globalNamespace},
			Spec:       operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Address: "nowhere:50051"},
		}
		must(t, c.Create(ctx, src))
		t.Cleanup(func() { must(t, c.Delete(ctx, src)) })
		sources = append(sources, src)
	}
	run(t, m)
	for i, want := range []string{content.StateReady, content.StateFailing} {
		src := sources[i]
		eventually(t, patience, func() error {
			must(t, c.Get(ctx, client.ObjectKeyFromObject(src), src))
			if g := src.Status.GRPCConnectionState; g == nil || g.LastObservedState != want {
				return fmt.Errorf("%s is %+v, want %s", src.Name, g, want)
			}
			return nil
		})
	}
	if !strings.Contains(sources[1].Status.Message, "gRPC registry") {
		t.Errorf("the status does not report the error: %q", sources[1].Status.Message)
	}
	if _, err := store.View().Catalog(ctx, resolver.CatalogID{Name: "healthy", Namespace: globalNamespace}); err != nil {
		t.Error(err)
	}
}

// The permissions of kube.Rules suffice to read the pull secrets of a catalog.
func TestPullSecret(t *testing.T) {
	c, ctx := admin(t), context.Background()
	namespace(t, c, "secrets")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "pull", Namespace: "secrets"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
	}
	must(t, c.Create(ctx, secret))
	t.Cleanup(func() { must(t, c.Delete(ctx, secret)) })
	config, _ := restricted(t)
	reader, err := client.New(config, client.Options{Scheme: newScheme(t)})
	must(t, err)
	read := content.Secrets(reader)
	if got, err := read(ctx, "secrets", "pull"); err != nil || got.Type != corev1.SecretTypeDockerConfigJson {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := read(ctx, "secrets", "other"); !apierrors.IsNotFound(err) {
		t.Errorf("a missing secret: %v", err)
	}
}

// The privileged permissions are necessary: without any one of them, the API server rejects
// the roles and bindings of operators, and with all of them it accepts them.
func TestStrongPermissions(t *testing.T) {
	c, ctx := admin(t), context.Background()
	namespace(t, c, "strong")
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"widgets"}, Verbs: []string{"get"}}}
	named := metav1.ObjectMeta{Name: "strong-given", Namespace: "strong"}
	wide := metav1.ObjectMeta{Name: "strong-given"}
	given := []client.Object{&rbacv1.Role{ObjectMeta: named, Rules: rules}, &rbacv1.ClusterRole{ObjectMeta: wide, Rules: rules}}
	for _, o := range given {
		must(t, c.Create(ctx, o))
		t.Cleanup(func() { must(t, c.Delete(ctx, o)) })
	}
	named.Name, wide.Name = "strong", "strong"
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: "strong"}}
	to := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacGroup, Kind: kind, Name: "strong-given"}
	}
	full, _ := restricted(t)
	all, err := client.New(full, client.Options{Scheme: newScheme(t)})
	must(t, err)
	for i, test := range []struct {
		p permission
		o client.Object
	}{
		{permission{rbacGroup, "roles", "escalate"}, &rbacv1.Role{ObjectMeta: named, Rules: rules}},
		{permission{rbacGroup, "clusterroles", "escalate"}, &rbacv1.ClusterRole{ObjectMeta: wide, Rules: rules}},
		{permission{rbacGroup, "roles", "bind"}, &rbacv1.RoleBinding{ObjectMeta: named, Subjects: subjects, RoleRef: to("Role")}},
		{permission{rbacGroup, "clusterroles", "bind"}, &rbacv1.ClusterRoleBinding{ObjectMeta: wide, Subjects: subjects, RoleRef: to("ClusterRole")}},
	} {
		name := fmt.Sprintf("strong-%d", i)
		must(t, c.Create(ctx, serviceAccount(globalNamespace, name)))
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: without(test.p)}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: globalNamespace}},
		}
		for _, o := range []client.Object{role, binding} {
			must(t, c.Create(ctx, o))
			t.Cleanup(func() { must(t, c.Delete(ctx, o)) })
		}
		waitAllowed(t, c, "system:serviceaccount:"+globalNamespace+":"+name, "", permission{rbacGroup, "clusterrolebindings", "create"})
		weak, err := client.New(accountConfig(t, name), client.Options{Scheme: newScheme(t)})
		must(t, err)
		if err := weak.Create(ctx, test.o.DeepCopyObject().(client.Object), client.DryRunAll); !apierrors.IsForbidden(err) {
			t.Errorf("without the permission to %s: %v, want a refusal", test.p, err)
			continue
		}
		if err := all.Create(ctx, test.o.DeepCopyObject().(client.Object), client.DryRunAll); err != nil {
			t.Errorf("with the permission to %s: %v", test.p, err)
			continue
		}
		used.Lock()
		used.by[test.p]++
		used.Unlock()
	}
}

// without returns kube.Rules without a permission.
func without(p permission) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for x := range granted() {
		if x != p {
			out = append(out, rbacv1.PolicyRule{APIGroups: []string{x.group}, Resources: []string{x.resource}, Verbs: []string{x.verb}})
		}
	}
	return out
}
