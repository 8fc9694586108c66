package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/near"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Change is a single change by an administrator or a catalog author.
type Change struct {
	// Kind is what changes.
	Kind ChangeKind `json:"kind"`
	// Subscription is the name of the subscription that changes.
	Subscription string `json:"subscription,omitempty"`
	// Operator is the installed operator that changes.
	Operator string `json:"operator,omitempty"`
	// To is the new value: a channel, a catalog as [fact.CatalogID.String] writes it, a
	// package, a bundle, a version.
	To string `json:"to,omitempty"`
	// Catalog is the new catalog.
	Catalog CatalogID `json:"catalog,omitzero"`
	// Channel is the new channel if it changes together with the catalog.
	Channel string `json:"channel,omitempty"`
	// DropStartingCSV reports whether the startingCSV is also removed, because the new
	// channel does not contain it.
	DropStartingCSV bool `json:"dropStartingCSV,omitzero"`
	// Policy is the policy that changes, as [fact.Policy.String] writes it.
	Policy string `json:"policy,omitempty"`
	rule   Policy // the policy itself
	// Bundle, Requirement and Place identify what has to change upstream.
	Bundle      Ref         `json:"bundle,omitzero"`
	Requirement string      `json:"requirement,omitempty"`
	Place       *fact.Place `json:"place,omitzero"`
	// Advice is the change as an instruction, for some kinds.
	Advice string `json:"advice,omitempty"`
}

// A ChangeKind is a kind of change. In the order in which fixes are offered, least
// disruptive first, it is one of:
//
//	change-package       correct the name of the package
//	change-starting-csv  set the startingCSV to a bundle that exists
//	change-pin           pin a version or bundle that exists
//	clear-starting-csv   remove the startingCSV
//	lift-policy          remove a policy
//	change-channel       set the channel of a subscription
//	change-catalog       switch a subscription to another catalog
//	adopt-operator       create a subscription that owns an operator
//	change-targets       change the namespaces that the operator group selects
//	drop-subscription    delete a subscription
//	remove-subscribed    delete a subscription and the operator that it owns
//	remove-operator      uninstall an operator
//	relax-requirement    change a requirement in the catalog
type ChangeKind string

const (
	changePackage     ChangeKind = "change-package"
	changeStartingCSV ChangeKind = "change-starting-csv"
	changePin         ChangeKind = "change-pin"
	clearStartingCSV  ChangeKind = "clear-starting-csv"
	liftPolicy        ChangeKind = "lift-policy"
	changeChannel     ChangeKind = "change-channel"
	changeCatalog     ChangeKind = "change-catalog"
	adoptOperator     ChangeKind = "adopt-operator"
	changeTargets     ChangeKind = "change-targets"
	dropSubscription  ChangeKind = "drop-subscription"
	removeSubscribed  ChangeKind = "remove-subscribed"
	removeOperator    ChangeKind = "remove-operator"
	relaxRequirement  ChangeKind = "relax-requirement"
)

var changeCost = map[ChangeKind]int{
	changePackage: 1, changeStartingCSV: 1, changePin: 1, clearStartingCSV: 1, liftPolicy: 2, changeChannel: 3, changeCatalog: 4, adoptOperator: 5, changeTargets: 5,
	dropSubscription: 6, removeSubscribed: 8, removeOperator: 9, relaxRequirement: 20,
}

