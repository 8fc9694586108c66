package resolver_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// TestFixesByBruteForce checks fixes for conflicts and advice with the oracle (D16, H40), which knows
// nothing of fixes: the problem with the change has exactly the promised plan, and if no fix is
// offered, no single change of a subscription, operator or policy helps.
func TestFixesByBruteForce(t *testing.T) {
	ctx := context.Background()
	var n struct{ conflicts, together, advice, fixes, reinstalled, later, none, possible, tried int }
	// promised returns "" if the changed problem has the plan of the fix.
	promised := func(p resolver.Problem, f *resolver.Fix) string {
		n.fixes++
		changed, isNew := afterChanges(t, p, f.Changes)
		o := newOracle(t, changed)
		best, ok := o.best()
		if !ok {
			return fmt.Sprintf("fix %q: the oracle finds no solution", f)
		}
		var got, want []string
		for _, s := range f.Selected {
			want = append(want, resolver.Ref{Catalog: resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace}, Package: s.Package, Channel: s.Channel, Name: s.Name}.String())
		}
		best.each(func(c int) bool {
			if x := o.all[c]; x.catalog >= 0 && !isNew(x.ref.Catalog) {
				got = append(got, x.ref.String())
			}
			return true
		})
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Sprintf("fix %q promises %v, the oracle gets %v", f, want, got)
		}
		return ""
	}
	check := func(seed uint64) string {
		p := open(t, randomProblem(seed))
		p.Options.Partial = false
		sol, err := resolver.Resolve(ctx, p)
		var no *resolver.Conflict
		if errors.As(err, &no) {
			if len(no.Cores) > 1 { // a fix concerns one of them, or all if they are reported together
				r, err := no.Report(ctx)
				if err != nil {
					return err.Error()
				}
				if len(r.Cores) == 1 {
					n.together++
					for _, f := range r.Cores[0].Fixes {
						if msg := promised(p, f); msg != "" {
							return msg
						}
					}
				}
				return ""
			}
			n.conflicts++
			fixes, err := no.Cores[0].Fixes(ctx, 0)
			if err != nil {
				return err.Error()
			}
			for _, f := range fixes {
				if msg := promised(p, f); msg != "" {
					return msg
				}
			}
			if len(fixes) > 0 {
				return ""
			}
			n.none++
			for _, c := range singleChanges(t, p) {
				n.tried++
				changed, _ := afterChanges(t, p, []resolver.Change{c})
				if newOracle(t, changed).solvable() {
					return fmt.Sprintf("no fix is offered, but %q helps", c)
				}
			}
			return ""
		}
		if errors.As(err, new(*document.Error)) {
			return "" // a policy that names nothing
		}
		if err != nil {
			return err.Error()
		}
		list, err := sol.AdviceWithFixes(ctx)
		if err != nil {
			return err.Error()
		}
		for _, a := range list {
			for _, f := range a.Fixes {
				at := p
				if f.After != "" {
					n.later++
					if at = settled(t, sol); !slices.ContainsFunc(at.Installed, func(in resolver.Installed) bool { return in.Name == f.After }) {
						return fmt.Sprintf("fix %q: OLM does not stop there", f)
					}
				}
				if msg := promised(at, f); msg != "" {
					return msg
				}
				if f.Changes[0].Kind == resolver.Reinstall {
					n.reinstalled++
				}
			}
			if len(a.Rejected) == 0 {
				continue
			}
			n.advice++
			if len(a.Fixes) > 0 {
				continue
			}
			n.none++
			before := newOracle(t, p)
			w := before.wishOf(a.Subscription)
			had, _ := before.best()
			at := slices.IndexFunc(w.options, had.has)
			old := before.all[w.options[at]]
			better := func(x *candidate) bool { // preferred, or newer
				return x.ref.Name != old.ref.Name && (x.version.GT(old.version) ||
					slices.ContainsFunc(w.options[:at], func(c int) bool { return before.all[c].ref.Name == x.ref.Name }))
			}
			wanted := slices.DeleteFunc(slices.Clone(w.options), func(c int) bool { return !better(before.all[c]) })
			if !slices.ContainsFunc(w.options[:at], func(c int) bool { return better(before.all[c]) }) ||
				!before.models(func(s set) bool { return !slices.ContainsFunc(wanted, s.has) }) {
				n.possible++ // as [resolver.Solution.Fixes] documents
				continue
			}
			for _, c := range singleChanges(t, p) {
				if c.Subscription == a.Subscription && (c.Kind == resolver.DropSubscription || c.Kind == resolver.RemoveSubscribed) {
					continue
				}
				n.tried++
				changed, _ := afterChanges(t, p, []resolver.Change{c})
				o := newOracle(t, changed)
				best, ok := o.best()
				if !ok {
					continue
				}
				w2 := o.wishOf(a.Subscription)
				i := slices.IndexFunc(w2.options, best.has)
				if i < 0 {
					continue
				}
				if got := o.all[w2.options[i]]; better(got) {
					return fmt.Sprintf("no fix is offered for %q, but with %q it is %s", a, c, got.ref.Name)
				}
			}
		}
		return ""
	}
	if *seed != 0 {
		if msg := check(*seed); msg != "" {
			t.Fatal(msg)
		}
		return
	}
	all := []uint64{
		13616, // one channel skips a bundle that another one offers
		27938, // the pin that holds back an upgrade also makes it a downgrade
		33262, // a requirement and its double negation are stated separately
		43746, // the bundle of a new catalog satisfies a requirement by what it lacks
		59649, // a new catalog has nothing that succeeds an operator of another subscription
		23812, // a policy names a bundle that nobody knows, of a package that a new catalog has
		65178, // two requirements of an installed operator are decided in the order of their text (H29)
		43665, // a new channel helps only without the startingCSV that it also has
	}
	for s := range uint64(testsize.Of(400, 2000, 27000)) {
		all = append(all, s+1)
	}
	for _, s := range all {
		if msg := check(s); msg != "" {
			t.Errorf("seed %d: %s\nreplay with: go test ./resolver -run '^%s$' -v -seed %d", s, msg, t.Name(), s)
		}
	}
	t.Logf("%+v", n)
	if n.conflicts == 0 || n.later == 0 || n.advice == 0 || n.none == 0 || n.fixes < n.conflicts {
		t.Errorf("too little was checked: %+v", n)
	}
}

