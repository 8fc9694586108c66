package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A tally counts what was checked.
type tally struct {
	problems, cores, facts, biggest, fixes, upstream, combined, fixless, alone, steps, incomplete, planned int
}

// TestConflictProperties checks explanations of generated problems without a solution (D15–D17, G1). Cores are minimal
// and independent, derivations exist, fixes are valid, the plan for the remaining subscriptions equals that of the
// problem without the refused ones, and order does not matter.
func TestConflictProperties(t *testing.T) {
	var n tally
	check := func(seed uint64) {
		if msg := n.check(t, seed); msg != "" {
			t.Fatalf("seed %d: %s\nreplay with: go test ./resolver -run '^%s$' -v -seed %d", seed, msg, t.Name(), seed)
		}
	}
	if *seed != 0 {
		check(*seed)
		return
	}
	want := testsize.Of(200, 1000, 20_000)
	for s := uint64(1); n.problems < want; s++ {
		check(s)
	}
	t.Logf("%d problems without solution: %d cores with %.1f facts on average, %d at most; %d derivation steps, %d derivations given up",
		n.problems, n.cores, float64(n.facts)/float64(n.cores), n.biggest, n.steps, n.incomplete)
	t.Logf("%d fixes, all valid, %d of them upstream, %d also with another change; %d cores without a fix; %d remaining plans compared", n.fixes, n.upstream, n.combined, n.fixless, n.planned)
	t.Logf("%d cores shown to be contradictory from the text of their facts alone", n.alone)
}

func (n *tally) check(t *testing.T, seed uint64) string {
	ctx := context.Background()
	raw := randomProblem(seed)
	p := open(t, raw)
	_, err := resolver.Resolve(ctx, p)
	var no *resolver.Conflict
	if err == nil || !errors.As(err, &no) {
		return ""
	}
	text, err := no.Text(ctx, 100, nil)
	if err != nil {
		return err.Error()
	}
	if text == "" {
		return "the conflict has no text"
	}
	n.problems++
	asked := map[string]bool{}
	for i, core := range no.Cores {
		n.cores++
		n.facts += len(core.Facts)
		n.biggest = max(n.biggest, len(core.Facts))
		contradict, needless, err := resolver.CheckCore(ctx, core)
		switch {
		case err != nil:
			return err.Error()
		case !contradict:
			return fmt.Sprintf("the facts of core %d do not contradict each other", i)
		case len(needless) > 0:
			return fmt.Sprintf("core %d does not need %q", i, needless[0])
		}
		for _, name := range requests(core) {
			if asked[name] {
				return fmt.Sprintf("two cores request %s", name)
			}
			asked[name] = true
		}
		if len(model(core, p.Options.Semantics, &n.alone)) > 0 {
			return fmt.Sprintf("the facts of core %d have a solution: %v", i, core.Facts)
		}
		if msg := n.derivation(ctx, core); msg != "" {
			return msg
		}
		if msg := n.checkFixes(ctx, t, no, core, p); msg != "" {
			return msg
		}
	}
	if msg := n.rest(ctx, no, p); msg != "" {
		return msg
	}
	if text, err = no.Text(ctx, 0, nil); err != nil {
		return err.Error()
	}
	other, err := resolver.Resolve(ctx, open(t, shuffled(t, rand.New(rand.NewPCG(seed, 2)), raw)))
	if err == nil || !errors.As(err, &no) {
		return fmt.Sprintf("in another order: %v, %v", other, err)
	}
	again, err := no.Text(ctx, 0, nil)
	if err != nil {
		return err.Error()
	}
	if diff := cmp.Diff(lines.ReplaceAllString(text, "${1}N"), lines.ReplaceAllString(again, "${1}N")); diff != "" {
		return "the text depends on the order:\n" + diff
	}
	return ""
}

// requests returns the requests of a core.
func requests(core *resolver.Core) []string {
	var out []string
	for _, f := range core.Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			out = append(out, "subscription "+f.Subscription.Name)
		case *fact.Unavailable:
			out = append(out, "subscription "+f.Subscription.Name)
		case *fact.MustStay:
			out = append(out, "operator "+f.Operator.Name)
		}
	}
	return out
}

