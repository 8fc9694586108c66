package kube_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const largeConfigMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-%d"},"data":{"text":%q}}`

// The size of a role has no separate limit.
const largeRole = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"large-%d"},
"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"],"resourceNames":[%q]}]}`

// withLarge adds n objects of a size to the bundle of a catalog.
func withLarge(t *testing.T, object string, size, n int) *fbc.Catalog {
	t.Helper()
	text := widgetText(t, "light.csv.yaml", []string{"0.1.1"})
	var more strings.Builder
	for i := range n {
		o := fmt.Sprintf(object, i, strings.Repeat("x", size))
		fmt.Fprintf(&more, "- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString([]byte(o)))
	}
	const mark = "---\nschema: olm.channel\n"
	text = strings.Replace(text, mark, more.String()+mark, 1)
	blobs, err := fbc.LoadReader(context.Background(), strings.NewReader(text), "widget.yaml", &fbc.LoadOptions{KeepAll: true})
	must(t, err)
	return blobs
}

// A bundle may be larger than the limit for an object if each of its objects is
// smaller.
func TestLargeBundle(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "large", withLarge(t, largeConfigMap, 700<<10, 3))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "large")
	t.Cleanup(func() { wipe(t, "large") })
	must(t, c.Create(ctx, operatorGroup("large", "large")))
	must(t, c.Create(ctx, subscription("large", "large")))
	eventually(t, patience, func() error { return installed(c, "large", "0.1.1") })
	for i := range 3 {
		o := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "large", Name: fmt.Sprintf("large-%d", i)}, o); err != nil || len(o.Data["text"]) != 700<<10 {
			t.Errorf("large-%d has %d bytes: %v", i, len(o.Data["text"]), err)
		}
	}
}

// If etcd (500) or the API server (413) rejects an object because of its size,
// its plan fails and reports why.
func TestTooLarge(t *testing.T) {
	c, ctx := admin(t), context.Background()
	config, writes := restricted(t)
	for name, size := range map[string]int{"etcd": 1700 << 10, "apiserver": 3500 << 10} {
		t.Run(name, func(t *testing.T) {
			ns := "too-large-" + name
			content := catalogs(t, c, ns, withLarge(t, largeRole, size, 1))
			playDeployments(t)
			start(t, config, content, func(r *kube.Reconciler) { r.Options.PlanTimeout = 2 * time.Second })
			namespace(t, c, ns)
			t.Cleanup(func() { wipe(t, ns) })
			must(t, c.Create(ctx, operatorGroup(ns, ns)))
			must(t, c.Create(ctx, subscription(ns, ns)))
			plan := failedPlan(t, c, ns)
			if text := fmt.Sprint(plan.Status.Message, plan.Status.Conditions); !strings.Contains(text, "Role "+ns+"/large-0") || !strings.Contains(text, "too large") {
				t.Errorf("the plan does not report the error: %s", text)
			}
			quiet(t, writes)
		})
	}
}

// If an admission webhook cannot be called, the API server rejects the objects
// that it selects with status 500. The plan reports this, and continues once
// the webhook is deleted.
func TestDeadWebhook(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "dead-webhook", widgetsOf(t, "light.csv.yaml", []string{"0.1.1"}))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content, func(r *kube.Reconciler) { r.Options.PlanTimeout = time.Hour })
	namespace(t, c, "dead-webhook")
	t.Cleanup(func() { wipe(t, "dead-webhook") })
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "dead"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "dead.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
				corev1.LabelMetadataName: "dead-webhook",
			}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"operators.coreos.com"}, APIVersions: []string{"*"}, Resources: []string{"clusterserviceversions"}},
			}},
		}},
	}
	must(t, c.Create(ctx, hook))
	t.Cleanup(func() { must(t, client.IgnoreNotFound(c.Delete(ctx, hook))) })
	probe := &operatorsv1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "probe.v1", Namespace: "dead-webhook"}}
	probe.Spec.InstallStrategy.StrategyName = "deployment"
	probe.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []operatorsv1alpha1.StrategyDeploymentSpec{}
	eventually(t, patience, func() error { // until the API server knows of it
		err := c.Create(ctx, probe.DeepCopy(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			return fmt.Errorf("the webhook is not called yet: %v", err)
		}
		return nil
	})
	must(t, c.Create(ctx, operatorGroup("dead-webhook", "dead-webhook")))
	must(t, c.Create(ctx, subscription("dead-webhook", "dead-webhook")))
	eventually(t, patience, func() error {
		list := &operatorsv1alpha1.InstallPlanList{}
		if err := c.List(ctx, list, client.InNamespace("dead-webhook")); err != nil {
			return err
		}
		if len(list.Items) != 1 || !strings.Contains(list.Items[0].Status.Message, "failed calling webhook") {
			return fmt.Errorf("no plan mentions the webhook: %+v", list.Items)
		}
		events := &eventsv1.EventList{}
		if err := c.List(ctx, events, client.InNamespace("dead-webhook")); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Regarding.Kind == "InstallPlan" && e.Type == "Warning" && strings.Contains(e.Note, "failed calling webhook") {
				return nil
			}
		}
		return fmt.Errorf("none of %d events mentions the webhook", len(events.Items))
	})
	must(t, c.Delete(ctx, hook))
	eventually(t, patience, func() error { return installed(c, "dead-webhook", "0.1.1") })
}

// F10: if the service account may not create the operator's deployment, the
// controller does not create it either, and the CSV reports this. With the
// permission, the operator runs.
func TestNarrowServiceAccount(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "narrow", widgetsOf(t, "light.csv.yaml", []string{"0.1.1"}))
	playDeployments(t)
	config, writes := restricted(t)
	start(t, config, content)
	namespace(t, c, "narrow")
	t.Cleanup(func() { wipe(t, "narrow") })
	must(t, c.Create(ctx, serviceAccount("narrow", "weak")))
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"clusterserviceversions", "subscriptions"}, Verbs: []string{"create", "update"}},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"create", "update"}},
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "narrow-weak"}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "narrow-weak"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "weak", Namespace: "narrow"}},
	}
	must(t, c.Create(ctx, role))
	must(t, c.Create(ctx, binding))
	t.Cleanup(func() { must(t, c.Delete(ctx, binding)); must(t, c.Delete(ctx, role)) })
	waitAllowed(t, c, "system:serviceaccount:narrow:weak", "", permission{olmGroup, "clusterserviceversions", "create"})
	g := operatorGroup("narrow", "narrow")
	g.Spec.ServiceAccountName = "weak"
	must(t, c.Create(ctx, g))
	must(t, c.Create(ctx, subscription("narrow", "narrow")))
	eventually(t, patience, func() error {
		csv := &operatorsv1alpha1.ClusterServiceVersion{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "narrow", Name: "widget.v0.1.1"}, csv); err != nil {
			return err
		}
		if !strings.Contains(csv.Status.Message, `"system:serviceaccount:narrow:weak" cannot create resource "deployments"`) {
			return fmt.Errorf("the CSV is %s, %s: %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
		}
		return nil
	})
	for _, w := range writes.list() {
		if strings.HasSuffix(w.path, "/namespaces/narrow/deployments") && w.user != "system:serviceaccount:narrow:weak" {
			t.Errorf("the deployment was written as %q: %+v", w.user, w)
		}
	}
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create"}})
	must(t, c.Update(ctx, role))
	eventually(t, patience, func() error { return installed(c, "narrow", "0.1.1") })
}