// settled returns the problem once all upgrades of a solution, and those that follow, are installed.
func settled(t *testing.T, sol *resolver.Solution) resolver.Problem {
	t.Helper()
	p := sol.After()
	for range 20 {
		next, err := resolver.Resolve(t.Context(), p)
		if err != nil && !errors.As(err, new(*resolver.Conflict)) {
			t.Fatal(err)
		}
		if err != nil || len(next.Selected) == 0 {
			return p
		}
		p = next.After()
	}
	t.Fatal("the upgrades do not end")
	return p
}

// wishOf returns the named subscription.
func (o *oracle) wishOf(name string) *wish {
	i := slices.IndexFunc(o.subs, func(w *wish) bool { return w.Name == name })
	return o.subs[i]
}

// afterChanges returns the problem after changes, and which bundles come from a new catalog. It
// goes only by the fields of the changes that JSON has.
func afterChanges(t *testing.T, p resolver.Problem, changes []resolver.Change) (_ resolver.Problem, isNew func(resolver.CatalogID) bool) {
	added := resolver.CatalogID{Name: newCatalog, Namespace: p.Namespace}
	isNew = func(id resolver.CatalogID) bool { return id == added }
	var missing []resolver.Change
	for _, c := range changes {
		if c.Requirement != "" {
			missing = append(missing, c)
			continue
		}
		p.Subscriptions, p.Installed = slices.Clone(p.Subscriptions), slices.Clone(p.Installed)
		p.Policies, p.Catalogs = slices.Clone(p.Policies), slices.Clone(p.Catalogs)
		at := slices.IndexFunc(p.Subscriptions, func(s resolver.Subscription) bool { return c.Subscription != "" && s.Name == c.Subscription })
		var s *resolver.Subscription
		if at >= 0 {
			s = &p.Subscriptions[at]
		}
		drop := func() { p.Subscriptions = slices.Delete(p.Subscriptions, at, at+1) }
		uninstall := func() {
			p.Installed = slices.DeleteFunc(p.Installed, func(in resolver.Installed) bool { return in.Name == c.Operator })
		}
		switch c.Kind {
		case resolver.AddCatalog:
			if c.Catalog != (resolver.CatalogID{}) {
				at := slices.IndexFunc(p.Catalogs, func(x resolver.Catalog) bool { return x.ID() == c.Catalog })
				if s != nil {
					s.CatalogNamespace = c.To
				}
				if at >= 0 && p.Catalogs[at].Graph != nil {
					p.Catalogs[at].Namespace = c.To
					break
				}
				if at >= 0 { // nobody knows its content
					p.Catalogs = slices.Delete(p.Catalogs, at, at+1)
				}
			}
			docs, channel := newPackage(s.Package, s.Channel, cmp.Or(s.InstalledCSV, s.StartingCSV))
			p.Policies = slices.DeleteFunc(p.Policies, func(r resolver.Policy) bool { return r.Package == s.Package }) // which the new bundle obeys
			text := render(docs)
			if s.Channel != "" {
				s.Channel = channel
			}
			if s.Catalog != "" {
				added = resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace}
			}
			p.Catalogs = append(p.Catalogs, resolver.Catalog{Name: added.Name, Namespace: added.Namespace, Priority: -100, FBC: &text})
			p = open(t, p)
		case resolver.ChangePackage:
			s.Package, s.Channel = c.To, cmp.Or(c.Channel, s.Channel)
		case resolver.ChangeStartingCSV:
			s.StartingCSV = c.To
		case resolver.ClearStartingCSV:
			s.StartingCSV = ""
		case resolver.ChangeChannel:
			if s.Channel = c.To; c.DropStartingCSV {
				s.StartingCSV = ""
			}
		case resolver.ChangeCatalog:
			s.Catalog, s.CatalogNamespace = c.Catalog.Name, c.Catalog.Namespace
			if c.Channel != "" {
				s.Channel = c.Channel
			}
		case resolver.DropSubscription:
			drop()
		case resolver.RemoveSubscribed:
			drop()
			uninstall()
		case resolver.RemoveOperator:
			uninstall()
		case resolver.Reinstall:
			uninstall()
			s.Channel, s.InstalledCSV, s.StartingCSV = c.Channel, "", ""
			if c.Catalog != (resolver.CatalogID{}) {
				s.Catalog, s.CatalogNamespace = c.Catalog.Name, c.Catalog.Namespace
			}
		case resolver.AdoptOperator:
			if s != nil {
				s.InstalledCSV = c.Operator
			} else {
				p.Subscriptions = append(p.Subscriptions, resolver.Subscription{
					Name: c.Subscription, Package: c.To, Catalog: c.Catalog.Name, CatalogNamespace: c.Catalog.Namespace, InstalledCSV: c.Operator,
				})
			}
		case resolver.ChangePin:
			for i, r := range p.Policies {
				if r == c.Rule {
					p.Policies[i].Pin = c.To
				}
			}
		case resolver.LiftPolicy:
			p.Policies = slices.DeleteFunc(p.Policies, func(r resolver.Policy) bool { return r == c.Rule })
		default:
			t.Fatalf("what is %s?", c.Kind)
		}
	}
	if len(missing) > 0 {
		p = upstream(t, p, missing)
	}
	return p, isNew
}