// derivation checks that a core has a derivation that uses only the kinds of facts in the
// core.
func (n *tally) derivation(ctx context.Context, core *resolver.Core) string {
	d, err := core.Derive(ctx)
	if err != nil {
		return err.Error()
	}
	if d.Incomplete {
		n.incomplete++
		return fmt.Sprintf("no derivation for %v", core.Facts)
	}
	used := map[fact.Fact]bool{}
	var walk func(s *fact.Step) string
	walk = func(s *fact.Step) string {
		n.steps++
		if strings.TrimSpace(s.Text) == "" {
			return "a step without words"
		}
		if s.Fact != nil {
			if !slices.Contains(core.Facts, s.Fact) {
				return "a step applies a fact that the core does not have: " + s.Fact.String()
			}
			used[s.Fact] = true
		}
		for _, c := range s.Because {
			if msg := walk(c); msg != "" {
				return msg
			}
		}
		return ""
	}
	if msg := walk(d.Conclusion); msg != "" {
		return msg
	}
	if len(used) == 0 {
		return "the derivation applies no fact"
	}
	return ""
}

// checkFixes applies the changes of each fix to the problem without the requests
// of the other cores, and resolves it again.
func (n *tally) checkFixes(ctx context.Context, t *testing.T, no *resolver.Conflict, core *resolver.Core, p resolver.Problem) string {
	fixes, err := core.Fixes(ctx, 0)
	if err != nil {
		return err.Error()
	}
	if len(fixes) == 0 {
		n.fixless++
	}
	mine := requests(core)
	q := p
	q.Subscriptions = nil
	q.Installed = slices.Clone(p.Installed)
	q.Options.Partial = false
	foreign := func(request string) bool {
		return !slices.Contains(mine, request) && slices.ContainsFunc(no.Cores, func(c *resolver.Core) bool { return slices.Contains(requests(c), request) })
	}
	drop := func(name string) {
		q.Installed = slices.DeleteFunc(q.Installed, func(in resolver.Installed) bool { return in.Name == name })
	}
	for _, s := range p.Subscriptions {
		if foreign("subscription " + s.Name) {
			drop(s.InstalledCSV)
		} else {
			q.Subscriptions = append(q.Subscriptions, s)
		}
	}
	for _, in := range p.Installed {
		if foreign("operator " + in.Name) {
			drop(in.Name)
		}
	}
	for _, f := range fixes {
		if len(f.Changes) == 0 || f.String() == "" {
			return "an empty fix"
		}
		n.fixes++
		changed := q
		var upper []resolver.Change // those of catalogs, which come last
		for i, c := range f.Changes {
			if c.Requirement != "" {
				upper = f.Changes[i:]
				break
			}
			changed = resolver.Apply(c, changed)
		}
		if len(upper) > 0 {
			n.upstream++
			if len(upper) < len(f.Changes) {
				n.combined++
				for what, p := range map[string]resolver.Problem{"new catalog": changed, "other change": upstream(t, q, upper)} {
					if _, err := resolver.Resolve(ctx, p); err == nil {
						return fmt.Sprintf("fix %q does not need the %s", f, what)
					}
				}
			}
			sol, err := resolver.Resolve(ctx, upstream(t, changed, upper))
			if err != nil {
				return fmt.Sprintf("fix %q does not help: %v", f, err)
			}
			if got, want := fmt.Sprint(names(known(sol.Selected))), fmt.Sprint(names(f.Selected)); got != want {
				return fmt.Sprintf("fix %q promises %s, but gives %s", f, want, got)
			}
			continue
		}
		isNew := func(resolver.CatalogID) bool { return false }
		if c := f.Changes[0]; c.Kind == "add-catalog" && c.Subscription != "" {
			changed, isNew = afterChanges(t, q, f.Changes)
		}
		sol, err := resolver.Resolve(ctx, changed)
		if err != nil {
			return fmt.Sprintf("fix %q does not help: %v", f, err)
		}
		given := slices.DeleteFunc(slices.Clone(sol.Selected), func(s resolver.Selected) bool {
			return isNew(resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace})
		})
		if got, want := fmt.Sprint(given), fmt.Sprint(f.Selected); got != want {
			return fmt.Sprintf("fix %q promises %s, but gives %s", f, want, got)
		}
		advice, err := sol.Advice(ctx)
		if err != nil {
			return err.Error()
		}
		for _, a := range advice { // H40
			stays := slices.ContainsFunc(sol.Stayed, func(s resolver.Stay) bool { return s.Subscription == a.Subscription })
			if stays && a.Outlook.EndsEarly() && !strings.Contains(f.String(), a.Bundle+" ") {
				return fmt.Sprintf("fix %q leaves an operator behind: %s", f, a)
			}
		}
		if rivalsLeft(q, changed, f) == 1 {
			continue // it deletes all others, even if fewer changes would help
		}
		for i, c := range f.Changes {
			if c.Kind == resolver.ChangePackage && c.Channel != "" { // it takes the place of the deleted subscriptions
				if !slices.ContainsFunc(sol.Selected, func(x resolver.Selected) bool { return x.Package == c.To }) {
					return fmt.Sprintf("fix %q installs nothing of package %s", f, c.To)
				}
				continue
			}
			fewer := q
			for _, c := range slices.Delete(slices.Clone(f.Changes), i, i+1) {
				fewer = resolver.Apply(c, fewer)
			}
			if _, err := resolver.Resolve(ctx, fewer); err == nil {
				return fmt.Sprintf("fix %q does not need %q", f, f.Changes[i])
			}
		}
	}
	return ""
}

