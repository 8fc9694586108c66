package platform

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
)

// support returns what the catalogs state about a bundle of the operator: the catalog of
// level k or, if it does not know the bundle's version, the latest one that does.
func (r *ground) support(ctx context.Context, k int, n graph.Node) (*Support, error) {
	for _, at := range append([]int{k}, downTo(r.last())...) {
		_, pkg, ok := r.source(r.Operator, r.at(at))
		if !ok {
			continue
		}
		data, err := r.lives.of(ctx, pkg)
		if ctx.Err() != nil {
			return nil, err
		}
		if data == nil {
			continue // unchecked reports the error
		}
		if v, ok := data.Of(n.Version); ok {
			s := &Support{Bundle: n, Platform: r.at(at).String(), Lifecycle: *v}
			if ph, ok := v.On(r.On); ok {
				s.Phase = ph.Name
			}
			return s, nil
		}
	}
	return nil, nil
}

// downTo returns the numbers from n down to 0.
func downTo(n int) []int {
	out := make([]int, n+1)
	for i := range out {
		out[i] = n - i
	}
	return out
}

// tooNew reports whether a bundle needs a newer Kubernetes than the platform has at level k, and OLM v1 installs it
// nevertheless.
func (r *ground) tooNew(k int, n graph.Node) bool {
	f := r.factsAt(k, n)
	return r.Reading == graph.V1 && f != nil && f.tooNew(r.at(k))
}

// incompatible returns the blocker for a bundle whose lifecycle data do not list the version
// of the platform at level k, or that needs a newer Kubernetes although OLM v1 installs it, or nil.
func (r *ground) incompatible(ctx context.Context, k int, n graph.Node) (*Blocker, error) {
	if r.tooNew(k, n) {
		return &Blocker{
			Package: r.Package, Instance: r.instance(), Bundle: n.Name, Platform: r.at(k).String(), Kind: BlockerCompatibility,
			Reason: fmt.Sprintf("%s requires Kubernetes %s, but %s; OLM v1 does not check this, so the operator may not run", n, r.factsAt(k, n).min, kubeText(r.at(k))),
		}, nil
	}
	s, err := r.support(ctx, k, n)
	if s == nil || err != nil {
		return nil, err
	}
	if ok, known := s.Lifecycle.Compatible(r.at(k)); ok || !known {
		return nil, nil
	}
	b := &Blocker{
		Package: r.Package, Instance: r.instance(), Bundle: n.Name, Platform: r.at(k).String(), Kind: BlockerCompatibility,
		Reason: fmt.Sprintf("the catalog for %s states that version %s is compatible only with %s", s.Platform, s.Lifecycle.Name, openShift(&s.Lifecycle)),
	}
	if list := r.others(ctx, k, func(v *lifecycle.Version) bool { ok, _ := v.Compatible(r.at(k)); return ok }); len(list) > 0 {
		b.Reason += fmt.Sprintf("; compatible with %s: %s", r.at(k), phrase.And(list))
	}
	return b, nil
}

// others returns the versions of the operator's package that a function accepts, from the
// lifecycle data in the catalog of level k.
func (r *ground) others(ctx context.Context, k int, accept func(*lifecycle.Version) bool) []string {
	_, pkg, ok := r.source(r.Operator, r.at(k))
	if !ok {
		return nil
	}
	data, err := r.lives.of(ctx, pkg)
	if err != nil || data == nil {
		return nil
	}
	var out []string
	for i := range data.Versions {
		if v := &data.Versions[i]; accept(v) {
			out = append(out, v.Name)
		}
	}
	return out
}

// supports sets the support of an operator that ends at a level.
func (r *ground) supports(ctx context.Context, o *OperatorPlan, end int) error {
	list := []graph.Node{o.From, o.To}
	for i, n := range slices.Compact(list) {
		k := 0
		if i > 0 {
			k = end
		}
		s, err := r.support(ctx, k, n)
		if err != nil {
			return err
		}
		if s != nil {
			o.Support = append(o.Support, *s)
		}
	}
	if s := o.supportOf(o.To); r.On != "" && s != nil && s.Phase == "" {
		o.Supported = r.others(ctx, end, func(v *lifecycle.Version) bool { _, ok := v.On(r.On); return ok })
	}
	return nil
}
