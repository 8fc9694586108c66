package kube

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

// configName is the name of the only OLMConfig that has an effect.
const configName = "cluster"

// configSettles is how long to wait after an event before the copies are counted, because
// many are created or deleted at once.
const configSettles = time.Second

// A configStatus writes the status of the OLMConfig (E39). It runs in the shard of the global
// namespace.
type configStatus struct{ *Reconciler }

// setup registers the controller. CSVs and namespaces matter only when they appear or
// disappear.
func (r configStatus) setup(m manager.Manager) error {
	c, err := controller.New(FieldOwner+"-olmconfig", m, controller.Options{
		Reconciler: r, RateLimiter: newLimiter(), UsePriorityQueue: ptr(false), SkipNameValidation: ptr(true),
	})
	if err != nil {
		return err
	}
	for _, k := range []kind{kindOLMConfig, kindOperatorGroup, kindCSV, kindNamespace} {
		add := func(q queue) {
			q.AddAfter(ctrlreconcile.Request{NamespacedName: types.NamespacedName{Name: configName}}, configSettles)
		}
		h := handler.Funcs{
			CreateFunc: func(_ context.Context, _ event.CreateEvent, q queue) { add(q) },
			DeleteFunc: func(_ context.Context, _ event.DeleteEvent, q queue) { add(q) },
		}
		if k.group() == kindOLMConfig.group() || k.group() == kindOperatorGroup.group() {
			h.UpdateFunc = func(_ context.Context, _ event.UpdateEvent, q queue) { add(q) }
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.gvk)
		if err := c.Watch(ctrlsource.Kind(m.GetCache(), client.Object(u), h)); err != nil {
			return err
		}
	}
	return nil
}

// Reconcile writes the condition DisabledCopiedCSVs if it has changed.
func (r configStatus) Reconcile(ctx context.Context, _ ctrlreconcile.Request) (ctrlreconcile.Result, error) {
	c := r.Cluster
	v, err := c.source.get(ctx, kindOLMConfig, "", configName)
	config, ok := v.(*olm.OLMConfig)
	if err != nil || !ok || !r.owns(ctx, c.opts.GlobalNamespace) {
		return ctrlreconcile.Result{}, err
	}
	if !r.Writes(ctx, c.opts.GlobalNamespace) { // no event here shows that OLM has stopped
		return ctrlreconcile.Result{RequeueAfter: r.retry()}, nil
	}
	complete, err := r.copiesAreComplete(ctx, config)
	if err != nil {
		return ctrlreconcile.Result{}, err
	}
	out := *config
	status := olm.Members{}
	if len(config.Status) > 0 {
		if err := olm.Unmarshal(config.Status, &status); err != nil {
			return ctrlreconcile.Result{}, ctrlreconcile.TerminalError(err)
		}
	}
	var conditions []olm.Condition
	if len(status["conditions"]) > 0 {
		if err := olm.Unmarshal(status["conditions"], &conditions); err != nil {
			return ctrlreconcile.Result{}, ctrlreconcile.TerminalError(err)
		}
	}
	want := copiesCondition(!olm.CopiedCSVsDisabled(config), complete)
	have, found := olm.FindCondition(conditions, want.Type)
	if found && have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message {
		return ctrlreconcile.Result{}, nil
	}
	want.LastTransitionTime = c.opts.Now().UTC().Truncate(time.Second)
	if found && have.Status == want.Status {
		want.LastTransitionTime = have.LastTransitionTime
	}
	var others []olm.Condition
	for _, x := range conditions {
		if x.Type != want.Type {
			others = append(others, x)
		}
	}
	text, err := json.Marshal(append(others, want))
	if err != nil {
		return ctrlreconcile.Result{}, err
	}
	if out.Status, err = json.Marshal(status.With("conditions", text)); err != nil {
		return ctrlreconcile.Result{}, err
	}
	object, err := olm.ToObject(&out)
	if err != nil {
		return ctrlreconcile.Result{}, err
	}
	_, err = c.Apply(ctx, reconcile.Change{Op: reconcile.UpdateStatus, Object: object})
	return ctrlreconcile.Result{}, err
}

// copiesAreComplete reports whether the operators for all namespaces have the copies that they
// should have, and no others.
func (r configStatus) copiesAreComplete(ctx context.Context, config *olm.OLMConfig) (bool, error) {
	mode := operatorgroup.CopyAll
	if olm.CopiedCSVsDisabled(config) {
		if mode = r.Options.DisabledCopies; mode == operatorgroup.CopyAll {
			mode = operatorgroup.CopyNone
		}
	}
	reading := &reading{ctx: ctx, cluster: r.Cluster}
	var namespaces []*olm.Namespace
	var groups []*olm.OperatorGroup
	fill(reading, &namespaces, kindNamespace, selection{})
	fill(reading, &groups, kindOperatorGroup, selection{})
	for _, g := range groups {
		if !operatorgroup.IsGlobal(g.Status.Namespaces) {
			continue
		}
		var own, copies []*olm.ClusterServiceVersion
		fill(reading, &own, kindCSV, selection{namespace: g.Metadata.Namespace})
		fill(reading, &copies, kindCSV, selection{index: byOriginal, value: g.Metadata.Namespace})
		missing := -len(copies)
		for _, c := range own {
			if !olm.IsCopied(c) {
				missing += len(operatorgroup.Copies(c, g, namespaces, mode))
			}
		}
		if missing != 0 {
			return false, reading.err
		}
	}
	return true, reading.err
}

// copiesCondition returns OLM's condition about copied CSVs.
func copiesCondition(enabled, complete bool) olm.Condition {
	c := olm.Condition{Type: "DisabledCopiedCSVs", Status: olm.ConditionFalse, Reason: "CopiedCSVsDisabled"}
	switch {
	case enabled && complete:
		c.Reason, c.Message = "CopiedCSVsEnabled", "Copied CSVs are enabled and present across the cluster"
	case enabled:
		c.Reason, c.Message = "CopiedCSVsEnabled", "Copied CSVs are enabled and at least one copied CSVs is missing"
	case complete:
		c.Status, c.Message = olm.ConditionTrue, "Copied CSVs are disabled and no unexpected copied CSVs were found for operators installed in AllNamespace mode"
	default:
		c.Message = "Copied CSVs are disabled and at least one unexpected copied CSV was found for an operator installed in AllNamespace mode"
	}
	return c
}
