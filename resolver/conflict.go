package resolver

import (
	"context"
	"fmt"
	"strings"
)

// A Conflict says that a problem has no solution, and why. It is the error of
// [Resolve]. Any number of goroutines may share it, and the solutions and cores
// in it: a method that has to compute its answer waits for those of the others.
type Conflict struct {
	ID        string
	Namespace string
	// Cores are independent minimal conflicts: no two share a subscription or an
	// operator that must stay, and each has to be resolved. There is at least
	// one.
	Cores []*Core
	// Unseen are the catalogs that took no part because the namespace does not see
	// them, by namespace and name.
	Unseen []CatalogID
	// Faults are rules of constraints that could not be evaluated on some bundle,
	// and count as false there (D7), in order.
	Faults []Fault

	e                *encoding
	partial          *Solution
	planned, refused []string
}

// A Core is a minimal conflict: its facts cannot all hold, and without any one
// of them the others can (D16).
type Core struct {
	// Facts in canonical order: what is asked for, then what bundles need, then
	// what excludes what.
	Facts []Fact
	// Faults are those of the conflict whose rules are part of the facts: they may be
	// what makes it one.
	Faults []Fault

	e          *encoding
	index      []int      // of the facts in the encoding
	rest       []Selected // the plan of the parts that have one
	headline   string
	derivation *Derivation // nil if it takes long to find
}

func (e *encoding) core(index []int, faults []Fault) *Core {
	c := &Core{e: e, index: index}
	for _, i := range index {
		c.Facts = append(c.Facts, e.facts[i].Fact)
	}
	c.Faults = faultsOf(c.Facts, faults)
	return c
}

// Error returns the first line of each core's explanation, or of a core that
// takes long to explain, what cannot be had together; and the first of the rules in
// it that could not be evaluated.
func (c *Conflict) Error() string {
	lines := make([]string, len(c.Cores))
	for i, core := range c.Cores {
		lines[i] = core.headline
		if n := len(core.Faults); n > 0 {
			lines[i] += " (" + core.Faults[0].String()
			if n > 1 {
				lines[i] += ", and " + plural(n-1, "more failure")
			}
			lines[i] += ")"
		}
	}
	return fmt.Sprintf("no solution in namespace %q: %s", c.Namespace, strings.Join(lines, "; "))
}

// quickProof bounds the proof that an error message is worth.
const quickProof = 20_000

// head makes the headline, and keeps the derivation that it is from. The error is
// the context's.
func (c *Core) head(ctx context.Context) error {
	c.headline = c.asked()
	if c.size() > quickProof {
		return nil
	}
	d, err := c.deriveWithin(ctx, quickProof)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && !d.Incomplete { // else a limit on the cost of rules
		c.headline, c.derivation = d.Headline(), d
	}
	return nil
}

// size returns how many candidates the facts mention, up to a little more than
// quickProof.
func (c *Core) size() (n int) {
	for _, i := range c.index {
		if n > quickProof {
			break
		}
		n += len(c.e.facts[i].list)
		if need := c.e.facts[i].need; need != nil {
			need.each(func(cand) { n++ })
		}
	}
	return n
}

// Planned returns the plan for the independent parts of the namespace that have
// one (G1): what would be installed if the refused subscriptions were not there.
// It is nil when nothing can be planned.
func (c *Conflict) Planned() *Solution {
	if len(c.planned) == 0 {
		return nil
	}
	return c.partial
}

// Subscriptions returns the names of the subscriptions of the parts that can be
// planned and of those that are refused, each in the order in which they choose.
func (c *Conflict) Subscriptions() (planned, refused []string) { return c.planned, c.refused }
