package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/resolver/platform"
)

// A platformPlan is a plan with verdicts on its upgrades of operators.
type platformPlan struct {
	*platform.Plan
	impact, avoided []edgeImpact
}

// MarshalJSON returns one object with the members of the plan and the verdicts.
func (p *platformPlan) MarshalJSON() ([]byte, error) {
	return json.Marshal(platformPlanJSON{platformPlanFields(*p.Plan), p.impact, p.avoided}, json.Deterministic(true))
}

// A platformPlanJSON is the JSON form of a platformPlan.
type platformPlanJSON struct {
	platformPlanFields
	// Impact has the verdicts on the upgrades of operators in the plan, with --impact or
	// --avoid.
	Impact []edgeImpact `json:"impact,omitempty"`
	// Avoided are the upgrades that --avoid excludes, with their verdicts.
	Avoided []edgeImpact `json:"avoided,omitempty"`
}

// platformPlanFields is a plan without its methods, so that its MarshalJSON is not used for the
// whole document.
type platformPlanFields platform.Plan

func (p *platformPlan) text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(p.Text(textWidth(w)))
	for _, part := range []struct {
		title string
		list  []edgeImpact
	}{{"Impact of the upgrades", p.impact}, {"Avoided", p.avoided}} {
		if len(part.list) > 0 {
			visible.Fprintf(&b, "\n%s:\n", part.title)
			writeEdges(&b, part.list)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// upgrading returns the first plan whose upgrades of operators need not be avoided, with the
// verdicts on them and on the upgrades to avoid.
func (a *avoidance) upgrading(ctx context.Context, e *env, p platform.Problem) (*platformPlan, error) {
	p.Installed = slices.Clone(p.Installed)
	judges := make([]*edgeJudge, len(p.Installed))
	if a.on() {
		cache := &impact.Cache{}
		for i, o := range p.Installed {
			run := a.run(e)
			run.opts.Cache, run.opts.Classic = cache, o.Reading == graph.Classic
			var packages []graph.Package
			for _, c := range p.Catalogs {
				if pkg, ok := c.Graph.Package(o.Package); ok {
					packages = append(packages, pkg)
				}
			}
			if len(packages) > 0 {
				judges[i] = run.judgeOf(run.bundlesOf(true, packages...))
			}
		}
	}
	out := &platformPlan{}
	for {
		var err error
		if out.Plan, err = platform.Upgrade(ctx, p); err != nil {
			return nil, err
		}
		out.impact = nil
		again := false
		for i, j := range judges {
			o := &p.Installed[i]
			for _, s := range out.Steps {
				if j == nil || s.Operator == nil || s.Package != o.Package {
					continue
				}
				edge, err := j.of(ctx, s.Operator.From.Name, s.Operator.To.Name)
				if err != nil {
					return nil, err
				}
				out.impact = append(out.impact, *edge)
				if a.refuses(edge) {
					again = true
					out.avoided = append(out.avoided, *edge)
					o.Excluded = append(slices.Clip(o.Excluded), edge.exclusion())
				}
			}
		}
		if !again {
			return out, nil
		}
	}
}
