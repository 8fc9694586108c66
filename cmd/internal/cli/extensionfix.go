package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

// tried returns the fixes of a refusal as far as the manifests allow them: each with the configuration without which OLM v1
// cannot render what it then selects, where OLM v1 stops on the way, and the CRDs that it deletes. A fix after which OLM v1
// refuses the selected bundle states why, and is left out if another fix helps.
func (x *extensionState) tried(ctx context.Context, installed *rollout.Revision, list []*olmv1.Fix) (out []*olmv1.Fix, err error) { // K54
	return triedEach(list, func(f *olmv1.Fix) (*olmv1.Fix, bool, error) { return x.try(ctx, installed, f) })
}

// triedEach returns what try makes of fixes. Those of which it reports that OLM v1 refuses the selected bundle are left out if
// another fix helps. What classic OLM does, or what a catalog that is still unknown has, is not tried.
func triedEach(list []*olmv1.Fix, try func(*olmv1.Fix) (*olmv1.Fix, bool, error)) (out []*olmv1.Fix, err error) {
	var helpful []*olmv1.Fix
	for _, f := range list {
		refused := false
		if f.Kind != olmv1.FixClassic && f.Kind != olmv1.FixAddCatalog {
			if f, refused, err = try(f); err != nil {
				return nil, err
			}
		}
		if out = append(out, f); !refused {
			helpful = append(helpful, f)
		}
	}
	if len(helpful) > 0 {
		return helpful, nil
	}
	return out, nil
}

// try returns a fix with what its bundles need and do, and whether OLM v1 refuses the first of them nevertheless.
func (x *extensionState) try(ctx context.Context, installed *rollout.Revision, f *olmv1.Fix) (_ *olmv1.Fix, refused bool, err error) {
	y, changed := *x, f
	y.selected = f.Catalog
	var before []registryv1.Phase
	at := ""
	if installed != nil {
		at = installed.Bundle.Name
		if r, err := y.renderNamed(ctx, at); err != nil {
			return nil, false, err
		} else if r != nil {
			before = r.phases
		}
	}
	first, from := at, at
	var ways []extensionWay // without which the first bundle cannot be rendered
	var lost []string
	for i, n := range append([]graph.Node{f.Selected}, f.Later...) {
		r, err := y.renderNamed(ctx, n.Name)
		if err != nil {
			return nil, false, err
		}
		if r != nil && r.refused != nil && i == 0 {
			if ways, err = y.configured(ctx, n.Name, r); err != nil {
				return nil, false, err
			}
			for _, w := range ways {
				y.extension = w.extension
				if r, err = y.renderNamed(ctx, n.Name); err != nil {
					return nil, false, err
				}
			}
		}
		if r == nil {
			break // what it needs is unknown
		}
		live := x.onCluster(ctx)
		if i > 0 {
			phases := before
			live = func(want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return objectIn(phases, want), nil
			}
		}
		j, err := y.refusal(ctx, from, n.Name, r, live)
		if err != nil {
			return nil, false, err
		}
		if j != nil {
			changed = stopped(f, j, n, x.extension.Name, first)
			refused = i == 0
			break
		}
		lost = append(lost, dropped(before, r.phases)...)
		before, from = r.phases, n.Name
	}
	out := *changed
	for _, w := range ways {
		out.Text = w.change + ", and " + out.Text
		out.Command = w.Command + " && " + out.Command
	}
	return withRisk(&out, lost), refused, nil
}

// withRisk adds to a fix that OLM v1 deletes CRDs.
func withRisk(f *olmv1.Fix, crds []string) *olmv1.Fix {
	if len(crds) > 0 {
		f.Text += fmt.Sprintf(". Risk: OLM v1 deletes %s %s on the way, with all of its custom resources; save them first", phrase.Plural(len(crds), "CRD"), phrase.And(crds))
	}
	return f
}

// A rendering has the objects of a bundle for an extension, or why it has none.
type rendering struct {
	phases  []registryv1.Phase
	content *registryv1.Bundle // nil if the manifests are invalid
	refused *registryv1.Error
}

// renderNamed returns what a bundle of the package is for the extension, or nil if its manifests cannot be read.
func (x *extensionState) renderNamed(ctx context.Context, name string) (*rendering, error) {
	b := &rollout.Bundle{Name: name, Package: x.packageName()}
	for _, p := range x.packages(b.Package) {
		if chosen, ok := p.Bundle(name); ok {
			b.Version, b.Image = chosen.Version().String(), chosen.Image()
			break
		}
	}
	out := &rendering{}
	var want *rollout.Revision
	var err error
	if out.content, err = x.content(ctx, b); err == nil {
		want, err = desired.Want(ctx, x.extension, b, out.content, x.options)
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

// refusal returns why OLM v1 refuses an upgrade to a bundle, or nil.
func (x *extensionState) refusal(ctx context.Context, from, to string, r *rendering, live func(*unstructured.Unstructured) (*unstructured.Unstructured, error)) (*platform.Judgment, error) {
	j := &platform.Judgment{Exclusion: graph.Exclusion{From: from, To: to}}
	if r.refused != nil {
		ways, err := x.configured(ctx, to, r)
		judgeConfig(j, r.refused, ways)
		return j, err
	}
	results, err := desired.Preflight(ctx, x.extension, r.phases, x.options.AsUpstream, live)
	if err != nil || len(results) == 0 {
		return nil, err
	}
	j.Reason = strings.Join(judgeCRDs(j, results), "; ")
	return j, nil
}

// configured returns the change of the configuration with which a bundle can be rendered.
func (x *extensionState) configured(ctx context.Context, name string, r *rendering) ([]extensionWay, error) {
	return configured(ctx, x.extension, &rollout.Bundle{Name: name}, r.content, x.options, r.refused)
}

// dropped returns the names of the CRDs that only the first of two bundles has.
func dropped(before, after []registryv1.Phase) (names []string) {
	for _, o := range (&registryv1.Manifests{Phases: before}).Objects() {
		if k := keyOf(o); k.Kind == olm.KindCRD && k.Group == olm.GroupCRD && objectIn(after, o) == nil {
			names = append(names, k.Name)
		}
	}
	return names
}

// objectIn returns the object with the name of another, or nil.
func objectIn(phases []registryv1.Phase, want *unstructured.Unstructured) *unstructured.Unstructured {
	for _, o := range (&registryv1.Manifests{Phases: phases}).Objects() {
		if registryv1.Key(o) == registryv1.Key(want) {
			return o
		}
	}
	return nil
}

// onCluster returns a function that returns the object on the cluster for another one, or nil.
func (x *extensionState) onCluster(ctx context.Context) func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if have, err := x.live(o); have != nil || err != nil {
			return have, err
		}
		have, _, err := x.object(ctx, o)
		return have, err
	}
}

// live returns the object on the cluster that was read for another one, or nil.
func (x *extensionState) live(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	i := slices.IndexFunc(x.snapshot.Objects, func(live *unstructured.Unstructured) bool { return registryv1.Key(live) == registryv1.Key(o) })
	if i < 0 {
		return nil, nil
	}
	return x.snapshot.Objects[i], nil
}

// problemsSummary returns the first problem of a bundle, and how many more there are.
func problemsSummary(e *registryv1.Error) string {
	text := e.Problems[0].String()
	if n := len(e.Problems); n > 1 {
		text += ", and " + phrase.Count(n-1, "more problem")
	}
	return text
}
