package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/property"
)

// needs sets what a person has to do or to decide, in order, and by when.
func (p *Plan) needs(from property.MinorVersion) {
	type behind struct {
		who
		kind BlockerKind
	}
	seen := map[behind]bool{}
	for at := from; ; at = at.Next() {
		here, next := at.String(), at.Next().String()
		for i := range p.Steps {
			if p.Steps[i].Platform != here {
				continue
			}
			if n, ok := p.action(i); ok {
				p.Needs = append(p.Needs, n)
			}
			if x := p.approval(i, next); x != nil {
				p.Needs = append(p.Needs, *x)
			}
		}
		for _, x := range p.Unchecked {
			if x.Requires != "" && x.Platform == here {
				p.Needs = append(p.Needs, x.need())
			}
		}
		for _, x := range p.Blockers {
			key := behind{who: x.who()}
			if x.Kind == BlockerCompatibility || x.Kind == BlockerRemovedAPI {
				key.kind = x.Kind
			}
			first := x.Platform == here && (here == p.From || x.there)
			n := Need{Platform: here, Before: next, Package: x.Package, Instance: x.Instance, Action: x.Action, Reason: x.Reason, Risk: x.risk, Commands: x.commands}
			switch {
			case x.Fatal && x.Platform == here:
			case x.Fatal || x.resolved() || x.Temporary || x.Action == "" || seen[key] || !first && (x.Platform != next || x.there):
				continue
			default:
				seen[key] = true
				if first {
					n.Before = ""
				}
			}
			p.Needs = append(p.Needs, n)
			if x.restores != nil {
				p.Needs = append(p.Needs, Need{
					Platform: here, After: x.installs, Package: x.Package, Instance: x.Instance, Action: "set the version and upgradeConstraintPolicy back",
					Reason: "they are needed only to install it", Commands: x.restores,
				})
			}
		}
		if here == p.To {
			break
		}
	}
	for i := range p.Operators {
		o := &p.Operators[i]
		if s := o.supportOf(o.To); p.On != "" && s != nil && s.Phase == "" {
			p.Needs = append(p.Needs, o.unsupported(p, s))
		}
		for _, n := range p.Needs {
			if at, err := property.ParseMinorVersion(n.Platform); err == nil && n.hold && n.Before == "" && n.Platform != p.To {
				n.Before = at.Next().String()
			}
			if n.who() == o.who() && n.Before != "" {
				o.ActBefore = n.Before
				break
			}
		}
	}
}

// action returns what a person has to do at step i of the plan, apart from approving it. ok is false if that is nothing, or
// if an earlier step in the row states it.
func (p *Plan) action(i int) (n Need, ok bool) {
	s := &p.Steps[i]
	n = Need{Platform: s.Platform, Before: s.Before, After: p.installed(i), Package: s.Package, Instance: s.Instance, Reason: s.Reason, Commands: s.Commands, hold: s.Hold != nil}
	if s.Operator != nil {
		n.Commands = s.prepare
	}
	switch {
	case s.Switch != nil:
		n.Action = s.Switch.text()
	case s.Hold != nil:
		n.Action = s.Hold.text() + p.until(i)
	case s.Resume:
		n.Action, n.Reason = resumeText, "it no longer has to be held back"
	case s.Operator != nil && older(s.Operator.To, s.Operator.From):
		back, from, to := p.downgrades(i)
		if len(back) == 0 {
			return n, false
		}
		n.Action = fmt.Sprintf("back up its resources before OLM takes it back to %s, or keep it at %s and accept that it gets no updates", phrase.And(back), from)
		n.Reason = fmt.Sprintf("OLM upgrades %s to %s only through older versions", from, to)
		if !older(from, to) {
			n.Reason = fmt.Sprintf("OLM takes it back from %s, and no way to %s avoids that", from, p.Reached)
		}
	case s.Operator != nil && s.Reason != "":
		list := p.breaking(i)
		if len(list) == 0 {
			return n, false
		}
		n.Action = "prepare for the " + phrase.Plural(len(list), "upgrade") + " to " + phrase.And(list)
		n.Reason = fmt.Sprintf("it breaks something: %s; \"olmkit impact\" shows what", s.Reason)
		if len(list) > 1 {
			n.Reason = "each " + strings.TrimPrefix(n.Reason, "it ")
		}
		if s.pause != nil {
			if n.After = s.pause.Bundle.Name; !slices.ContainsFunc(p.Steps[:i], func(x Step) bool { return x.who() == s.who() && x.Operator != nil && x.Operator.To.Name == n.After }) {
				n.After = ""
			}
			before := "set installPlanApproval to Manual"
			if s.pause.Reading == graph.V1 {
				before = s.pause.text()
			}
			n.Action = before + ", " + n.Action + ", and then " + resumeText
		} else {
			n.Action += ", and approve only then"
		}
	default:
		return n, false
	}
	return n, true
}

