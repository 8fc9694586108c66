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
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A fixTrial tries what the fixes of a refusal lead to on the manifests.
type fixTrial struct {
	extension *api.ClusterExtension
	installed string // the name of the bundle, or ""
	options   registryv1.RenderOptions
	// content returns the manifests of a bundle. With an error, they are unknown.
	content func(context.Context, *rollout.Bundle) (*registryv1.Bundle, error)
	// live returns the object on the cluster for another one, or nil.
	live func(*unstructured.Unstructured) (*unstructured.Unstructured, error)
}

// fixes returns the fixes, each with the configuration without which OLM v1 cannot render what it then selects. One
// after which OLM v1 refuses the bundle states why, and is left out if another fix helps.
func (t *fixTrial) fixes(ctx context.Context, list []*olmv1.Fix) (out []*olmv1.Fix, err error) { // K54
	var helpful []*olmv1.Fix
	for _, f := range list {
		why := ""
		if f.Kind != olmv1.FixClassic && f.Selected.Name != t.installed {
			if f, why, err = t.try(ctx, f); err != nil {
				return nil, err
			}
		}
		if out = append(out, f); why == "" {
			helpful = append(helpful, f)
		}
	}
	if len(helpful) > 0 {
		return helpful, nil
	}
	return out, nil
}

// try returns a fix with the configuration that it needs, and why OLM v1 refuses the bundle nevertheless, or "".
func (t *fixTrial) try(ctx context.Context, f *olmv1.Fix) (_ *olmv1.Fix, why string, err error) {
	x, changed := t.extension, *f
	b := &rollout.Bundle{Name: f.Selected.Name, Package: x.Spec.Source.Catalog.PackageName, Version: f.Selected.Version}
	content, err := t.content(ctx, b)
	if err != nil {
		return f, "", context.Cause(ctx)
	}
	var problems *registryv1.Error
	want, err := desired.Want(ctx, x, b, content, t.options)
	if errors.As(err, &problems) {
		ways, failed := configured(ctx, x, b, content, t.options, problems)
		if failed != nil {
			return nil, "", failed
		}
		if len(ways) == 0 {
			why = problemsSummary(problems)
		}
		for _, w := range ways {
			changed.Text += ". First " + w.Text
			changed.Command = w.Command + " && " + f.Command
			x = w.extension
		}
		want, err = desired.Want(ctx, x, b, content, t.options)
	}
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case why == "" && err != nil:
		return f, "", nil // what it needs is unknown
	case why == "":
		results, err := desired.Preflight(ctx, x, want.Phases, t.options.AsUpstream, t.live)
		if err != nil {
			return nil, "", err
		}
		why = unsafeSummary(results)
	}
	if why != "" {
		changed.Text += "; but OLM v1 refuses " + b.Name + ": " + why
	}
	return &changed, why, nil
}

// trial tries fixes on the manifests that a plan reads.
func (x *extensionState) trial(ctx context.Context, installed *rollout.Revision) *fixTrial {
	t := &fixTrial{extension: x.extension, options: x.options}
	if installed != nil {
		t.installed = installed.Bundle.Name
	}
	t.content = func(ctx context.Context, b *rollout.Bundle) (*registryv1.Bundle, error) {
		for _, p := range x.packages(b.Package) {
			if chosen, ok := p.Bundle(b.Name); ok {
				b.Image = chosen.Image()
				return x.content(ctx, b)
			}
		}
		return nil, errUnknownBundle
	}
	t.live = func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if have, err := x.live(o); have != nil || err != nil {
			return have, err
		}
		have, _, err := x.object(ctx, o)
		return have, err
	}
	return t
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