// rivalsLeft returns how many subscriptions to a package a fix leaves of several, if it concerns only these and deletes
// some of them. Otherwise it returns 0.
func rivalsLeft(before, after resolver.Problem, f *resolver.Fix) (left int) {
	pkg := map[string]string{}
	count := map[string]int{}
	for _, s := range before.Subscriptions {
		pkg[s.Name] = s.Package
		count[s.Package]++
	}
	all := pkg[f.Changes[0].Subscription]
	other := func(c resolver.Change) bool { return pkg[c.Subscription] != all }
	if all == "" || count[all] < 2 || f.Changes[0].Kind != resolver.DropSubscription || slices.ContainsFunc(f.Changes, other) {
		return 0
	}
	for _, s := range after.Subscriptions {
		if s.Package == all {
			left++
		}
	}
	return left
}

// rest compares the plan for the parts that have one with the plan of the problem without the refused subscriptions.
// It does so only if that problem is well-defined: no refused subscription owns an operator, and every orphan can
// stay.
func (n *tally) rest(ctx context.Context, no *resolver.Conflict, p resolver.Problem) string {
	planned, refused := no.Subscriptions()
	if len(planned)+len(refused) != len(p.Subscriptions) {
		return fmt.Sprintf("planned %v and refused %v are not all subscriptions", planned, refused)
	}
	q := p
	q.Subscriptions = nil
	for _, s := range p.Subscriptions {
		if slices.Contains(planned, s.Name) {
			q.Subscriptions = append(q.Subscriptions, s)
		} else if s.InstalledCSV != "" {
			return ""
		}
	}
	for _, core := range no.Cores {
		for _, r := range requests(core) {
			if strings.HasPrefix(r, "operator ") {
				return ""
			}
		}
	}
	if len(planned) == 0 {
		if no.Planned() != nil {
			return "a plan for no subscription"
		}
		return ""
	}
	n.planned++
	sol, err := resolver.Resolve(ctx, q)
	if err != nil {
		return fmt.Sprintf("the planned subscriptions have no plan without the refused ones: %v", err)
	}
	if got, want := fmt.Sprint(no.Planned().Selected), fmt.Sprint(sol.Selected); got != want {
		return fmt.Sprintf("planned %s, want %s", got, want)
	}
	return ""
}

// newCatalog is the catalog that upstream adds.
const newCatalog = "zz-new"

