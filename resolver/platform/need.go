package platform

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/property"
)

// needs sets what a person has to do or to decide, in order, and by when.
func (p *Plan) needs(from property.MinorVersion) {
	type behind struct {
		pkg  string
		kind BlockerKind
	}
	seen := map[behind]bool{}
	for at := from; ; at = at.Next() {
		here, next := at.String(), at.Next().String()
		for i := range p.Steps {
			if s := &p.Steps[i]; s.Platform == here && s.Switch != nil {
				p.Needs = append(p.Needs, Need{here, s.Before, p.installed(i), s.Package, s.Switch.text(), s.Reason, s.Commands})
			} else if s.Platform == here && s.Hold != nil {
				p.Needs = append(p.Needs, Need{here, "", p.installed(i), s.Package, s.Hold.text() + p.until(i), s.Reason, s.Commands})
			}
		}
		for _, o := range p.Operators {
			for _, c := range o.Closes {
				if c.Platform == here {
					p.Needs = append(p.Needs, Need{
						Platform: here, Package: o.Package, Reason: prose.Summary(c.Outlook) + ", and the plan does that",
						Action: "decide: " + onward(c.Outlook), Commands: c.Commands,
					})
				}
			}
			for _, c := range o.Downgrades {
				if d := c.Outlook.Downgrade; c.Platform == here {
					p.Needs = append(p.Needs, Need{
						Platform: here, Package: o.Package, Action: "decide: " + onward(c.Outlook), Commands: c.Commands,
						Reason: fmt.Sprintf("OLM takes it back from %s to %s, which accepts upgrades from newer versions, and the plan does that", d.From, d.To),
					})
				}
			}
		}
		for _, x := range p.Unchecked {
			if x.Requires != "" && x.Platform == here {
				p.Needs = append(p.Needs, Need{
					Platform: here, Package: x.Package, Action: "see that something provides " + x.Requires + ", which no given catalog has",
					Reason: fmt.Sprintf("OLM upgrades %s to %s only then", x.Package, x.Bundle),
				})
			}
		}
		for _, x := range p.Blockers {
			key := behind{pkg: x.Package}
			if x.Kind == BlockerCompatibility || x.Kind == BlockerRemovedAPI {
				key.kind = x.Kind
			}
			first := x.Platform == here && (here == p.From || x.there)
			switch {
			case x.Fatal && x.Platform == here:
				p.Needs = append(p.Needs, Need{here, next, "", x.Package, x.Action, x.Reason, nil})
			case x.Fatal || x.resolved() || x.Temporary || x.Action == "" || seen[key] || !first && (x.Platform != next || x.there):
			case first:
				seen[key] = true
				p.Needs = append(p.Needs, Need{here, "", "", x.Package, x.Action, x.Reason, nil})
			default:
				seen[key] = true
				p.Needs = append(p.Needs, Need{here, next, "", x.Package, x.Action, x.Reason, nil})
			}
		}
		if here == p.Reached {
			break
		}
	}
	for i := range p.Operators {
		o := &p.Operators[i]
		if s := o.supportOf(o.To); p.On != "" && s != nil && s.Phase == "" {
			p.Needs = append(p.Needs, o.unsupported(p, s))
		}
		for _, n := range p.Needs {
			if n.Package == o.Package && n.Before != "" {
				o.ActBefore = n.Before
				break
			}
		}
	}
}

// installed returns the bundle that OLM must have installed before step i of the plan, or "" if the
// operator is not upgraded before.
func (p *Plan) installed(i int) string {
	step := &p.Steps[i]
	for _, s := range slices.Backward(p.Steps[:i]) {
		if s.Package == step.Package && s.Operator != nil {
			return s.Operator.To.Name
		}
	}
	return ""
}

// until returns the end of the hold that is step i of the plan, as part of a sentence.
func (p *Plan) until(i int) string {
	hold := &p.Steps[i]
	for _, s := range p.Steps[i+1:] {
		if s.Package == hold.Package && (s.Switch != nil || s.Operator != nil && s.Operator.From == hold.Hold.Bundle) {
			if s.Platform == hold.Platform {
				return ", before the next change of the channel"
			}
			return ", until the platform runs " + s.Platform
		}
	}
	return ""
}

// unsupported returns the need of an operator that has no support on the day of the plan.
func (o *OperatorPlan) unsupported(p *Plan, s *Support) Need {
	n := Need{
		Platform: p.Reached, Package: o.Package,
		Action: fmt.Sprintf("install a version with support on %s, or accept that there is none", p.On),
		Reason: fmt.Sprintf("of version %s: %s", s.Lifecycle.Name, s.period(p.On)),
	}
	if len(o.Supported) > 0 {
		n.Reason += fmt.Sprintf("; with support on %s: %s", p.On, phrase.And(o.Supported))
	}
	return n
}
