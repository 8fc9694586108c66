// Package proof derives a contradiction from rules over classes of candidates, in steps that
// a person can follow. It does not know what the candidates and rules stand for.
package proof

// NoClass stands for no class.
const NoClass = -1

// A Rule restricts choices. A class is a number that stands for candidates that all rules
// treat alike; choosing from it means choosing any one of them.
type Rule struct {
	Kind  Kind
	Owner int      // NoClass if the rule has none
	Need  *Formula // of Needs
	List  []int    // of Exclusive
}

// A Kind is a kind of rule.
type Kind int

const (
	// Needs: Need holds if Owner is chosen, or always if there is no owner.
	Needs Kind = iota
	// Exclusive: at most one of List is chosen.
	Exclusive
	// Required: Owner is chosen.
	Required
	// Forbidden: Owner is not chosen.
	Forbidden
	// Impossible: the rule contradicts itself.
	Impossible
)

// A Formula is a condition on the choices, with negations only at leaves.
type Formula struct {
	Op      Op
	Classes []int
	Kids    []*Formula
}

// An Op is an operation of a formula.
type Op int

const (
	// AnyOf: one of Classes is chosen.
	AnyOf Op = iota
	// Every: all Kids hold.
	Every
	// Some: one of Kids holds.
	Some
	// NoneOf: none of Classes is chosen.
	NoneOf
)

// each calls f for every class of an AnyOf.
func (n *Formula) each(f func(class int)) {
	if n.Op == AnyOf {
		for _, c := range n.Classes {
			f(c)
		}
	}
	for _, k := range n.Kids {
		k.each(f)
	}
}

// A Claim is a step of a proof. It states that one candidate of a class must be chosen, that
// none can be, or that the rules contradict each other.
type Claim struct {
	Kind  ClaimKind
	Class int // of Chosen, Excluded and Supposed
	// Rule is the index of the rule that makes the claim, or one of Supposition,
	// Preference and Counting.
	Rule    int
	Because []*Claim
	// Part, for Unmet, is the part of a formula that no class of the core satisfies.
	Part *Formula
	// Crowding, for Counting, is the set of demands that is too large.
	Crowding *Crowding
}

// A ClaimKind is a kind of claim.
type ClaimKind int

const (
	// Contradiction: the rules contradict each other.
	Contradiction ClaimKind = iota
	// Chosen: one candidate of Class must be chosen.
	Chosen
	// Excluded: no candidate of Class can be chosen.
	Excluded
	// Supposed: one candidate of Class is assumed to be chosen, in order to refute that.
	Supposed
	// Unmet: nothing satisfies Part.
	Unmet
)

const (
	// Supposition marks a supposed claim, and the claim that a class is excluded because
	// supposing it led to a contradiction.
	Supposition = -1
	// Preference marks earlier choices by preference.
	Preference = -2
	// Counting marks a contradiction that was found by counting.
	Counting = -3
)

// Steps returns the number of steps of a claim when written out, which repeats the claims
// that a proof uses several times. It stops counting just above max.
func (c *Claim) Steps(max int) int { return c.steps(max, map[*Claim]int{}) }

func (c *Claim) steps(max int, known map[*Claim]int) int {
	if n, ok := known[c]; ok {
		return n
	}
	n := 1
	for _, b := range c.Because {
		if b.Kind != Supposed {
			n = min(n+b.steps(max, known), max+1)
		}
	}
	known[c] = n
	return n
}
