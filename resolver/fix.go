package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
)

// A Change is one thing an administrator, or the author of a catalog, can do.
type Change struct {
	// Kind says what changes.
	Kind ChangeKind `json:"kind"`
	// Subscription is the name of the subscription that changes.
	Subscription string `json:"subscription,omitempty"`
	// Operator is the installed operator that changes.
	Operator string `json:"operator,omitempty"`
	// To is the new value: a channel, a catalog ("name/namespace"), a package.
	To string `json:"to,omitempty"`
	// Bundle and Requirement are what would have to change upstream.
	Bundle      Ref    `json:"bundle,omitzero"`
	Requirement string `json:"requirement,omitempty"`
	Place       *Place `json:"place,omitempty"`
	// Advice says it in words.
	Advice string `json:"advice,omitempty"`
}

// A ChangeKind is a kind of change. The order of the constants is the order in
// which fixes are offered: what disturbs least comes first.
type ChangeKind string

const (
	ClearStartingCSV ChangeKind = "clear-starting-csv"
	LiftPolicy       ChangeKind = "lift-policy"
	ChangeChannel    ChangeKind = "change-channel"
	AnyCatalog       ChangeKind = "change-catalog"
	AdoptOperator    ChangeKind = "adopt-operator"
	// ChangeTargets lets the operator group select other namespaces.
	ChangeTargets    ChangeKind = "change-targets"
	DropSubscription ChangeKind = "drop-subscription"
	// RemoveSubscribed removes a subscription with the operator that it owns.
	RemoveSubscribed ChangeKind = "remove-subscribed"
	RemoveOperator   ChangeKind = "remove-operator"
	RelaxRequirement ChangeKind = "relax-requirement"
)

var changeCost = map[ChangeKind]int{
	ClearStartingCSV: 1, LiftPolicy: 2, ChangeChannel: 3, AnyCatalog: 4, AdoptOperator: 5, ChangeTargets: 5,
	DropSubscription: 6, RemoveSubscribed: 8, RemoveOperator: 9, RelaxRequirement: 20,
}

// String says what to do, as an instruction.
func (c Change) String() string {
	switch c.Kind {
	case ClearStartingCSV:
		return fmt.Sprintf("remove the startingCSV of subscription %s", c.Subscription)
	case LiftPolicy:
		return fmt.Sprintf("lift the policy: %s", c.To)
	case ChangeChannel:
		return fmt.Sprintf("set the channel of subscription %s to %s", c.Subscription, c.To)
	case AnyCatalog:
		return fmt.Sprintf("point subscription %s to catalog %s", c.Subscription, c.To)
	case AdoptOperator:
		return fmt.Sprintf("adopt %s: subscribe to package %s with it as the installed operator, so that it can be upgraded", c.Operator, c.To)
	case ChangeTargets:
		if c.To == "" {
			return "let the operator group select all namespaces"
		}
		return fmt.Sprintf("let the operator group select namespace %s alone", c.To)
	case DropSubscription:
		return fmt.Sprintf("delete subscription %s", c.Subscription)
	case RemoveSubscribed:
		return fmt.Sprintf("delete subscription %s and its operator %s", c.Subscription, c.Operator)
	case RemoveOperator:
		return fmt.Sprintf("uninstall %s", c.Operator)
	case RelaxRequirement:
		return "upstream: " + c.Advice
	}
	return string(c.Kind)
}

// A Fix is a smallest set of changes that resolves a core: none of them can be
// left out. It was solved again before it was offered.
type Fix struct {
	Changes []Change `json:"changes"`
	// Selected is what would then be installed, by package.
	Selected []Selected `json:"selected"`

	cost int
	// rest is what can be planned without the fix.
	rest []Selected
}

// String says what to do and what would come of it, beside what can be planned
// anyway.
func (f *Fix) String() string {
	text := f.instruction()
	if then := f.outcome(); then != "" {
		text += "; then " + then
	}
	return text
}

// instruction says what to do.
func (f *Fix) instruction() string {
	parts := make([]string, len(f.Changes))
	for i, c := range f.Changes {
		parts[i] = c.String()
	}
	first := f.Changes[0]
	if len(parts) == 1 || first.Kind != RelaxRequirement {
		return strings.Join(parts, ", and ")
	}
	for i, c := range f.Changes {
		parts[i] = c.Requirement
	}
	text := "upstream: publish what meets " + andList(parts)
	if first.Place != nil {
		text += fmt.Sprintf(", or have %s drop these requirements (%s)", cmp.Or(first.Bundle.Package, first.Bundle.Name), first.Place)
	}
	return text
}

