package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/fact"
)

// TestCores checks that each core of a conflict consists of true facts that
// cannot all hold, while without any one of them the others can (D16).
func TestCores(t *testing.T) {
	checked, large := 0, 0
	seeds(t, func(t *testing.T, seed uint64) {
		p := open(t, randomProblem(seed))
		_, err := resolver.Resolve(context.Background(), p)
		var no *resolver.Conflict
		if !errors.As(err, &no) {
			return
		}
		o := newOracle(t, p)
		owners := map[string]int{}
		for i, core := range no.Cores {
			for _, f := range core.Facts {
				if msg := o.lie(f); msg != "" {
					t.Errorf("seed %d: %s: %s", seed, f, msg)
				}
				key := ""
				switch f := f.(type) {
				case *fact.Subscribed:
					key = "subscription " + f.Subscription.Name
				case *fact.MustStay:
					key = "operator " + f.Operator.Name
				}
				if other, ok := owners[key]; ok && key != "" && other != i {
					t.Errorf("seed %d: two cores share %s", seed, key)
				}
				owners[key] = i
			}
			msg, ok := o.minimal(core.Facts)
			if msg != "" {
				t.Errorf("seed %d: %s", seed, msg)
			}
			if checked++; !ok {
				large++
			}
		}
	})
	t.Logf("%d cores, %d of them too large to check", checked, large)
}

// index returns the number of a candidate.
func (o *oracle) index(ref resolver.Ref) int {
	return slices.IndexFunc(o.all, func(c *candidate) bool { return c.ref == ref })
}

func (o *oracle) setOf(refs []resolver.Ref) (s set) {
	for _, r := range refs {
		if i := o.index(r); i >= 0 {
			s = s.with(i)
		}
	}
	return s
}

// lie returns "" if a fact is true of the problem, and otherwise what is wrong.
func (o *oracle) lie(f fact.Fact) string {
	var want set
	switch f := f.(type) {
	case *fact.Subscribed:
		w := o.subs[slices.IndexFunc(o.subs, func(w *wish) bool { return w.Name == f.Subscription.Name })]
		var list []resolver.Ref
		for _, c := range w.options {
			list = append(list, o.all[c].ref)
		}
		if w.missing || !slices.Equal(list, f.Candidates) {
			return fmt.Sprintf("its candidates are %v", list)
		}
	case *fact.Unavailable:
		w := o.subs[slices.IndexFunc(o.subs, func(w *wish) bool { return w.Name == f.Subscription.Name })]
		if !w.missing {
			return "it is there"
		}
	case *fact.MustStay:
		if i := o.index(f.Operator); i < 0 || !o.all[i].free {
			return "it need not stay"
		}
	case *fact.Requires:
		i := o.index(f.Bundle)
		if i < 0 || !slices.ContainsFunc(o.all[i].requires, func(x constraints.Expr) bool { return constraints.Equal(x, f.Requirement) }) {
			return "it does not"
		}
	case *fact.OnePerPackage:
		for i, c := range o.all {
			if slices.Contains(c.pkgs, f.Package) {
				want = want.with(i)
			}
		}
		if o.setOf(f.Bundles)&^want != 0 || f.Package == "" {
			return "not all are of that package"
		}
	case *fact.OneProvider:
		for i, c := range o.all {
			if slices.Contains(c.apis, f.API) {
				want = want.with(i)
			}
		}
		if o.setOf(f.Providers)&^want != 0 {
			return "not all provide that"
		}
	case *fact.Replaced:
		if i, j := o.index(f.Bundle), o.index(f.Operator); i < 0 || j < 0 || !o.all[i].replaces.has(j) {
			return "it does not"
		}
	case *fact.Prohibited, *fact.Unusable, *fact.PolicyBlocked:
		if i := o.index(barredRef(f)); i < 0 || !o.all[i].barred {
			return "nothing bars it"
		}
	default:
		return "what fact is that?"
	}
	return ""
}

