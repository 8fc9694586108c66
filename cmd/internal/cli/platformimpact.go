package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/resolver/platform"
)

// A platformPlan is a plan with verdicts on its upgrades of operators.
type platformPlan struct {
	*platform.Plan
	impact, avoided, refused []edgeImpact
}

// MarshalJSON returns one object with the members of the plan and the verdicts.
func (p *platformPlan) MarshalJSON() ([]byte, error) {
	return json.Marshal(platformPlanJSON{platformPlanFields(*p.Plan), p.impact, p.avoided, p.refused}, json.Deterministic(true))
}

// A platformPlanJSON is the JSON form of a platformPlan.
type platformPlanJSON struct {
	platformPlanFields
	// Impact has the verdicts on the upgrades of operators in the plan, with --impact or
	// --avoid.
	Impact []edgeImpact `json:"impact,omitempty"`
	// Avoided are the upgrades that --avoid excludes, with their verdicts.
	Avoided []edgeImpact `json:"avoided,omitempty"`
	// Refused are the upgrades that OLM v1 would select, but refuses because of their CRDs or cannot apply, with their verdicts.
	Refused []edgeImpact `json:"refused,omitempty"`
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
	}{{"Impact of the upgrades", p.impact}, {"Avoided", p.avoided}, {"Refused by OLM v1", p.refused}} {
		if len(part.list) > 0 {
			visible.Fprintf(&b, "\n%s:\n", part.title)
			writeEdges(&b, part.list)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// upgrading returns the first plan whose upgrades of operators are known not to be refused or avoided, with
// the verdicts on them and on the upgrades to avoid. extensions returns the ClusterExtensions of an operator that are known.
func (a *avoidance) upgrading(ctx context.Context, e *env, p platform.Problem, extensions func(...platform.Object) ([]*api.ClusterExtension, error)) (*platformPlan, error) {
	p.Installed = slices.Clone(p.Installed)
	walks := make([]*upgradeWalk, len(p.Installed))
	cache := &impact.Cache{}
	for i := range p.Installed {
		if o := &p.Installed[i]; a.on() || o.Reading == graph.V1 {
			run := a.run(e)
			w := &upgradeWalk{}
			if o.Reading == graph.V1 {
				var err error
				if w.extensions, err = extensions(o.Objects...); err != nil {
					return nil, err
				}
			}
			run.opts.Cache, run.opts.Classic, run.opts.Unenforced = cache, o.Reading == graph.Classic, unenforced(w.extensions)
			var packages []graph.Package
			for _, c := range p.Catalogs {
				if pkg, ok := c.Graph.Package(o.Package); ok {
					packages = append(packages, pkg)
				}
			}
			if len(packages) > 0 {
				w.edgeJudge = run.judgeOf(run.bundlesOf(a.on(), packages...))
				walks[i] = w
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
		for _, of := range out.Operators {
			o, w := &p.Installed[of.Installed], walks[of.Installed]
			for _, s := range out.Steps {
				if w == nil || s.Operator == nil || s.Package != of.Package || s.Instance != of.Instance {
					continue
				}
				isSame := func(y platform.Judgment) bool { return y.From == s.Operator.From.Name && y.To == s.Operator.To.Name }
				switch x, err := w.badConfig(ctx, s.Operator.From.Name, s.Operator.To.Name); {
				case err != nil:
					return nil, err
				case x != nil && !slices.ContainsFunc(o.Refused, isSame):
					o.Refused = append(slices.Clip(o.Refused), *x)
					again = true
					continue
				}
				edge, err := w.of(ctx, s.Operator.From.Name, s.Operator.To.Name)
				if err != nil {
					return nil, err
				}
				if a.on() {
					out.impact = added(out.impact, edge)
				}
				x := platform.Judgment{Exclusion: edge.reasoned()}
				list := &o.Breaking
				switch v1 := o.Reading == graph.V1; {
				case edge.Error != "":
					continue
				case v1 && (edge.refused && !unenforced(w.extensions) || slices.Contains(edge.Codes, codes.ImpactSelector)):
					out.refused, list = added(out.refused, edge), &o.Refused
				case a.refuses(edge):
					out.avoided = added(out.avoided, edge)
					if y := edge.exclusion(); !slices.Contains(o.Excluded, y) {
						o.Excluded = append(slices.Clip(o.Excluded), y)
						again = true
					}
					continue
				case edge.Verdict != impact.Breaks || !a.on() && !(v1 && slices.Contains(edge.Codes, codes.ImpactDataDeleted)):
					continue
				}
				if slices.ContainsFunc(*list, isSame) {
					continue
				}
				r, err := w.report(ctx, x.From, x.To)
				if err != nil {
					return nil, err
				}
				judge(&x, r, list == &o.Refused)
				*list = append(slices.Clip(*list), x)
				again = true
			}
		}
		if !again {
			return out, nil
		}
	}
}

// added returns a list with a verdict, once.
func added(list []edgeImpact, e *edgeImpact) []edgeImpact {
	if slices.ContainsFunc(list, func(x edgeImpact) bool { return x.From == e.From && x.To == e.To && x.Verdict == e.Verdict }) {
		return list
	}
	return append(list, *e)
}

// judge adds to a judgment what a report says: the changes to CRDs because of which OLM v1 refuses the upgrade, or the
// data that it deletes, and what of it the API server refuses.
func judge(x *platform.Judgment, r *impact.Report, refused bool) {
	var list []string
	if refused {
		list = judgeCRDs(x, slices.DeleteFunc(slices.Clone(r.CRDs), func(c *crdsafety.Result) bool { return !c.Refused() }))
	}
	for _, class := range r.Classes {
		for _, c := range class.Changes {
			if name, ok := strings.CutPrefix(c.Object, "CustomResourceDefinition "); ok && c.Code == codes.ImpactDataDeleted {
				x.Deletes = append(x.Deletes, name)
				list = append(list, c.Message)
			} else if refused && c.Code == codes.ImpactSelector {
				x.Rejected = true
				list = append(list, c.Message)
			}
		}
	}
	if list != nil {
		x.Reason = strings.Join(list, "; ")
	}
}

// judgeCRDs adds to a judgment what the changes to CRDs mean because of which OLM v1 refuses the upgrade, and returns them.
func judgeCRDs(x *platform.Judgment, changes []*crdsafety.Result) (list []string) {
	x.Harmless = true
	for _, c := range changes {
		if len(c.Findings) == 0 {
			list = append(list, fmt.Sprintf("CRD %s changes", c.Name))
			continue
		}
		x.Harmless = x.Harmless && !slices.ContainsFunc(c.Findings, func(f crdsafety.Finding) bool { return !keepsValid(f) })
		if slices.ContainsFunc(c.Findings, func(f crdsafety.Finding) bool { return f.Validation == "storedVersionRemoval" }) {
			x.Stored = append(x.Stored, c.Name)
		}
		text := fmt.Sprintf("CRD %s: %s", c.Name, unsafeText(c.Findings[0]))
		if n := len(c.Findings); n > 1 {
			text += fmt.Sprintf(", and %d more", n-1)
		}
		list = append(list, text)
	}
	if x.Harmless = x.Harmless && list != nil; x.Harmless {
		list = append(list, "a false alarm: all custom resources stay valid")
	}
	return list
}

// reasoned returns the upgrade with what its codes mean.
func (e *edgeImpact) reasoned() graph.Exclusion {
	var list []string
	for _, c := range e.coded() {
		for _, page := range listCodes().pages(string(c)) {
			list = append(list, fmt.Sprintf("%s (%s)", page.Title, c))
		}
	}
	return graph.Exclusion{From: e.From, To: e.To, Reason: phrase.And(list)}
}
