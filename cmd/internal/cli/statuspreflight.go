package cli

import (
	"context"
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

// preflight changes the statuses of ClusterExtensions whose next upgrade OLM v1 refuses because of
// CRDs on the cluster, as far as the manifests are at hand. It pulls no images.
func (r *clusterReader) preflight(ctx context.Context, run *impactRun, operators []operatorStatus) error { // K54
	c := &clusterImpact{impactRun: run, reader: r}
	for i := range operators {
		o := &operators[i]
		if !o.upcoming {
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
		want, known, err := phasesOf(ctx, bundles, x, o.next)
		if err != nil {
			return err
		}
		installed, _, err := phasesOf(ctx, bundles, x, o.Installed)
		if err != nil {
			return err
		}
		results, err := desired.Preflight(ctx, x, want, false, func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return r.crd(o, installed)
		})
		if err != nil {
			return err
		}
		if why := unsafeSummary(results); why != "" {
			o.Moves, o.Why = movesStuck, fmt.Sprintf("OLM v1 refuses %s: %s", o.next, why)
			continue
		}
		if !known {
			continue
		}
		for _, crd := range dropped(installed, want) {
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

// phasesOf returns the objects of a bundle for an extension, and whether they are known. The error is
// that of the context.
func phasesOf(ctx context.Context, bundles *packageBundles, x *api.ClusterExtension, name string) (phases []registryv1.Phase, known bool, err error) {
	found, err := bundles.get(ctx, name)
	var want *rollout.Revision
	if err == nil {
		want, err = desired.Want(ctx, x, &rollout.Bundle{Name: name}, found.Bundle.Bundle, registryv1.RenderOptions{Certificates: registryv1.CertManager})
	}
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err != nil:
		return nil, false, nil
	}
	return want.Phases, true, nil
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