// outcome tells what would be installed that is not planned anyway; "" when
// nothing is, after something was given up.
func (f *Fix) outcome() string {
	var names []string
	for _, s := range f.Selected {
		if !slices.ContainsFunc(f.rest, func(r Selected) bool { return r.Compare(s) == 0 }) {
			names = append(names, s.Name)
		}
	}
	switch n := len(names); {
	case n == 0 && f.removes():
		return ""
	case n == 0:
		return "nothing has to be installed"
	case n == 1:
		return names[0] + " is installed"
	case n <= 4:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " are installed"
	default:
		return fmt.Sprintf("%s, %s and %d others are installed", names[0], names[1], n-2)
	}
}

// maxTries bounds how many sets of changes are tried for one core.
const maxTries = 400

// Fixes returns the smallest changes that resolve the core, those that disturb
// least first, at most max of them (0: five). Each was solved again, with the
// other cores left as they are. Changes to catalogs come last, and only where
// nothing else helps. The error is the context's.
func (c *Core) Fixes(ctx context.Context, max int) ([]*Fix, error) {
	max = cmp.Or(max, 5)
	base := c.alone()
	changes := c.changes()
	var found []*Fix
	tries := 0
	try := func(set ...Change) error {
		if tries++; tries > maxTries || covers(found, set) {
			return nil
		}
		p := base
		for _, ch := range set {
			p = ch.apply(p)
		}
		sol, err := c.plan(ctx, &p, nil)
		if sol == nil || err != nil {
			return err
		}
		f := &Fix{Changes: set, Selected: sol.Selected}
		for _, ch := range set {
			f.cost += changeCost[ch.Kind]
		}
		found = append(found, f)
		return nil
	}
	for _, ch := range changes {
		if err := try(ch); err != nil {
			return nil, err
		}
	}
	for i, a := range changes {
		for _, b := range changes[i+1:] {
			if len(found) > 0 || a.clashes(b) {
				continue
			}
			if err := try(a, b); err != nil {
				return nil, err
			}
		}
	}
	if len(found) == 0 || onlyRemovals(found) {
		up, err := c.upstream(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, up...)
	}
	for _, f := range found {
		f.rest = c.rest
	}
	slices.SortStableFunc(found, func(a, b *Fix) int { return cmp.Compare(a.cost, b.cost) })
	return found[:min(len(found), max)], nil
}

// removes reports whether a fix only gives things up.
func (f *Fix) removes() bool {
	return !slices.ContainsFunc(f.Changes, func(c Change) bool {
		return c.Kind != DropSubscription && c.Kind != RemoveSubscribed && c.Kind != RemoveOperator
	})
}

// onlyRemovals reports whether every fix gives something up.
func onlyRemovals(fixes []*Fix) bool {
	return !slices.ContainsFunc(fixes, func(f *Fix) bool { return !f.removes() })
}

// covers reports whether a found fix is part of set.
func covers(found []*Fix, set []Change) bool {
	for _, f := range found {
		if !slices.ContainsFunc(f.Changes, func(c Change) bool { return !slices.Contains(set, c) }) {
			return true
		}
	}
	return false
}

// clashes reports whether two changes are about the same thing.
func (c Change) clashes(o Change) bool {
	return c.Subscription != "" && c.Subscription == o.Subscription || c.Operator != "" && c.Operator == o.Operator
}

// alone returns the problem without what the other cores ask for, so that a fix
// of this core can be told apart: their subscriptions and operators are left
// out.
func (c *Core) alone() Problem {
	u := c.e.r.u
	p := *u.p
	p.Options.Partial = false
	p.Subscriptions = nil
	aside := map[string]bool{}
	for i, f := range c.e.facts {
		if !isRequest(f.Fact) {
			continue
		}
		foreign := c.foreign(i)
		switch {
		case i >= len(u.subs):
			aside[u.installed[f.owner].Name] = foreign
		case !foreign:
			p.Subscriptions = append(p.Subscriptions, *u.subs[i].Subscription)
		case u.subs[i].current != nil:
			aside[u.subs[i].current.Name] = true
		}
	}
	p.Installed = slices.DeleteFunc(slices.Clone(p.Installed), func(in Installed) bool { return aside[in.Name] })
	return p
}

// foreign reports whether fact i is a request of another core and not of this
// one.
func (c *Core) foreign(i int) bool {
	return !slices.Contains(c.index, i) && slices.ContainsFunc(c.e.found, func(core []int) bool { return slices.Contains(core, i) })
}

