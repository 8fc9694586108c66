package platform

import (
	"github.com/olmkit/olmkit/property"
)

// needs sets what a person has to do or to decide, in order, and until when.
func (p *Plan) needs(from property.MinorVersion) {
	seen := map[string]bool{} // packages that are left behind
	for at := from; ; at = at.Next() {
		here, next := at.String(), at.Next().String()
		for i := range p.Steps {
			if s := &p.Steps[i]; s.Platform == here && s.Switch != nil {
				p.Needs = append(p.Needs, Need{here, s.Before, s.Package, s.Switch.text(), s.Reason})
			} else if s.Platform == here && s.Hold != nil {
				p.Needs = append(p.Needs, Need{here, "", s.Package, s.Hold.text() + p.until(i), s.Reason})
			}
		}
		for _, x := range p.Blockers {
			first := here == p.From && x.Platform == here
			switch {
			case x.Fatal && x.Platform == here:
				p.Needs = append(p.Needs, Need{here, next, x.Package, x.Action, x.Reason})
			case x.Fatal || x.resolved() || x.Temporary || x.Action == "" || seen[x.Package] || !first && x.Platform != next:
			case first:
				seen[x.Package] = true
				p.Needs = append(p.Needs, Need{here, "", x.Package, x.Action, x.Reason})
			default:
				seen[x.Package] = true
				p.Needs = append(p.Needs, Need{here, next, x.Package, x.Action, x.Reason})
			}
		}
		if here == p.Reached {
			break
		}
	}
	for i := range p.Operators {
		o := &p.Operators[i]
		for _, n := range p.Needs {
			if n.Package == o.Package && n.Before != "" {
				o.ActBefore = n.Before
				break
			}
		}
	}
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