// need returns what a person has to do about a requirement that nothing satisfies.
func (u *Unchecked) need() Need {
	n := Need{
		Platform: u.Platform, Package: u.Package, Instance: u.Instance, Action: "see that something provides " + u.Requires + ", which no given catalog has",
		Reason: fmt.Sprintf("OLM upgrades %s to %s only then", u.who(), u.Bundle),
	}
	switch {
	case u.Reason != "":
		n.Action = fmt.Sprintf("see that something provides %s: %s", u.Requires, u.Reason)
	case u.Instead != "":
		n.Action = fmt.Sprintf("install %s in the place of %s", u.Instead, phrase.Or(u.InTheWay))
		n.Reason = fmt.Sprintf("%s requires %s, and OLM upgrades %s to it only then", u.Bundle, u.Requires, u.who())
	case len(u.InTheWay) > 0:
		n.Action = fmt.Sprintf("choose between the upgrade to %s and the installed %s", u.Bundle, phrase.And(u.InTheWay))
		n.Reason = fmt.Sprintf("the upgrade requires %s, and OLM cannot satisfy that next to %s", u.Requires, phrase.And(u.InTheWay))
	}
	return n
}

// installed returns the bundle that OLM must have installed before step i of the plan, or "" if the
// operator is not upgraded before.
func (p *Plan) installed(i int) string {
	step := &p.Steps[i]
	for _, s := range slices.Backward(p.Steps[:i]) {
		if s.who() == step.who() && s.Operator != nil {
			return s.Operator.To.Name
		}
	}
	return ""
}

// approval returns the need to approve the upgrades in a row of which step i of the plan is the first, or nil if they do not
// wait for that, or if a hold has the same effect. A row ends before an upgrade for which a person has to prepare.
func (p *Plan) approval(i int, next string) *Need {
	s := &p.Steps[i]
	prepares := func(i int) bool {
		_, ok := p.action(i)
		return ok
	}
	if !s.Approval || i > 0 && p.run(i-1) > 1 && !prepares(i) {
		return nil
	}
	for _, x := range slices.Backward(p.Steps[:i]) {
		if x.who() == s.who() && (x.Hold != nil || x.Resume) {
			if x.Hold != nil {
				return nil
			}
			break
		}
	}
	need := &Need{
		Platform: s.Platform, After: p.installed(i), Package: s.Package, Instance: s.Instance,
		Reason: "installPlanApproval is Manual", Commands: s.Commands,
	}
	var to []string
	for n, x := range p.Steps[i : i+p.run(i)] {
		if n > 0 && prepares(i+n) {
			break
		}
		to = append(to, x.Operator.To.String())
		for _, b := range p.Blockers {
			if b.Platform == s.Platform && b.who() == s.who() && slices.ContainsFunc(b.Lift, func(l graph.Step) bool { return l.To == x.Operator.To }) {
				need.Before, need.Reason = next, "installPlanApproval is Manual, and "+b.Reason
			}
		}
	}
	need.Action = "approve the install plan for " + phrase.And(to)
	if len(to) > 1 {
		need.Action = "approve the install plans for " + phrase.And(to) + ", one after the other"
	}
	return need
}

// downgrades returns the older versions among the upgrades in a row of which step i of the plan is one, where the first
// of these begins, and where the row ends. It returns none if an earlier step in the row is a downgrade.
func (p *Plan) downgrades(i int) (back []string, from, to graph.Node) {
	first := i
	for first > 0 && p.run(first-1) > 1 {
		first--
	}
	row := p.Steps[first : first+p.run(first)]
	for n, s := range row {
		switch x := s.Operator; {
		case !older(x.To, x.From) || x.Rebuilds():
		case first+n < i:
			return nil, from, to
		default:
			back = append(back, x.To.String())
		}
	}
	return back, p.Steps[i].Operator.From, row[len(row)-1].Operator.To
}

// breaking returns the bundles of the upgrade that is step i of the plan and of the later ones on the same
// version of the platform that break the same. It returns none if an earlier one does.
func (p *Plan) breaking(i int) (out []string) {
	x := &p.Steps[i]
	for n := range p.Steps {
		s := &p.Steps[n]
		if s.Platform != x.Platform || s.who() != x.who() || s.Operator == nil || s.Reason != x.Reason {
			continue
		}
		if n < i {
			return nil
		}
		out = append(out, s.Operator.To.String())
	}
	return out
}

// until returns the end of the hold that is step i of the plan, as part of a sentence.
func (p *Plan) until(i int) string {
	hold := &p.Steps[i]
	for _, s := range p.Steps[i+1:] {
		if s.who() == hold.who() && (s.Hold != nil || s.Resume) {
			if s.Platform == hold.Platform {
				return ""
			}
			return ", until the platform runs " + s.Platform
		}
	}
	return ""
}

// unsupported returns the need of an operator that has no support on the day of the plan.
func (o *OperatorPlan) unsupported(p *Plan, s *Support) Need {
	n := Need{
		Platform: p.Reached, Package: o.Package, Instance: o.Instance,
		Action: fmt.Sprintf("install a version with support on %s, or accept that there is none", p.On),
		Reason: fmt.Sprintf("of version %s: %s", s.Lifecycle.Name, s.period(p.On)),
	}
	if len(o.Supported) > 0 {
		n.Reason += fmt.Sprintf("; with support on %s: %s", p.On, phrase.And(o.Supported))
	}
	return n
}