// changes returns the changes that can touch the core, the cheapest first.
func (c *Core) changes() []Change {
	u := c.e.r.u
	var out []Change
	add := func(ch Change) {
		if !slices.Contains(out, ch) {
			out = append(out, ch)
		}
	}
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *Subscribed:
			c.subscriptionChanges(u, f.Subscription.Name, add)
		case *Unavailable:
			c.subscriptionChanges(u, f.Subscription.Name, add)
		case *MustStay:
			add(Change{Kind: RemoveOperator, Operator: f.Operator.Name})
			if pkg := u.adoptable(f.Operator.Name); pkg != "" {
				add(Change{Kind: AdoptOperator, Operator: f.Operator.Name, To: pkg})
			}
		case *Ruled:
			add(Change{Kind: LiftPolicy, To: f.Policy.String()})
		case *Unsupported:
			for _, ns := range []string{u.p.Namespace, ""} {
				if !slices.Equal(f.Targets, []string{ns}) {
					add(Change{Kind: ChangeTargets, To: ns})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(changeCost[a.Kind], changeCost[b.Kind]) })
	return out
}

// subscriptionChanges offers what can be done about one subscription.
func (c *Core) subscriptionChanges(u *universe, name string, add func(Change)) {
	i := slices.IndexFunc(u.subs, func(s *subscription) bool { return s.Name == name })
	s := u.subs[i]
	if s.StartingCSV != "" && s.current == nil {
		add(Change{Kind: ClearStartingCSV, Subscription: name})
	}
	in, others := u.sourcesFor(s)
	for _, cat := range in {
		if p, ok := cat.Graph.Package(s.Package); ok && s.Channel != "" {
			for ch := range p.Channels() {
				if ch.Name() != s.Channel {
					add(Change{Kind: ChangeChannel, Subscription: name, To: ch.Name()})
				}
			}
		}
	}
	for _, cat := range others {
		if _, ok := cat.Graph.Package(s.Package); ok {
			add(Change{Kind: AnyCatalog, Subscription: name, To: cat.ID().String()})
		}
	}
	if s.current == nil {
		add(Change{Kind: DropSubscription, Subscription: name})
	} else {
		add(Change{Kind: RemoveSubscribed, Subscription: name, Operator: s.current.Name})
	}
}

// adoptable returns the package of an installed operator when some catalog has
// it.
func (u *universe) adoptable(name string) string {
	i := slices.IndexFunc(u.installed, func(in *installed) bool { return in.Name == name })
	if i < 0 || u.installed[i].pkg == "" {
		return ""
	}
	for _, c := range u.cats {
		if _, ok := c.Graph.Package(u.installed[i].pkg); ok {
			return u.installed[i].pkg
		}
	}
	return ""
}

// apply returns the problem with the change made.
func (c Change) apply(p Problem) Problem {
	subs := slices.Clone(p.Subscriptions)
	at := slices.IndexFunc(subs, func(s Subscription) bool { return s.Name == c.Subscription && c.Subscription != "" })
	p.Subscriptions = subs
	switch c.Kind {
	case ClearStartingCSV:
		subs[at].StartingCSV = ""
	case ChangeChannel:
		subs[at].Channel, subs[at].StartingCSV = c.To, ""
	case AnyCatalog:
		subs[at].Catalog, subs[at].CatalogNamespace, _ = strings.Cut(c.To, "/")
	case DropSubscription, RemoveSubscribed:
		p.Subscriptions = slices.Delete(subs, at, at+1)
	case AdoptOperator:
		name := c.Operator
		for slices.ContainsFunc(subs, func(s Subscription) bool { return s.Name == name }) {
			name += "-adopted"
		}
		p.Subscriptions = append(subs, Subscription{Name: name, Package: c.To, InstalledCSV: c.Operator})
	case ChangeTargets:
		p.OperatorGroup = &OperatorGroup{TargetNamespaces: []string{c.To}}
	case LiftPolicy:
		p.Policies = slices.DeleteFunc(slices.Clone(p.Policies), func(x Policy) bool { return x.String() == c.To })
	}
	if c.Kind == RemoveOperator || c.Kind == RemoveSubscribed {
		p.Installed = slices.DeleteFunc(slices.Clone(p.Installed), func(in Installed) bool { return in.Name == c.Operator })
	}
	return p
}