func barredRef(f fact.Fact) resolver.Ref {
	switch f := f.(type) {
	case *fact.Prohibited:
		return f.Bundle
	case *fact.Unusable:
		return f.Bundle
	case *fact.PolicyBlocked:
		return f.Bundle
	}
	return resolver.Ref{}
}

// met reports whether a set satisfies a fact.
func (o *oracle) met(f fact.Fact, s set) bool {
	few := func(s set) bool { return s&(s-1) == 0 }
	switch f := f.(type) {
	case *fact.Subscribed:
		return s&o.setOf(f.Candidates) != 0
	case *fact.MustStay:
		return s.has(o.index(f.Operator))
	case *fact.Requires:
		return !s.has(o.index(f.Bundle)) || o.holds(f.Requirement, s)
	case *fact.OnePerPackage:
		return few(s & o.setOf(f.Bundles))
	case *fact.OneProvider:
		return few(s & o.setOf(f.Providers))
	case *fact.Replaced:
		return !s.has(o.index(f.Bundle)) || !s.has(o.index(f.Operator))
	case *fact.Unavailable:
		return false
	}
	return !s.has(o.index(barredRef(f)))
}

// minimal returns "" if the facts cannot all hold, but any others can without one of them. It tries all sets of the
// candidates that the facts mention. ok is false if there are too many.
func (o *oracle) minimal(facts []fact.Fact) (msg string, ok bool) {
	var all set
	for _, f := range facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			all |= o.setOf(f.Candidates)
		case *fact.MustStay:
			all = all.with(o.index(f.Operator))
		case *fact.Requires:
			all = all.with(o.index(f.Bundle))
			for x := range constraints.Walk(f.Requirement) {
				for i := range o.all {
					offered := !o.skipped[i] || slices.ContainsFunc(o.subs, func(w *wish) bool { return slices.Contains(w.options, i) })
					if offered && o.satisfied(x, i) {
						all = all.with(i)
					}
				}
			}
		}
	}
	var members []int
	all.each(func(c int) bool { members = append(members, c); return true })
	if len(members) > 12 {
		return "", false
	}
	needed := make([]bool, len(facts))
	for n := range 1 << len(members) {
		var s set
		for i, c := range members {
			if n>>i&1 == 1 {
				s = s.with(c)
			}
		}
		broken := -1
		for i, f := range facts {
			if o.met(f, s) {
				continue
			}
			if broken >= 0 {
				broken = len(facts)
				break
			}
			broken = i
		}
		switch {
		case broken < 0:
			return fmt.Sprintf("the facts can all hold, with %s:\n%s", o.names(s), listed(facts)), true
		case broken < len(facts):
			needed[broken] = true
		}
	}
	for i, yes := range needed {
		if !yes {
			return fmt.Sprintf("the others conflict without %s:\n%s", facts[i], listed(facts)), true
		}
	}
	return "", true
}

func listed(facts []fact.Fact) string {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "\t%s\n", f)
	}
	return b.String()
}

// TestFewerRequirements checks that a solvable problem stays solvable without a requirement.
func TestFewerRequirements(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		p := randomProblem(seed)
		if _, err := resolver.Resolve(context.Background(), open(t, p)); err != nil {
			return
		}
		for i, c := range p.Catalogs {
			docs := readDocs(t, *c.FBC)
			for j := range docs {
				props := docs[j].Properties
				for k, q := range props {
					if !strings.HasSuffix(q.Type, ".required") && q.Type != "olm.constraint" {
						continue
					}
					docs[j].Properties = slices.Delete(slices.Clone(props), k, k+1)
					text := render(docs)
					docs[j].Properties = props
					less := p
					less.Catalogs = slices.Clone(p.Catalogs)
					less.Catalogs[i].FBC = &text
					if _, err := resolver.Resolve(context.Background(), open(t, less)); err != nil {
						t.Errorf("seed %d: without the requirement %s of %s: %v", seed, q.Value, docs[j].Name, err)
					}
				}
			}
		}
	})
}
