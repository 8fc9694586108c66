package platform

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// Upgrade plans an upgrade. A blocked platform is not an error; see [Plan.OK]. Upgrade does
// not modify the problem. Goroutines may share its catalogs. The error is a
// [*document.Error], that of reading a catalog or minKubeVersion from its source, or the
// context's.
func Upgrade(ctx context.Context, p Problem) (*Plan, error) { // G5
	plan, err := upgrade(ctx, p)
	for i := range p.Catalogs {
		if c := p.Catalogs[i].Graph; c != nil && c.Err() != nil {
			return nil, c.Err()
		}
	}
	return plan, err
}

func upgrade(ctx context.Context, p Problem) (*Plan, error) {
	t, err := p.check()
	if err != nil {
		return nil, err
	}
	var routes []*route
	end := t.last()
	for _, o := range t.installs {
		r, err := t.route(ctx, o)
		if err != nil {
			return nil, err
		}
		end = min(end, r.end)
		routes = append(routes, r)
	}
	plan := &Plan{
		ID: p.ID, On: p.On, From: t.from.String(), To: t.to.String(), Reached: t.at(end).String(),
		OK: t.at(end) == t.to, Needs: []Need{}, Steps: []Step{}, Blockers: []Blocker{}, Operators: []OperatorPlan{},
	}
	for _, r := range routes {
		if err := r.report(ctx, end, plan); err != nil {
			return nil, err
		}
	}
	for i := range p.Installed {
		plan.Operators[slices.Index(t.installs, &p.Installed[i])].Installed = i
	}
	if plan.Unchecked, err = t.unchecked(ctx, routes, plan.Operators); err != nil {
		return nil, err
	}
	for k := range end + 1 {
		for _, r := range routes {
			plan.Steps = append(plan.Steps, r.stays[k].steps...)
		}
		if k < end {
			plan.Steps = append(plan.Steps, Step{Platform: t.at(k).String(), Next: t.at(k + 1).String()})
		}
	}
	unmet, err := t.unmet(ctx, plan.Steps)
	if err != nil {
		return nil, err
	}
	plan.Unchecked = append(plan.Unchecked, unmet...)
	for _, x := range plan.Unchecked {
		plan.Warnings = append(plan.Warnings, x.String())
	}
	behind := plan.LeftBehind()
	for i := range plan.Operators {
		o := &plan.Operators[i]
		o.LeftBehind = slices.ContainsFunc(behind, func(x Blocker) bool { return x.who() == o.who() })
	}
	taken := len(plan.Steps)
	for k := end + 1; k <= t.last(); k++ {
		for _, r := range routes {
			if k <= r.end {
				plan.Steps = append(plan.Steps, r.stays[k].steps...)
			}
		}
	}
	plan.needs(t.from)
	plan.Steps = plan.Steps[:taken:taken]
	return plan, nil
}

// unchecked returns what the plan could not check.
func (t *trip) unchecked(ctx context.Context, routes []*route, results []OperatorPlan) ([]Unchecked, error) {
	if len(routes) == 0 {
		return nil, nil
	}
	var out []Unchecked
	for v := t.from; v.Compare(t.to) <= 0; v = v.Next() {
		if !t.hasCatalog(v) {
			out = append(out, Unchecked{Platform: v.String()})
		}
		for _, c := range t.catalogs[v] {
			if n := t.unread(c.Graph); n > 0 {
				out = append(out, Unchecked{Platform: v.String(), Catalog: c.Name, Errors: n})
			}
		}
		for _, o := range t.installs {
			c, pkg, ok := t.source(o, v)
			if !ok {
				continue
			}
			_, err := t.lives.of(ctx, pkg)
			if ctx.Err() != nil {
				return nil, err
			}
			isSame := func(u Unchecked) bool {
				return u.Platform == v.String() && u.Catalog == c.Name && u.Package == o.Package
			}
			if err != nil && !slices.ContainsFunc(out, isSame) {
				out = append(out, Unchecked{Platform: v.String(), Catalog: c.Name, Package: o.Package, Reason: err.Error()})
			}
		}
	}
	for _, r := range routes {
		if !r.known {
			out = append(out, Unchecked{Package: r.Package, Instance: r.instance(), Bundle: &r.start})
		}
	}
	for i := range results {
		if o := &results[i]; t.On != "" && o.supportOf(o.To) == nil {
			out = append(out, Unchecked{Package: o.Package, Instance: o.Instance, Bundle: &o.To, Reason: "no catalog has lifecycle data for its version"})
		}
	}
	return out, nil
}

// unread returns how many errors a catalog has that may concern an installed
// operator: those of its package, and those of no known package.
func (t *trip) unread(c *graph.Catalog) int {
	n := 0
	for _, d := range c.Findings().Errors() {
		if d.Package == "" || slices.ContainsFunc(t.installs, func(o *Operator) bool { return o.Package == d.Package }) {
			n++
		}
	}
	return n
}