// upstream returns the problem after changes to catalogs: without the requirements, or with a
// catalog that satisfies them and comes after the others.
func upstream(t testing.TB, p resolver.Problem, changes []resolver.Change) resolver.Problem {
	if changes[0].Kind != resolver.AddCatalog {
		return relaxed(t, p, changes)
	}
	var docs []doc
	for i, c := range changes {
		pkg, version, props := fmt.Sprintf("zz%d", i), "1.0.0", []property.Property(nil)
		if text, ok := strings.CutPrefix(c.Requirement, "API "); ok {
			kind, rest, _ := strings.Cut(text, " (")
			group, v, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "/")
			props = append(props, property.New(property.TypeGVK, property.GVK{Group: group, Version: v, Kind: kind}))
		} else if text, ok := strings.CutPrefix(c.Requirement, "package "); ok {
			name, rng, _ := strings.Cut(text, " ")
			pkg, version = name, ""
			for _, all := range []bool{true, false} { // one version for all ranges if possible
				for _, v := range []string{"0.0.0", "0.1.0", "0.9.0", "1.0.0", "1.1.0", "1.1.1", "1.5.0", "2.0.0", "2.5.0", "3.0.0", "9.0.0"} {
					fits := func(rng string) bool { return semver.MustParseRange(rng)(semver.MustParse(v)) }
					others := slices.ContainsFunc(changes, func(o resolver.Change) bool {
						other, ok := strings.CutPrefix(o.Requirement, "package "+name+" ")
						return ok && all && !fits(other)
					})
					if version == "" && fits(rng) && !others {
						version = v
					}
				}
			}
			if version == "" {
				t.Fatalf("no version in %q", rng)
			}
		} else {
			t.Fatalf("what is %q?", c.Requirement)
		}
		name := pkg + ".new" + strconv.Itoa(i)
		props = append(props, property.New(property.TypePackage, property.Package{PackageName: pkg, Version: version}))
		if find(docs, "olm.package", "", pkg) == nil {
			docs = append(docs, doc{Schema: "olm.package", Name: pkg, DefaultChannel: "c" + strconv.Itoa(i)})
		}
		docs = append(docs,
			doc{Schema: "olm.channel", Package: pkg, Name: "c" + strconv.Itoa(i), Entries: []docEntry{{Name: name}}},
			doc{Schema: "olm.bundle", Package: pkg, Name: name, Image: name, Properties: props})
	}
	text := render(docs)
	p.Catalogs = append(slices.Clip(p.Catalogs), resolver.Catalog{Name: newCatalog, Namespace: p.Namespace, Priority: -100, FBC: &text})
	return open(t, p)
}

// known returns the bundles that the catalog of upstream does not have.
func known(list []resolver.Selected) []resolver.Selected {
	return slices.DeleteFunc(slices.Clone(list), func(s resolver.Selected) bool { return s.Catalog == newCatalog })
}

// relaxed returns the problem without the requirements that the changes name, in all bundles
// of the named packages.
func relaxed(t testing.TB, p resolver.Problem, changes []resolver.Change) resolver.Problem {
	compiler := constraints.NewCompiler(nil)
	drop := func(pkg string, list []property.Property) []property.Property {
		return slices.DeleteFunc(slices.Clone(list), func(q property.Property) bool {
			x, ok, err := compiler.FromProperty(q)
			return ok && err == nil && slices.ContainsFunc(changes, func(c resolver.Change) bool {
				return c.Bundle.Package == pkg && c.Requirement == resolver.Says(x)
			})
		})
	}
	p.Catalogs = slices.Clone(p.Catalogs)
	for i, c := range p.Catalogs {
		docs := readDocs(t, *c.FBC)
		for j := range docs {
			if docs[j].Schema == "olm.bundle" {
				docs[j].Properties = drop(docs[j].Package, docs[j].Properties)
			}
		}
		text := render(docs)
		p.Catalogs[i].FBC, p.Catalogs[i].Graph = &text, nil
	}
	p.Installed = slices.Clone(p.Installed)
	for i, in := range p.Installed {
		pkg := in.Package
		for _, q := range in.Properties {
			if v, err := property.Parse[property.Package](q); q.Type == property.TypePackage && in.Package == "" && err == nil {
				pkg = v.PackageName
			}
		}
		p.Installed[i].Properties = drop(pkg, in.Properties)
	}
	return open(t, p)
}

func names(list []resolver.Selected) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name+" "+s.Channel+" "+s.Catalog)
	}
	return out
}

