package kube_test

import (
	"context"
	"fmt"
	"testing"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// E39: the OLMConfig has OLM's condition about copied CSVs. The permissions of Rules suffice to
// write it, and it is written only when it changes.
func TestOLMConfigStatus(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "configured", widgets(t, []string{"0.1.1"}))
	playDeployments(t)
	config, _ := restricted(t)
	olmConfig := &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	must(t, c.Create(ctx, olmConfig))
	t.Cleanup(func() { must(t, c.Delete(ctx, olmConfig)) })
	start(t, config, content)
	condition := func(status metav1.ConditionStatus, reason, message string) func() error {
		return func() error {
			must(t, c.Get(ctx, client.ObjectKeyFromObject(olmConfig), olmConfig))
			x := meta.FindStatusCondition(olmConfig.Status.Conditions, operatorsv1.DisabledCopiedCSVsConditionType)
			if x == nil || x.Status != status || x.Reason != reason || x.Message != message || x.LastTransitionTime.IsZero() {
				return fmt.Errorf("the OLMConfig has the conditions %v, want %s", olmConfig.Status.Conditions, message)
			}
			return nil
		}
	}
	const present = "Copied CSVs are enabled and present across the cluster"
	eventually(t, patience, condition("False", "CopiedCSVsEnabled", present))
	namespace(t, c, "configured")
	t.Cleanup(func() { wipe(t, "configured") })
	must(t, c.Create(ctx, operatorGroup("configured")))
	must(t, c.Create(ctx, subscription("configured", "configured")))
	eventually(t, patience, func() error { return installed(c, "configured", "0.1.1") })
	eventually(t, patience, condition("False", "CopiedCSVsEnabled", present))

	olmConfig.Spec.Features = &operatorsv1.Features{DisableCopiedCSVs: new(true)}
	must(t, c.Update(ctx, olmConfig))
	eventually(t, patience, condition("True", "CopiedCSVsDisabled", "Copied CSVs are disabled and no unexpected copied CSVs were found for operators installed in AllNamespace mode"))
}

// E34, E39: the status of the OLMConfig is written once OLM has stopped, although nothing else
// changes.
func TestOLMConfigAfterOLM(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "after", widgets(t, []string{"0.1.1"}))
	namespace(t, c, globalNamespace)
	namespace(t, c, "after")
	t.Cleanup(func() { wipe(t, "after") })
	olmConfig := &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	must(t, c.Create(ctx, olmConfig))
	t.Cleanup(func() { must(t, c.Delete(ctx, olmConfig)) })
	d := catalogOperator(t, c)
	w := startWatched(t, content)
	reported(t, c, globalNamespace, "Deployment")
	group := operatorGroup("after")
	w.runsOnce(t, func() error { return c.Create(ctx, group) })
	w.runsOnce(t, func() error { return c.Delete(ctx, group) })
	if got := w.written(); len(got) > 0 {
		t.Errorf("while OLM runs, it wrote %q", got)
	}
	must(t, c.Delete(ctx, d))
	eventually(t, patience, func() error {
		must(t, c.Get(ctx, client.ObjectKeyFromObject(olmConfig), olmConfig))
		if len(olmConfig.Status.Conditions) == 0 {
			return fmt.Errorf("the OLMConfig has no condition")
		}
		return nil
	})
}
