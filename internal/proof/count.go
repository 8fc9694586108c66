package proof

import (
	"slices"

	"github.com/olmkit/olmkit/internal/sat"
)

// If five operators each need one of four APIs, a proof that tries every combination
// hides the reason. Counting shows the reason, so a proof counts before it tries
// combinations.

// A Crowding is a set of demands that exceeds the available room.
type Crowding struct {
	Demands []Demand
	Limits  []int // the indices of rules that allow one choice each; one fewer than Demands
}

// A Demand is a rule that requires one of several classes. Because has the claims that it
// depends on: the owner of the rule is chosen, and the other classes that would satisfy
// the rule are excluded.
type Demand struct {
	Rule    int
	Classes []int // those that are not excluded
	Because []*Claim
}

// count returns the contradiction that demands exceed the available room, or nil.
func (p *prover) count() *Claim {
	var all []Demand
	var demands, limits [][]int
	var limitOf []int
	for i := range p.rules {
		r := &p.rules[i]
		*p.work--
		switch {
		case r.Kind == Exclusive:
			*p.work -= len(r.List)
			if !slices.ContainsFunc(r.List, p.is) {
				limits, limitOf = append(limits, r.List), append(limitOf, i)
			}
		case r.Kind == Needs && r.Need.Op == AnyOf && (r.Owner == NoClass || p.is(r.Owner)) && !slices.ContainsFunc(r.Need.Classes, p.is):
			*p.work -= len(r.Need.Classes)
			d := Demand{Rule: i, Because: p.premise(r)}
			for _, c := range r.Need.Classes {
				if p.not(c) {
					d.Because = append(d.Because, p.known[c])
				} else {
					d.Classes = append(d.Classes, c)
				}
			}
			all, demands = append(all, d), append(demands, d.Classes)
		}
	}
	over, by := sat.Overfull(demands, limits)
	if over == nil {
		return nil
	}
	end := &Claim{Kind: Contradiction, Rule: Counting, Crowding: &Crowding{}}
	for _, n := range over {
		end.Crowding.Demands = append(end.Crowding.Demands, all[n])
		end.Because = append(end.Because, all[n].Because...)
	}
	for _, n := range by {
		end.Crowding.Limits = append(end.Crowding.Limits, limitOf[n])
	}
	return end
}