// String returns the change as an instruction.
func (c Change) String() string {
	switch c.Kind {
	case changePackage:
		return fmt.Sprintf("set the package of subscription %s to %s", c.Subscription, c.To)
	case changeStartingCSV:
		return fmt.Sprintf("set the startingCSV of subscription %s to %s", c.Subscription, c.To)
	case changePin:
		return c.Advice
	case clearStartingCSV:
		return fmt.Sprintf("remove the startingCSV of subscription %s", c.Subscription)
	case liftPolicy:
		return fmt.Sprintf("remove the policy: %s", c.To)
	case changeChannel:
		text := fmt.Sprintf("set the channel of subscription %s to %s", c.Subscription, c.To)
		if c.DropStartingCSV {
			text += " and remove its startingCSV"
		}
		return text
	case changeCatalog:
		if c.Channel != "" {
			return fmt.Sprintf("switch subscription %s to channel %s of catalog %s", c.Subscription, c.Channel, c.To)
		}
		return fmt.Sprintf("switch subscription %s to catalog %s", c.Subscription, c.To)
	case adoptOperator:
		return fmt.Sprintf("adopt %s: create a subscription to package %s that owns it, so that it can be upgraded", c.Operator, c.To)
	case changeTargets:
		if c.To == "" {
			return "make the operator group select all namespaces"
		}
		return fmt.Sprintf("make the operator group select only namespace %s", c.To)
	case dropSubscription:
		return fmt.Sprintf("delete subscription %s", c.Subscription)
	case removeSubscribed:
		return fmt.Sprintf("delete subscription %s and its operator %s", c.Subscription, c.Operator)
	case removeOperator:
		return fmt.Sprintf("uninstall %s", c.Operator)
	case relaxRequirement:
		return "upstream: " + c.Advice
	}
	return string(c.Kind)
}

// clashes reports whether two changes affect the same object.
func (c Change) clashes(o Change) bool {
	return c.Subscription != "" && c.Subscription == o.Subscription || c.Operator != "" && c.Operator == o.Operator || c.rule != (Policy{}) && c.rule == o.rule
}

// changes returns the changes that can affect the core, cheapest first.
func (c *Core) changes() []Change {
	u := c.e.r.u
	var out []Change
	added := map[Change]bool{}
	add := func(ch Change) {
		if !added[ch] {
			added[ch] = true
			out = append(out, ch)
		}
	}
	for n, f := range c.Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			c.subscriptionChanges(u, u.subs[c.index[n]], add)
		case *fact.Unavailable:
			for _, name := range f.Nearest {
				switch f.What {
				case "package":
					add(Change{Kind: changePackage, Subscription: f.Subscription.Name, To: name})
				case "startingCSV":
					add(Change{Kind: changeStartingCSV, Subscription: f.Subscription.Name, To: name})
				}
			}
			c.subscriptionChanges(u, u.subs[c.index[n]], add)
		case *fact.MustStay:
			add(Change{Kind: removeOperator, Operator: f.Operator.Name})
			if pkg := u.adoptable(f.Operator.Name); pkg != "" {
				add(Change{Kind: adoptOperator, Operator: f.Operator.Name, To: pkg})
			}
		case *fact.PolicyBlocked:
			for _, to := range f.Nearest {
				add(Change{
					Kind: changePin, To: to, Policy: f.Policy.String(), rule: f.Policy,
					Advice: fmt.Sprintf("pin package %s to %s instead of %s", f.Policy.Package, to, f.Policy.Pin),
				})
			}
			add(Change{Kind: liftPolicy, To: f.Policy.String(), rule: f.Policy})
		case *fact.InstallMode:
			for _, ns := range []string{u.p.Namespace, ""} {
				if !slices.Equal(f.Targets, []string{ns}) {
					add(Change{Kind: changeTargets, To: ns})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(changeCost[a.Kind], changeCost[b.Kind]) })
	return out
}

// subscriptionChanges adds the possible changes of one subscription.
func (c *Core) subscriptionChanges(u *universe, s *subscription, add func(Change)) {
	name := s.Name
	if s.StartingCSV != "" && s.current == nil {
		add(Change{Kind: clearStartingCSV, Subscription: name})
	}
	in, others := u.sourcesFor(s)
	for _, cat := range in {
		if p, ok := cat.Graph.Package(s.Package); ok && s.Channel != "" {
			for _, ch := range channelsNear(p, s.Channel) {
				add(Change{Kind: changeChannel, Subscription: name, To: ch, DropStartingCSV: s.dropsStart(in, ch)})
			}
		}
	}
	for _, cat := range others {
		p, ok := cat.Graph.Package(s.Package)
		if !ok {
			continue
		}
		to := Change{Kind: changeCatalog, Subscription: name, To: cat.ID().String(), Catalog: cat.ID()}
		if _, ok := p.Channel(s.Channel); !ok && s.Channel != "" {
			to.Channel = p.DefaultChannelName()
		}
		add(to)
	}
	if s.current == nil {
		add(Change{Kind: dropSubscription, Subscription: name})
	} else {
		add(Change{Kind: removeSubscribed, Subscription: name, Operator: s.current.Name})
	}
}

