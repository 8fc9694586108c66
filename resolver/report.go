package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
)

// A Report is the whole explanation of a conflict as data; [Report.Text] and
// [Report.Markdown] tell it to people, and it marshals to JSON for programs.
type Report struct {
	ID        string       `json:"id,omitempty"`
	Namespace string       `json:"namespace"`
	Cores     []CoreReport `json:"cores"`
	// Planned and Refused are the subscriptions of the parts that have a plan
	// and of those that have none, Plan is the plan of the former (G1).
	Planned []string   `json:"planned"`
	Refused []string   `json:"refused"`
	Plan    []Selected `json:"plan"`
}

// A CoreReport explains one core.
type CoreReport struct {
	Headline string `json:"headline"`
	*Derivation
	// Notes are what else may matter: catalogs that were left out, and rules that
	// could not be evaluated.
	Notes []string `json:"notes,omitempty"`
	// Fixes are what would resolve the core, the least disturbing first.
	Fixes []*Fix `json:"fixes"`
	Facts Facts  `json:"facts"`
	// Faults are the rules in it that could not be evaluated on some bundle (D7).
	Faults []Fault `json:"faults,omitempty"`
	// Requests are the names of the subscriptions and operators involved.
	Requests []string `json:"requests"`
}

// Report explains the conflict: the derivation of each core, what would help,
// and what can be planned all the same. The error is the context's.
func (c *Conflict) Report(ctx context.Context) (*Report, error) {
	r := &Report{
		ID: c.ID, Namespace: c.Namespace, Plan: []Selected{},
		Planned: slices.Clip(c.planned), Refused: slices.Clip(c.refused),
	}
	if p := c.Planned(); p != nil {
		r.Plan = p.Selected
	}
	for _, list := range []*[]string{&r.Planned, &r.Refused} {
		if *list == nil {
			*list = []string{}
		}
	}
	for _, core := range c.Cores {
		d, err := core.Derive(ctx)
		if err != nil {
			return nil, err
		}
		fixes, err := core.Fixes(ctx, 0)
		if err != nil {
			return nil, err
		}
		if fixes == nil {
			fixes = []*Fix{}
		}
		r.Cores = append(r.Cores, CoreReport{
			Headline: d.Headline(), Derivation: d, Notes: core.notes(), Fixes: fixes, Facts: core.Facts, Faults: core.Faults, Requests: core.requests(),
		})
	}
	// Once, whichever of them it matters to, unless it is what a subscription names.
	u := c.e.r.u
	for _, id := range u.unseen {
		if slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.source() == id }) {
			continue
		}
		r.Cores[0].Notes = append(r.Cores[0].Notes, u.p.WhyUnseen(id))
	}
	return r, nil
}

// requests names what the core asks for.
func (c *Core) requests() []string {
	var out []string
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *Subscribed:
			out = append(out, f.Subscription.Name)
		case *Unavailable:
			out = append(out, f.Subscription.Name)
		case *MustStay:
			out = append(out, f.Operator.Name)
		}
	}
	return out
}

// notes returns the rules that could not be evaluated, and the catalogs that were left
// out, or not looked at, where something is missing.
func (c *Core) notes() []string {
	u := c.e.r.u
	missing, nowhere := false, false
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *Unavailable:
			missing = true
			nowhere = nowhere || f.What == "package" && len(f.Nearest) == 0 && len(u.versionsOf(f.Subscription.Package)) == 0
		case *Requires:
			if len(f.Candidates) > 0 {
				continue
			}
			missing = true
			switch x := f.Requirement.(type) {
			case *constraints.Package:
				nowhere = nowhere || len(u.versionsOf(x.Name)) == 0
			case *constraints.GVK:
				nowhere = nowhere || len(u.otherVersions(x)) == 0 && u.hidden(x) == ""
			}
		}
	}
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.String())
	}
	if !missing {
		return faults
	}
	var out []string
	for _, x := range u.p.Catalogs {
		if x.Unhealthy != "" {
			out = append(out, fmt.Sprintf("catalog %s is unhealthy and was left out (%s); what is missing may be in it", x.ID(), x.Unhealthy))
		}
	}
	slices.Sort(out)
	if nowhere && len(u.cats) == 0 && len(out) == 0 {
		return append(faults, "no catalog took part; add the one that has what is missing")
	}
	if nowhere && len(out) == 0 {
		names := make([]string, len(u.cats))
		for i, s := range u.cats {
			names[i] = s.ID().String()
		}
		out = append(out, "only "+pluralOf(len(names), "catalog")+" "+andList(names)+" took part; if another catalog has what is missing, add it")
	}
	return append(faults, out...)
}
