package resolver

import (
	"context"
	"slices"
	"strconv"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A proof treats bundles that behave alike in a core as one: people want to read "4
// versions require X", not the same sentence four times. Candidates are alike if every fact
// of the core applies to them in the same way. It makes no difference which member of a
// class is chosen, so a core has a solution if and only if it has one with only the first
// member of each class.

// A quotient is a core in which each class of bundles that behave alike counts as one
// candidate.
type quotient struct {
	prose.Core // Rules[i] has the facts of rules[i]
	e          *encoding
	rules      []proof.Rule
	classes    [][]cand // in the order in which the facts mention them
	of         map[cand]int
}

// A mark is one way in which a fact applies to a candidate. Candidates with the same marks
// are alike.
type mark struct {
	kind markKind
	like int // the likeness of the fact or, for apart, the candidate
	leaf int // for inNeed, the number of the leaf in the need
}

type markKind int

const (
	apart markKind = iota
	ofOwner
	inList
	inNeed
)

// quotient returns the quotient of a core, given as the numbers of its facts. Each
// candidate in alone gets a separate class.
func (e *encoding) quotient(ctx context.Context, core []int, alone []cand) *quotient {
	q := &quotient{e: e, of: map[cand]int{}}
	var all []cand
	marks := map[cand][]int{}
	known := map[cand]bool{}
	see := func(c cand) {
		if c != noCand && !known[c] {
			known[c] = true
			all = append(all, c)
		}
	}
	numbers := map[mark]int{}
	number := func(m mark) int {
		if _, ok := numbers[m]; !ok {
			numbers[m] = len(numbers)
		}
		return numbers[m]
	}
	add := func(c cand, n int) {
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
	for _, c := range alone {
		add(c, number(mark{apart, int(c), 0}))
	}
	done := map[int]bool{}
	for _, i := range core {
		f := e.facts[i]
		like := e.like(i)
		if f.owner != noCand {
			add(f.owner, number(mark{ofOwner, like, 0}))
		}
		in := number(mark{inList, like, 0})
		for _, c := range f.list {
			add(c, in)
		}
		// Equal requirements mention the same candidates.
		if f.need != nil && !done[like] {
			done[like] = true
			leaf, n := 0, 0
			e.leaves(ctx, f.need, all, func(c cand) bool { return known[c] }, func(c cand, at int) {
				if at != leaf {
					leaf, n = at, number(mark{inNeed, like, at})
				}
				add(c, n)
			})
		}
	}
	byMarks := map[string]int{}
	var key []byte
	for _, c := range all {
		m := marks[c]
		slices.Sort(m)
		key = key[:0]
		for _, n := range m {
			key = append(strconv.AppendInt(key, int64(n), 10), ' ')
		}
		n, ok := byMarks[string(key)]
		if !ok {
			n = len(q.classes)
			byMarks[string(key)] = n
			q.classes = append(q.classes, nil)
		}
		q.classes[n] = append(q.classes[n], c)
		q.of[c] = n
	}
	q.state(ctx, core)
	return q
}

// leaves calls f for every candidate that a leaf of n mentions, with the number of the
// leaf. all lists the candidates of the core, and has reports whether a candidate is one of
// them.
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

// state turns the facts of core into rules. Equal facts about candidates of one class make
// one rule.
func (q *quotient) state(ctx context.Context, core []int) {
	type key struct{ owner, like int }
	at := map[key]int{}
	formulas := map[int]*proof.Formula{}
	q.Parts, q.Likes = map[*proof.Formula]constraints.Expr{}, map[*proof.Formula]int{}
	for _, class := range q.classes {
		q.Classes = append(q.Classes, q.e.r.u.refs(class))
	}
	for _, i := range core {
		f := q.e.facts[i]
		r := proof.Rule{Kind: kindOf(f.Fact), Owner: proof.NoClass}
		like := q.e.like(i)
		if f.owner != noCand {
			r.Owner = q.of[f.owner]
		}
		k := key{r.Owner, like}
		if n, ok := at[k]; ok {
			q.Rules[n].Facts = append(q.Rules[n].Facts, f.Fact)
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
		q.Rules = append(q.Rules, prose.Rule{Facts: []fact.Fact{f.Fact}, Owner: r.Owner, Need: r.Need, Like: like})
	}
}

func (q *quotient) formula(ctx context.Context, n *need) *proof.Formula {
	out := &proof.Formula{Op: n.kind}
	if n.expr != nil {
		q.Parts[out], q.Likes[out] = n.expr, q.e.r.u.exprs.number(n.expr)
	}
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

// classesOf returns the classes of candidates in order, without duplicates.
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

// kindOf returns the kind of rule for a fact.
func kindOf(f fact.Fact) proof.Kind {
	switch f.(type) {
	case *fact.Unavailable:
		return proof.Impossible
	case *fact.MustStay:
		return proof.Required
	case *fact.Prohibited, *fact.Unusable, *fact.PolicyBlocked, *fact.InstallMode:
		return proof.Forbidden
	case *fact.OnePerPackage, *fact.OneProvider, *fact.Replaced:
		return proof.Exclusive
	}
	return proof.Needs
}

// maxProof limits the work of one proof, measured in the candidates of facts that it
// examines. Nobody would read a longer proof.
const maxProof = 2_000_000

// prove derives a contradiction from facts, earlier choices and, unless it is noCand, the
// assumption that one more candidate is chosen. The claim is nil if there is no
// contradiction. The error is the context's, or [proof.ErrTooLong].
func (e *encoding) prove(ctx context.Context, work int, core []int, before []cand, suppose cand) (*quotient, *proof.Claim, error) {
	alone := slices.Clone(before)
	if suppose != noCand {
		alone = append(alone, suppose)
	}
	q := e.quotient(ctx, core, alone)
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
	q.Supposed = one
	end, err := proof.Prove(ctx, q.rules, len(q.classes), earlier, one, work)
	if err == nil {
		err = e.r.interrupted(ctx)
	}
	return q, end, err
}
