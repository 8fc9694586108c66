package kube_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// E14, E15: the permissions of Rules suffice to create, repair and delete the
// registrations of webhooks and aggregated APIs.
func TestServing(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "serving", widgetsOf(t, "serving.csv.yaml", []string{"0.1.1"}))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "serving")
	t.Cleanup(func() { wipe(t, "serving") })
	must(t, c.Create(ctx, operatorGroup("serving", "serving")))
	sub := subscription("serving", "serving")
	must(t, c.Create(ctx, sub))

	registrations := func() ([]*unstructured.Unstructured, error) {
		var all []*unstructured.Unstructured
		for _, kind := range [][2]string{
			{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"},
			{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"},
			{"apiregistration.k8s.io/v1", "APIService"},
		} {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(kind[0])
			list.SetKind(kind[1])
			if err := c.List(ctx, list, client.MatchingLabels{"olm.owner": "widget.v0.1.1"}); err != nil {
				return nil, err
			}
			for i := range list.Items {
				all = append(all, &list.Items[i])
			}
		}
		return all, nil
	}
	count := func(want int) func() error {
		return func() error {
			all, err := registrations()
			if err == nil && len(all) != want {
				err = fmt.Errorf("%d registrations, want %d", len(all), want)
			}
			return err
		}
	}
	eventually(t, patience, count(3))
	eventually(t, patience, func() error {
		ns := &corev1.Namespace{}
		must(t, c.Get(ctx, types.NamespacedName{Name: "serving"}, ns))
		for label := range ns.Labels {
			if strings.HasPrefix(label, "olm.operatorgroup.uid/") {
				return nil
			}
		}
		return fmt.Errorf("the namespace has only the labels %v", ns.Labels)
	})

	// A changed service reference in a registration is repaired.
	service := func(u *unstructured.Unstructured) map[string]any {
		config := u.Object["spec"]
		if hooks, ok := u.Object["webhooks"].([]any); ok {
			config = hooks[0].(map[string]any)["clientConfig"]
		}
		return config.(map[string]any)["service"].(map[string]any)
	}
	all, err := registrations()
	must(t, err)
	for _, u := range all {
		service(u)["name"] = "lost"
		must(t, c.Update(ctx, u))
	}
	eventually(t, patience, func() error {
		all, err := registrations()
		for _, u := range all {
			if name := service(u)["name"]; name != "widget-service" {
				err = fmt.Errorf("%s %s refers to service %v", u.GetKind(), u.GetName(), name)
			}
		}
		return err
	})

	// Delete both: otherwise the subscription would install the CSV again.
	must(t, c.Delete(ctx, sub))
	must(t, c.DeleteAllOf(ctx, &operatorsv1alpha1.ClusterServiceVersion{}, client.InNamespace("serving")))
	eventually(t, patience, count(0))
}