// channelsNear returns the other channels of a package in the order in which to suggest
// them: the nearest, which is that of the nearest version or else of a similar spelling, the
// default channel, the one with the newest head, then the rest, the nearer first.
func channelsNear(p graph.Package, name string) []string {
	var names []string
	newest, high := "", semver.Version{}
	for ch := range p.Channels() {
		if ch.Name() == name {
			continue
		}
		names = append(names, ch.Name())
		if h, ok := ch.Head(); ok {
			if b, ok := h.Bundle(); ok && (newest == "" || b.Version().GT(high)) {
				newest, high = ch.Name(), b.Version()
			}
		}
	}
	alike := near.ByVersion(name, names)
	if len(alike) == 0 {
		alike = near.Names(name, names, len(names))
	}
	var out []string
	add := func(list ...string) {
		for _, n := range list {
			if slices.Contains(names, n) && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	add(alike[:min(len(alike), 1)]...)
	add(p.DefaultChannelName(), newest)
	add(alike...)
	add(names...)
	return out
}

// dropsStart reports whether a subscription must drop its startingCSV to switch to a
// channel.
func (s *subscription) dropsStart(in []*source, channel string) bool {
	if s.StartingCSV == "" || s.current != nil {
		return false
	}
	for _, c := range in {
		if p, ok := c.Graph.Package(s.Package); ok {
			if ch, ok := p.Channel(channel); ok {
				if _, ok := ch.Entry(s.StartingCSV); ok {
					return false
				}
			}
		}
	}
	return true
}

// adoptable returns the package of an installed operator if a catalog has it, else "".
func (u *universe) adoptable(name string) string {
	in, ok := u.installedNamed(name)
	if !ok {
		return ""
	}
	for _, p := range in.pkgs {
		for _, c := range u.cats {
			if _, ok := c.Graph.Package(p); ok {
				return p
			}
		}
	}
	return ""
}

// apply returns the problem after the change.
func (c Change) apply(p Problem) Problem {
	subs := slices.Clone(p.Subscriptions)
	at := slices.IndexFunc(subs, func(s Subscription) bool { return s.Name == c.Subscription && c.Subscription != "" })
	p.Subscriptions = subs
	switch c.Kind {
	case changePackage:
		subs[at].Package = c.To
	case changeStartingCSV:
		subs[at].StartingCSV = c.To
	case clearStartingCSV:
		subs[at].StartingCSV = ""
	case changeChannel:
		subs[at].Channel = c.To
		if c.DropStartingCSV {
			subs[at].StartingCSV = ""
		}
	case changeCatalog:
		subs[at].Catalog, subs[at].CatalogNamespace = c.Catalog.Name, c.Catalog.Namespace
		subs[at].Channel = cmp.Or(c.Channel, subs[at].Channel)
	case dropSubscription, removeSubscribed:
		p.Subscriptions = slices.Delete(subs, at, at+1)
	case adoptOperator:
		name := c.Operator
		for slices.ContainsFunc(subs, func(s Subscription) bool { return s.Name == name }) {
			name += "-adopted"
		}
		p.Subscriptions = append(subs, Subscription{Name: name, Package: c.To, InstalledCSV: c.Operator})
	case changeTargets:
		p.OperatorGroup = &OperatorGroup{TargetNamespaces: []string{c.To}}
	case changePin:
		p.Policies = slices.Clone(p.Policies)
		for i := range p.Policies {
			if p.Policies[i] == c.rule {
				p.Policies[i].Pin = c.To
			}
		}
	case liftPolicy:
		p.Policies = slices.DeleteFunc(slices.Clone(p.Policies), func(x Policy) bool { return x == c.rule })
	}
	if c.Kind == removeOperator || c.Kind == removeSubscribed {
		p.Installed = slices.DeleteFunc(slices.Clone(p.Installed), func(in Installed) bool { return in.Name == c.Operator })
	}
	return p
}
