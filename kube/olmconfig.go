package kube

import (
	"context"
	"slices"
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

	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

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
			q.AddAfter(ctrlreconcile.Request{NamespacedName: types.NamespacedName{Name: clusterstatus.ConfigName}}, configSettles)
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
	v, err := c.source.get(ctx, kindOLMConfig, "", clusterstatus.ConfigName)
	config, ok := v.(*olm.OLMConfig)
	if err != nil || !ok || !r.owns(ctx, c.opts.GlobalNamespace) {
		return ctrlreconcile.Result{}, err
	}
	if !r.Writes(ctx, c.opts.GlobalNamespace) { // no event here shows that OLM has stopped
		return ctrlreconcile.Result{RequeueAfter: r.retry()}, nil
	}
	x := clusterstatus.Copies{Disabled: r.Options.DisabledCopies}
	reading := &reading{ctx: ctx, cluster: c}
	fill(reading, &x.Namespaces, kindNamespace, selection{})
	fill(reading, &x.Groups, kindOperatorGroup, selection{})
	read := map[string]bool{}
	for _, g := range x.Groups {
		ns := g.Metadata.Namespace
		if !operatorgroup.IsGlobal(g.Status.Namespaces) || read[ns] {
			continue
		}
		read[ns] = true
		var here []*olm.ClusterServiceVersion
		fill(reading, &here, kindCSV, selection{namespace: ns})
		x.CSVs = append(x.CSVs, slices.DeleteFunc(here, olm.IsCopied)...)
		fill(reading, &x.CSVs, kindCSV, selection{index: byOriginal, value: ns})
	}
	if reading.err != nil {
		return ctrlreconcile.Result{}, reading.err
	}
	out := *config
	if !x.Apply(&out, c.opts.Now()) {
		return ctrlreconcile.Result{}, nil
	}
	object, err := olm.ToObject(&out)
	if err != nil {
		return ctrlreconcile.Result{}, err
	}
	_, err = c.Apply(ctx, reconcile.Change{Op: reconcile.UpdateStatus, Object: object})
	return ctrlreconcile.Result{}, err
}
