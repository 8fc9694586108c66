package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Conflict is the error that [Resolve] returns for a problem without a solution. The
// conflict, its cores and its partial solution are safe for concurrent use, but methods that
// compute explanations wait for each other.
type Conflict struct {
	ID        string
	Namespace string
	// Cores are independent minimal conflicts. No two share a subscription or an operator
	// that must stay, and each must be resolved. There is at least one.
	Cores []*Core
	// Unseen are the catalogs that the namespace does not see, by namespace and name.
	Unseen []CatalogID
	// Faults are CEL rules that could not be evaluated on some bundle and count as false
	// there, in order.
	Faults []Fault

	e                *encoding
	partial          *Solution
	planned, refused []string
}

// A Core is a minimal conflict: its facts cannot all hold, but without any one of them the
// others can.
type Core struct {
	// Facts are in canonical order: requests, then requirements, then exclusions.
	Facts []fact.Fact
	// Faults lists the CEL rules of the facts that could not be evaluated, which may be the
	// cause of the conflict.
	Faults []Fault

	e          *encoding
	index      []int      // of the facts in the encoding
	rest       []Selected // what the subscriptions outside the conflict get
	headline   string
	derivation *Derivation // nil if it is expensive
}

func (e *encoding) core(index []int, faults []Fault) *Core {
	c := &Core{e: e, index: index}
	for _, i := range index {
		c.Facts = append(c.Facts, e.facts[i].Fact)
	}
	c.Faults = faultsOf(c.Facts, faults)
	return c
}

// Error returns the headline of each core, with the first of its faults. For a core that
// is expensive to explain, the headline lists the requests that cannot be satisfied
// together.
func (c *Conflict) Error() string {
	lines := make([]string, len(c.Cores))
	for i, core := range c.Cores {
		lines[i] = core.headline
		if n := len(core.Faults); n > 0 {
			lines[i] += " (" + core.Faults[0].String()
			if n > 1 {
				lines[i] += ", and " + phrase.Count(n-1, "more failure")
			}
			lines[i] += ")"
		}
	}
	return fmt.Sprintf("no solution in namespace %q: %s", c.Namespace, strings.Join(lines, "; "))
}

// quickProof bounds the work for a proof while resolving.
const quickProof = 20_000

// head sets the headline and the derivation that it comes from. The error is the
// context's.
func (c *Core) head(ctx context.Context) error {
	c.headline = c.asked()
	if c.size() > quickProof {
		return nil
	}
	d, err := c.deriveWithin(ctx, quickProof)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && !d.Incomplete { // otherwise a limit on the cost of rules
		c.headline, c.derivation = d.Headline(), d
	}
	return nil
}

// size returns the number of candidates that the facts mention. It stops counting above
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

// foreign reports whether fact i is a request of another core.
func (c *Core) foreign(i int) bool {
	n, asked := c.e.coreOf[i]
	return asked && n != c.e.coreOf[c.request()]
}

// request returns the number of a request in the core. Every core has one, because without
// requests the empty set is a solution.
func (c *Core) request() int {
	return c.index[slices.IndexFunc(c.Facts, isRequest)]
}

// Planned returns the plan for the independent parts of the namespace that have a solution,
// that is, without the refused subscriptions. It returns nil if no part has one.
func (c *Conflict) Planned() *Solution {
	if len(c.planned) == 0 {
		return nil
	}
	return c.partial
}

// Subscriptions returns the names of the subscriptions that can be planned and of those
// that cannot, each list in order of preference.
func (c *Conflict) Subscriptions() (planned, refused []string) { return c.planned, c.refused }
