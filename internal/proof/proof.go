// Package proof derives a contradiction from rules over classes of candidates, in
// steps that a person can follow. It knows nothing of what the candidates and the
// rules stand for.
package proof

// NoClass stands for no class.
const NoClass = -1

// A Rule restricts what can be chosen. A class is a number; choosing from it means
// choosing any one of candidates that all rules treat alike.
type Rule struct {
	Kind  Kind
	Owner int      // NoClass if the rule has none
	Need  *Formula // of Needs
	List  []int    // of Exclusive
}

// A Kind is a kind of rule.
type Kind int

const (
	// Needs: if Owner is chosen, or in any case without one, Need holds.
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

// A Formula is a condition on what is chosen, with negations only at leaves.
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

// A Claim is a step of a proof: that a class must be chosen from, or cannot be, or
// that the rules contradict each other.
type Claim struct {
	Kind  ClaimKind
	Class int // of Chosen, Excluded and Supposed
	// Rule is the index of the rule that makes the claim, or one of Supposition,
	// Preference and Counting.
	Rule    int
	Because []*Claim
	// Part is what no class of the core meets, of Unmet.
	Part *Formula
	// Crowding is the set of demands that is too large, of Counting.
	Crowding *Crowding
}

// A ClaimKind is a kind of claim.
type ClaimKind int

const (
	// Contradiction: the rules contradict each other.
	Contradiction ClaimKind = iota
	// Chosen: Class must be chosen from.
	Chosen
	// Excluded: Class cannot be chosen from.
	Excluded
	// Supposed: Class is assumed to be chosen from, to be refuted.
	Supposed
	// Unmet: nothing at all meets Part.
	Unmet
)

const (
	// Supposition marks what is supposed, and what was refuted by supposing it.
	Supposition = -1
	// Preference marks what was chosen before, by preference.
	Preference = -2
	// Counting marks a contradiction that was found by counting.
	Counting = -3
)

// Steps returns how many steps a claim is, written out: a proof uses its claims
// again and again. It stops counting just above max.
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