// upstream returns the requirements of which each alone, if its author dropped
// it, would resolve the core; or else all that nothing meets, if that would.
func (c *Core) upstream(ctx context.Context) ([]*Fix, error) {
	e := c.e
	var out []*Fix
	var mine []*Requires
	for _, i := range c.index {
		q, ok := e.facts[i].Fact.(*Requires)
		if !ok || slices.ContainsFunc(mine, func(o *Requires) bool { return sameMistake(o, q) }) {
			continue
		}
		mine = append(mine, q)
		fix, err := c.relaxed(ctx, q)
		if err != nil {
			return nil, err
		}
		if fix != nil {
			out = append(out, fix)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	// What the core does not mention may be missing just as well.
	var unmet []*Requires
	for _, f := range e.facts {
		q, ok := f.Fact.(*Requires)
		if ok && len(q.Candidates) == 0 && slices.ContainsFunc(mine, func(o *Requires) bool { return o.Bundle.Package == q.Bundle.Package }) &&
			!slices.ContainsFunc(unmet, func(o *Requires) bool { return sameMistake(o, q) }) {
			unmet = append(unmet, q)
		}
	}
	if len(unmet) < 2 || len(unmet) > maxUnmet {
		return nil, nil
	}
	fix, err := c.relaxed(ctx, unmet...)
	if fix != nil {
		out = append(out, fix)
	}
	return out, err
}

// maxUnmet is how many requirements an advice to authors may be about.
const maxUnmet = 4

// sameMistake reports whether two bundles of a package state one requirement.
func sameMistake(a, b *Requires) bool {
	return a.Bundle.Package == b.Bundle.Package && a.Requirement.String() == b.Requirement.String()
}

// relaxed returns the fix that drops requirements of all bundles of their
// packages; nil when it does not help, or nobody could do it.
func (c *Core) relaxed(ctx context.Context, drop ...*Requires) (*Fix, error) {
	fix := &Fix{}
	for _, q := range drop {
		ch := Change{Kind: RelaxRequirement, Bundle: q.Bundle, Requirement: requirement(q), Place: q.place()}
		if ch.Advice = advice(q, ch.Place); ch.Advice == "" {
			return nil, nil
		}
		fix.Changes = append(fix.Changes, ch)
		fix.cost += changeCost[ch.Kind]
	}
	p := c.alone()
	sol, err := c.plan(ctx, &p, drop)
	if sol == nil || err != nil {
		return nil, err
	}
	fix.Selected = sol.Selected
	return fix, nil
}

// plan resolves a problem without asking why it has no solution: it then returns
// nil. Requirements that bundles share with waived ones are not held against
// them.
func (c *Core) plan(ctx context.Context, p *Problem, waived []*Requires) (*Solution, error) {
	u, err := newUniverse(p)
	if err != nil {
		return nil, err
	}
	u.waived = waived
	if p.OperatorGroup == c.e.r.u.p.OperatorGroup {
		u.modes = c.e.r.u.modes
	}
	r := newResolution(u)
	if r.impossible() {
		return nil, nil
	}
	set, ok := r.first(ctx)
	if err := r.interrupted(ctx); err != nil {
		return nil, err
	}
	if !ok {
		e, err := r.encode(ctx)
		if err != nil {
			return nil, err
		}
		set, ok, err = e.search(ctx, e.on, func(int) bool { return true })
		if !ok || err != nil {
			return nil, err
		}
	}
	return r.solution(set), nil
}

// advice says what authors can do about a requirement; "" when nothing, since
// what is installed does not change any more.
func advice(q *Requires, at *Place) string {
	who := cmp.Or(q.Bundle.Package, q.Bundle.Name)
	if len(q.Candidates) > 0 {
		if at == nil {
			return ""
		}
		return fmt.Sprintf("have %s no longer require %s (%s)", who, requirement(q), at)
	}
	publish := "publish what meets " + requirement(q)
	relax := fmt.Sprintf("have %s drop that requirement", who)
	switch x := q.Requirement.(type) {
	case *constraints.Package:
		publish = fmt.Sprintf("publish a version %s of package %s that fits", x.Range, x.Name)
		relax = fmt.Sprintf("have %s drop or widen that requirement", who)
	case *constraints.GVK:
		publish = "publish a bundle that provides " + x.GVK.String() + " and fits"
	case *constraints.CEL:
		publish = "publish a bundle that the rule selects and fits"
	}
	if forbids(q.Requirement) {
		publish, relax = "", fmt.Sprintf("have %s no longer require %s", who, requirement(q))
	}
	switch {
	case at == nil:
		return publish
	case publish == "":
		return fmt.Sprintf("%s (%s)", relax, at)
	}
	return fmt.Sprintf("%s, or %s (%s)", publish, relax, at)
}

// forbids reports whether a requirement forbids something anywhere.
func forbids(x constraints.Expr) bool {
	for part := range constraints.Walk(x) {
		if _, ok := part.(*constraints.Not); ok {
			return true
		}
	}
	return false
}