// newPackage returns a package with one bundle in a channel.
func newPackage(pkg, channel, name string) ([]doc, string) {
	if channel == "" {
		channel = "s"
	}
	if name == "" {
		name = pkg + ".new"
	}
	return []doc{
		{Schema: "olm.package", Name: pkg, DefaultChannel: channel},
		{Schema: "olm.channel", Package: pkg, Name: channel, Entries: []docEntry{{Name: name}}},
		{Schema: "olm.bundle", Package: pkg, Name: name, Image: name, Properties: []property.Property{
			property.New(property.TypePackage, property.Package{PackageName: pkg, Version: "1.0.0"}),
		}},
	}, channel
}

// singleChanges returns every change of one subscription, operator or policy, whatever the
// conflict. Names are not corrected, a subscription to any catalog stays one, no operator is adopted, and none is kept whose subscription is
// deleted.
func singleChanges(t *testing.T, p resolver.Problem) (out []resolver.Change) {
	channels := map[string][]string{}
	for _, c := range p.Catalogs {
		for _, d := range readDocs(t, *c.FBC) {
			if d.Schema == "olm.channel" && !slices.Contains(channels[d.Package], d.Name) {
				channels[d.Package] = append(channels[d.Package], d.Name)
			}
		}
	}
	owned := map[string]bool{}
	for _, s := range p.Subscriptions {
		owned[s.InstalledCSV] = true
		if s.StartingCSV != "" {
			out = append(out, resolver.Change{Kind: resolver.ClearStartingCSV, Subscription: s.Name})
		}
		for _, ch := range channels[s.Package] {
			if s.Channel != "" && ch != s.Channel {
				out = append(out,
					resolver.Change{Kind: resolver.ChangeChannel, Subscription: s.Name, To: ch},
					resolver.Change{Kind: resolver.ChangeChannel, Subscription: s.Name, To: ch, DropStartingCSV: true})
			}
		}
		for _, c := range p.Catalogs {
			if s.Catalog != "" {
				out = append(out, resolver.Change{Kind: resolver.ChangeCatalog, Subscription: s.Name, Catalog: c.ID()})
			}
		}
		if s.InstalledCSV == "" {
			out = append(out, resolver.Change{Kind: resolver.DropSubscription, Subscription: s.Name})
		} else {
			out = append(out, resolver.Change{Kind: resolver.RemoveSubscribed, Subscription: s.Name, Operator: s.InstalledCSV})
		}
	}
	for _, in := range p.Installed {
		if !owned[in.Name] {
			out = append(out, resolver.Change{Kind: resolver.RemoveOperator, Operator: in.Name})
		}
	}
	for _, r := range p.Policies {
		out = append(out, resolver.Change{Kind: resolver.LiftPolicy, Rule: r})
	}
	return out
}
