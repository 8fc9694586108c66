package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
)

// preflight changes the statuses of ClusterExtensions whose next bundle OLM v1 refuses because of its
// manifests, their configuration or CRDs on the cluster, as far as the manifests are at hand. It pulls
// no images.
func (r *clusterReader) preflight(ctx context.Context, run *impactRun, operators []operatorStatus) error { // K54
	c := &clusterImpact{impactRun: run, reader: r}
	for i := range operators {
		o := &operators[i]
		if !o.upcoming && len(o.SelectFixes) == 0 {
			continue
		}
		object, err := r.cluster.Get(o.Object)
		if err != nil {
			return err
		}
		x := &api.ClusterExtension{}
		if err := asTyped(object, x); err != nil {
			return err
		}
		bundles := c.bundlesOf(false, c.packages(o)...)
		var installed []registryv1.Phase
		if old, err := renderingOf(ctx, bundles, x, o.Installed); err != nil {
			return err
		} else if old != nil {
			installed = old.phases
		}
		live := func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) { return r.crd(o, installed) }
		if !o.upcoming {
			t := &fixTrial{extension: x, installed: o.Installed, options: statusOptions, live: live}
			t.content = func(ctx context.Context, b *rollout.Bundle) (*registryv1.Bundle, error) {
				found, err := bundles.get(ctx, b.Name)
				if err != nil {
					return nil, err
				}
				return found.Bundle.Bundle, nil
			}
			if o.SelectFixes, err = t.fixes(ctx, o.SelectFixes); err != nil {
				return err
			}
			continue
		}
		next, err := renderingOf(ctx, bundles, x, o.next)
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		if no := next.refused; no != nil {
			o.Moves, o.Why = movesStuck, fmt.Sprintf("OLM v1 refuses %s: %s", o.next, problemsSummary(no))
			if next.content != nil {
				if o.Ways, err = configured(ctx, x, &rollout.Bundle{Name: o.next}, next.content, statusOptions, no); err != nil {
					return err
				}
			}
			continue
		}
		results, err := desired.Preflight(ctx, x, next.phases, false, live)
		if err != nil {
			return err
		}
		if why := unsafeSummary(results); why != "" {
			o.Moves, o.Why = movesStuck, fmt.Sprintf("OLM v1 refuses %s: %s", o.next, why)
			o.Ways = unsafeWays(x.Name, o.next, results, live)
			continue
		}
		for _, crd := range dropped(installed, next.phases) {
			o.Why += "; CRD " + crd + " is deleted, and with it all of its custom resources"
		}
	}
	return nil
}

// dropped returns the names of the CRDs that only the first of two bundles has.
func dropped(old, created []registryv1.Phase) (names []string) {
	after := (&registryv1.Manifests{Phases: created}).Objects()
	for _, o := range (&registryv1.Manifests{Phases: old}).Objects() {
		if k := keyOf(o); k.Kind == olm.KindCRD && k.Group == olm.GroupCRD && !slices.ContainsFunc(after, func(x *unstructured.Unstructured) bool { return keyOf(x) == k }) {
			names = append(names, k.Name)
		}
	}
	return names
}

// A rendering has the objects of a bundle for an extension, or why it has none.
type rendering struct {
	phases  []registryv1.Phase
	content *registryv1.Bundle // nil if the manifests are invalid
	refused *registryv1.Error
}

// statusOptions are the defaults of plan.
var statusOptions = registryv1.RenderOptions{Certificates: registryv1.CertManager}

// renderingOf returns what a bundle is for an extension, or nil if its manifests are not at hand.
func renderingOf(ctx context.Context, bundles *packageBundles, x *api.ClusterExtension, name string) (*rendering, error) {
	out := &rendering{}
	found, err := bundles.get(ctx, name)
	var want *rollout.Revision
	if err == nil {
		out.content = found.Bundle.Bundle
		want, err = desired.Want(ctx, x, &rollout.Bundle{Name: name}, out.content, statusOptions)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &out.refused):
	case err != nil:
		return nil, nil
	default:
		out.phases = want.Phases
	}
	return out, nil
}

// problemsSummary returns the first problem of a bundle, and how many more there are.
func problemsSummary(e *registryv1.Error) string {
	text := e.Problems[0].String()
	if n := len(e.Problems); n > 1 {
		text += ", and " + phrase.Count(n-1, "more problem")
	}
	return text
}

// crd returns the CRD on the cluster with the name of another, or nil. If it is not known, it is
// assumed to be that of the installed objects.
func (r *clusterReader) crd(want *unstructured.Unstructured, installed []registryv1.Phase) (*unstructured.Unstructured, error) {
	o, err := r.cluster.Get(keyOf(want))
	if err == nil {
		return asUnstructured(o)
	}
	if !r.complete && !slices.Contains(r.cluster.Known, olm.GroupKind{Group: olm.GroupCRD, Kind: olm.KindCRD}) {
		for _, have := range (&registryv1.Manifests{Phases: installed}).Objects() {
			if registryv1.Key(have) == registryv1.Key(want) {
				return have, nil
			}
		}
	}
	return nil, nil
}

// unsafeSummary returns the first finding about CRDs and how many more there are, or "".
func unsafeSummary(results []*crdsafety.Result) string {
	text, n := "", 0
	for _, r := range results {
		for _, f := range r.Findings {
			if n++; n == 1 {
				text = fmt.Sprintf("CRD %s: %s", r.Name, unsafeText(f))
			}
		}
	}
	if n > 1 {
		text += ", and " + phrase.Count(n-1, "more finding")
	}
	return text
}