// model tries all sets of the candidates in a core and returns one that violates no fact, judging by the text of each
// fact. It returns nil if there is none, which is the expected result, or if the texts do not identify the facts.
func model(core *resolver.Core, semantics resolver.Semantics, checked *int) []resolver.Ref {
	var refs []resolver.Ref
	at := func(r resolver.Ref) int {
		i := slices.Index(refs, r)
		if i < 0 {
			i = len(refs)
			refs = append(refs, r)
		}
		return i
	}
	all := func(list []resolver.Ref) (mask uint64) {
		for _, r := range list {
			mask |= 1 << at(r)
		}
		return mask
	}
	var clauses []func(set uint64) bool
	add := func(f func(set uint64) bool) { clauses = append(clauses, f) }
	never := func(r resolver.Ref) { b := uint64(1) << at(r); add(func(set uint64) bool { return set&b == 0 }) }
	one := func(list []resolver.Ref) {
		mask := all(list)
		add(func(set uint64) bool { return bits.OnesCount64(set&mask) <= 1 })
	}
	for _, f := range core.Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			mask := all(f.Candidates)
			add(func(set uint64) bool { return set&mask != 0 })
		case *fact.Unavailable:
			add(func(uint64) bool { return false })
		case *fact.MustStay:
			b := uint64(1) << at(f.Operator)
			add(func(set uint64) bool { return set&b != 0 })
		case *fact.Requires:
			if len(constraints.Children(f.Requirement)) > 0 && semantics != resolver.PerBundle {
				return nil
			}
			b, mask := uint64(1)<<at(f.Bundle), all(f.Candidates)
			add(func(set uint64) bool { return set&b == 0 || set&mask != 0 })
		case *fact.OnePerPackage:
			one(f.Bundles)
		case *fact.OneProvider:
			one(f.Providers)
		case *fact.Replaced:
			one([]resolver.Ref{f.Bundle, f.Operator})
		case *fact.Prohibited:
			never(f.Bundle)
		case *fact.Unusable:
			never(f.Bundle)
		case *fact.PolicyBlocked:
			never(f.Bundle)
		}
	}
	if len(refs) > 16 {
		return nil
	}
	*checked++
	for set := range uint64(1) << len(refs) {
		if !slices.ContainsFunc(clauses, func(f func(uint64) bool) bool { return !f(set) }) {
			found := []resolver.Ref{{Name: "the empty set"}}
			for i, r := range refs {
				if set>>i&1 == 1 {
					found = append(found, r)
				}
			}
			return found
		}
	}
	return nil
}

// TestWhyProperties checks that every bundle in a plan has a reason that leads to the requests, and every other bundle
// has a reason against it (D17).
func TestWhyProperties(t *testing.T) {
	ctx := context.Background()
	n, whys, whynots := 0, 0, 0
	seeds(t, func(t *testing.T, seed uint64) {
		p := open(t, randomProblem(seed))
		sol, err := resolver.Resolve(ctx, p)
		if err != nil {
			return
		}
		n++
		in := map[string]bool{}
		for _, s := range sol.Selected {
			in[s.Name] = true
		}
		for _, s := range sol.Stayed {
			in[s.Name] = true
		}
		for name := range in {
			chains, err := sol.Why(ctx, name)
			if err != nil || len(chains) != 1 || len(chains[0].Reasons) == 0 {
				t.Errorf("seed %d: why %s: %v, %v", seed, name, chains, err)
				continue
			}
			chain := chains[0].Reasons
			whys++
			for _, r := range chain {
				if r.String() == "" || r.Bundle.Name == "" {
					t.Errorf("seed %d: why %s: an empty reason: %+v", seed, name, r)
				}
			}
			if last := chain[len(chain)-1]; last.By.Name != "" && !slices.ContainsFunc(chain, func(r resolver.Reason) bool { return r.Bundle == last.By }) {
				t.Errorf("seed %d: why %s ends at %s", seed, name, last)
			}
		}
		for _, c := range p.Catalogs {
			if c.Graph == nil {
				continue
			}
			for b := range c.Graph.Bundles() {
				list, err := sol.WhyNot(ctx, b.Name())
				if err != nil || len(list) == 0 {
					t.Errorf("seed %d: why not %s: %v, %v", seed, b.Name(), list, err)
				}
				for _, w := range list {
					whynots++
					if w.Text == "" || !in[b.Name()] && w.Text == "is part of the solution" {
						t.Errorf("seed %d: why not %s: %q", seed, b.Name(), w.Text)
					}
				}
			}
		}
	})
	t.Logf("%d problems: %d bundles have a reason for them, %d a reason against them", n, whys, whynots)
}
