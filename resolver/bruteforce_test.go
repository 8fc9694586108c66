package resolver_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
)

var seed = flag.Uint64("seed", 0, "check the generated problem of this `seed` only, and print it")

// seeds calls f with each seed to check. A single seed runs as a subtest.
func seeds(t *testing.T, f func(t *testing.T, seed uint64)) {
	t.Helper()
	if *seed != 0 {
		p := randomProblem(*seed)
		text, _ := json.MarshalIndent(p, "", " ")
		t.Logf("%s", text)
		f(t, *seed)
		return
	}
	for i := range testsize.Of(100, 300, 10_000) {
		f(t, uint64(i+1))
		if t.Failed() {
			t.Fatalf("replay with: go test ./resolver -run '^%s$' -v -seed %d", t.Name(), i+1)
		}
	}
}

// open loads the catalogs of a problem.
func open(t testing.TB, p resolver.Problem) resolver.Problem {
	t.Helper()
	p.Catalogs = slices.Clone(p.Catalogs)
	if err := p.Open(context.Background(), nil); err != nil {
		t.Fatalf("problem %s: %v", p.ID, err)
	}
	return p
}

// TestBruteForce compares answers with an oracle that tries every set of candidates (D1–D14,
// H1–H6, H12–H15): whether there is a solution, which one is preferred, and how it is
// described.
func TestBruteForce(t *testing.T) {
	solved := 0
	seeds(t, func(t *testing.T, seed uint64) {
		p := open(t, randomProblem(seed))
		o := newOracle(t, p)
		sol, err := resolver.Resolve(context.Background(), p)
		if msg := o.judge(sol, err); msg != "" {
			t.Errorf("seed %d: %s", seed, msg)
		}
		if err == nil {
			solved++
		}
	})
	t.Logf("%d problems had a solution", solved)
}

// judge returns "" if an answer of the resolver is correct, and otherwise what is wrong.
func (o *oracle) judge(sol *resolver.Solution, err error) string {
	var no *resolver.Conflict
	switch solvable := o.solvable(); {
	case err != nil && !errors.As(err, &no):
		return "unexpected error: " + err.Error()
	case err != nil && solvable:
		best, _ := o.best()
		return fmt.Sprintf("got the conflict %v\nwant %v", err, o.names(best))
	case err == nil && !solvable:
		return fmt.Sprintf("got %v\nwant a conflict", sol.Selected)
	case err != nil:
		return ""
	}
	got, msg := o.read(sol)
	if msg != "" {
		return msg
	}
	if msg := o.valid(got); msg != "" {
		return fmt.Sprintf("got %v, which breaks %s", o.names(got), msg)
	}
	want, ok := o.best()
	if !ok {
		return "the oracle contradicts itself: it finds a valid set but no best one"
	}
	if got != want {
		return fmt.Sprintf("got  %v\nwant %v", o.names(got), o.names(want))
	}
	return o.judgeTexts(sol, got)
}

// read returns the set that a solution describes.
func (o *oracle) read(sol *resolver.Solution) (s set, msg string) {
	for i, c := range o.all {
		if c.free {
			s = s.with(i)
		}
	}
	for _, x := range sol.Selected {
		ref := resolver.Ref{
			Catalog: resolver.CatalogID{Name: x.Catalog, Namespace: x.CatalogNamespace},
			Package: x.Package, Channel: x.Channel, Name: x.Name,
		}
		i := slices.IndexFunc(o.all, func(c *candidate) bool { return c.ref == ref })
		if i < 0 {
			return 0, "selected something that is not a candidate: " + ref.String()
		}
		s = s.with(i)
	}
	for _, x := range sol.Stayed {
		i := slices.IndexFunc(o.all, func(c *candidate) bool { return c.catalog < 0 && c.ref.Name == x.Name })
		if i < 0 {
			return 0, "an operator that is not installed cannot stay: " + x.Name
		}
		s = s.with(i)
	}
	return s, ""
}

// judgeTexts checks how a solution describes its set: what is replaced (H4) and why an
// operator stays (H1).
func (o *oracle) judgeTexts(sol *resolver.Solution, s set) string {
	if !slices.IsSortedFunc(sol.Selected, resolver.Selected.Compare) {
		return "the selected bundles are not in order"
	}
	for _, x := range sol.Selected {
		for i, c := range o.all {
			if s.has(i) && c.catalog >= 0 && c.ref.Package == x.Package && c.ref.Name == x.Name {
				want := []string{c.entry.Replaces}
				if c.replaces != 0 {
					want = nil
					c.replaces.each(func(in int) bool { want = append(want, o.all[in].ref.Name); return true })
				}
				if !slices.Contains(want, x.Replaces) {
					return fmt.Sprintf("%s replaces %q, want %q", x.Name, x.Replaces, want)
				}
			}
		}
	}
	if got, want := fmt.Sprint(sol.Stayed), fmt.Sprint(o.stays(s)); got != want {
		return fmt.Sprintf("stayed: got %s, want %s", got, want)
	}
	return ""
}

// stays returns the operators of subscriptions that are in a set, with the reason.
func (o *oracle) stays(s set) (stays []resolver.Stay) {
	for _, w := range o.subs {
		switch {
		case w.current >= 0 && s.has(w.current):
			stays = append(stays, o.stay(w))
		case w.current < 0:
			for _, c := range w.options { // H23
				if o.all[c].catalog < 0 && s.has(c) {
					stays = append(stays, resolver.Stay{Subscription: w.Name, Name: o.all[c].ref.Name, Package: w.Package, Reason: "present"})
				}
			}
		}
	}
	return stays
}

// stay returns why the operator of a subscription stays.
func (o *oracle) stay(w *wish) resolver.Stay {
	x := resolver.Stay{Subscription: w.Name, Name: o.all[w.current].ref.Name, Package: w.Package, Reason: "no-successor"}
	for _, c := range w.options {
		if c != w.current {
			x.Reason = "blocked"
			x.Blocked = append(x.Blocked, o.all[c].ref)
		}
	}
	if x.Reason == "blocked" {
		return x
	}
	for i, docs := range o.docs {
		c := o.p.Catalogs[i]
		if w.Catalog != "" && w.Catalog != c.Name || w.CatalogNamespace != "" && w.CatalogNamespace != c.Namespace {
			continue
		}
		for _, d := range docs {
			if d.Schema != "olm.channel" || d.Package != w.Package || w.Channel != "" && d.Name != w.Channel {
				continue
			}
			if order, _ := chain(d); order != nil && order[0].Name == x.Name {
				x.Reason = "at-head"
			}
		}
	}
	return x
}

func (o *oracle) names(s set) string {
	var out []string
	s.each(func(c int) bool { out = append(out, o.all[c].ref.String()); return true })
	return strings.Join(out, ", ")
}
