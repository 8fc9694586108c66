package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
)

// Bundles that behave alike in a core are one to its proof: a person wants to
// read "4 versions require X" and not the same four times. Candidates are alike
// when every fact of the core says the same of them. Choosing the first of a
// class in place of any other of it changes no fact, so a core has no solution
// exactly when it has none over the first of each class.

// A rule is a fact of a core, told of classes instead of candidates. Equal facts
// of candidates that are alike are one rule.
type rule struct {
	Fact
	proof.Rule
	facts []int // in the encoding
}

// A quotient is a core over classes.
type quotient struct {
	e       *encoding
	rules   []rule
	classes [][]cand // in the order in which the facts mention them
	of      map[cand]int
	leaves  map[*proof.Formula]constraints.Expr
}

// quotient sorts the candidates of a core into classes. Candidates in apart are
// alike to none.
func (e *encoding) quotient(ctx context.Context, core []int, apart []cand) *quotient {
	q := &quotient{e: e, of: map[cand]int{}, leaves: map[*proof.Formula]constraints.Expr{}}
	var all []cand
	marks := map[cand][]int{}
	known := map[cand]bool{}
	see := func(c cand) {
		if c != noCand && !known[c] {
			known[c] = true
			all = append(all, c)
		}
	}
	keys := map[string]int{}
	intern := func(format string, args ...any) int {
		key := fmt.Sprintf(format, args...)
		if _, ok := keys[key]; !ok {
			keys[key] = len(keys)
		}
		return keys[key]
	}
	mark := func(c cand, n int) {
		if m := marks[c]; len(m) == 0 || m[len(m)-1] != n {
			marks[c] = append(m, n)
		}
	}
	needs := map[*need]bool{}
	for _, i := range core {
		f := e.facts[i]
		see(f.owner)
		if f.need != nil {
			f.need.eachNew(needs, see)
		}
		for _, c := range f.list {
			see(c)
		}
	}
	for _, c := range apart {
		mark(c, intern("apart %d", c))
	}
	done := map[string]bool{}
	for _, i := range core {
		f := e.facts[i]
		key := e.likeness(i)
		if f.owner != noCand {
			mark(f.owner, intern("of %s", key))
		}
		in := intern("in %s", key)
		for _, c := range f.list {
			mark(c, in)
		}
		// Equal requirements mention the same candidates.
		if f.need != nil && !done[key] {
			done[key] = true
			leaf, n := 0, 0
			e.leaves(ctx, f.need, all, func(c cand) bool { return known[c] }, func(c cand, at int) {
				if at != leaf {
					leaf, n = at, intern("leaf %d of %s", at, key)
				}
				mark(c, n)
			})
		}
	}
	byMarks := map[string]int{}
	for _, c := range all {
		m := marks[c]
		slices.Sort(m)
		k := fmt.Sprint(m)
		n, ok := byMarks[k]
		if !ok {
			n = len(q.classes)
			byMarks[k] = n
			q.classes = append(q.classes, nil)
		}
		q.classes[n] = append(q.classes[n], c)
		q.of[c] = n
	}
	q.state(ctx, core)
	return q
}

// likeness is equal for facts that say the same of their owners.
func (e *encoding) likeness(i int) string {
	switch f := e.facts[i].Fact.(type) {
	case *Requires:
		return "requires " + f.Requirement.String()
	case *Prohibited:
		return "prohibited"
	case *Unusable:
		return "unusable " + f.Err.Error()
	case *PolicyBlocked:
		return fmt.Sprintf("ruled %#v", f.Policy)
	case *InstallMode:
		return "unsupported " + f.Err.Error()
	}
	return fmt.Sprintf("fact %d", i)
}

// leaves calls f for every candidate of each leaf, with the number of the leaf. Of
// all candidates of a core, has knows each.
func (e *encoding) leaves(ctx context.Context, n *need, all []cand, has func(cand) bool, f func(c cand, leaf int)) {
	leaf := 0
	var walk func(n *need)
	walk = func(n *need) {
		switch n.kind {
		case proof.AnyOf:
			leaf++
			for _, c := range n.list {
				f(c, leaf)
			}
		case proof.NoneOf:
			leaf++
			for _, c := range e.r.u.among(ctx, n.expr, all, has) {
				f(c, leaf)
			}
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(n)
}

// state makes the rules.
func (q *quotient) state(ctx context.Context, core []int) {
	type key struct {
		owner int
		like  string
	}
	at := map[key]int{}
	formulas := map[string]*proof.Formula{}
	for _, i := range core {
		f := q.e.facts[i]
		r := rule{f.Fact, proof.Rule{Kind: kindOf(f.Fact), Owner: proof.NoClass}, []int{i}}
		like := q.e.likeness(i)
		if f.owner != noCand {
			r.Owner = q.of[f.owner]
		}
		k := key{r.Owner, like}
		if n, ok := at[k]; ok {
			q.rules[n].facts = append(q.rules[n].facts, i)
			continue
		}
		at[k] = len(q.rules)
		if f.need != nil {
			if formulas[like] == nil {
				formulas[like] = q.formula(ctx, f.need)
			}
			r.Need = formulas[like]
		}
		r.List = q.classesOf(f.list)
		q.rules = append(q.rules, r)
	}
}

func (q *quotient) formula(ctx context.Context, n *need) *proof.Formula {
	out := &proof.Formula{Op: n.kind}
	q.leaves[out] = n.expr
	switch n.kind {
	case proof.AnyOf:
		out.Classes = q.classesOf(n.list)
	case proof.NoneOf:
		first := make([]cand, len(q.classes))
		for i, class := range q.classes {
			first[i] = class[0]
		}
		has := func(c cand) bool { n, ok := q.of[c]; return ok && first[n] == c }
		out.Classes = q.classesOf(q.e.r.u.among(ctx, n.expr, first, has))
		slices.Sort(out.Classes)
	}
	for _, k := range n.kids {
		out.Kids = append(out.Kids, q.formula(ctx, k))
	}
	return out
}

// classesOf returns the classes of candidates, each once, in order.
func (q *quotient) classesOf(list []cand) []int {
	var out []int
	seen := map[int]bool{}
	for _, c := range list {
		if k := q.of[c]; !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// kindOf returns the kind of rule that a fact is.
func kindOf(f Fact) proof.Kind {
	switch f.(type) {
	case *Unavailable:
		return proof.Impossible
	case *MustStay:
		return proof.Required
	case *Prohibited, *Unusable, *PolicyBlocked, *InstallMode:
		return proof.Forbidden
	case *OnePerPackage, *OneProvider, *Replaced:
		return proof.Exclusive
	}
	return proof.Needs
}

// maxProof bounds the work of one proof, in looks at a candidate in a fact. A
// proof that is longer is nothing that a person would read.
const maxProof = 2_000_000

// prove returns the contradiction that follows from facts, from what was chosen
// before, and from supposing one more candidate, if it is not noCand. The claim
// is nil if there is none. The error is the context's, or [proof.ErrTooLong].
func (e *encoding) prove(ctx context.Context, work int, core []int, before []cand, suppose cand) (*quotient, *proof.Claim, error) {
	apart := slices.Clone(before)
	if suppose != noCand {
		apart = append(apart, suppose)
	}
	q := e.quotient(ctx, core, apart)
	rules := make([]proof.Rule, len(q.rules))
	for i, r := range q.rules {
		rules[i] = r.Rule
	}
	var earlier []int
	for _, c := range before {
		if n, ok := q.of[c]; ok {
			earlier = append(earlier, n)
		}
	}
	one := proof.NoClass
	if n, ok := q.of[suppose]; ok {
		one = n
	}
	end, err := proof.Prove(ctx, rules, len(q.classes), earlier, one, work)
	if err == nil {
		err = e.r.interrupted(ctx)
	}
	return q, end, err
}
