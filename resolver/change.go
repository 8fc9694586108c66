package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Change is a single change by an administrator or a catalog author.
type Change struct {
	// Kind is what changes.
	Kind ChangeKind `json:"kind"`
	// Subscription is the name of the subscription that changes or is created.
	Subscription string `json:"subscription,omitempty"`
	// Operator is the installed operator that changes, or that stays when its subscription is deleted.
	Operator string `json:"operator,omitempty"`
	// To is the new value: a channel, a catalog as [fact.CatalogID.String] writes it, a
	// package, a bundle, a version, a range to exclude. It is the package of a new subscription
	// that adopts an operator, and empty if an existing one does.
	To string `json:"to,omitempty"`
	// Catalog is the new catalog.
	Catalog CatalogID `json:"catalog,omitzero"`
	// Channel is the new channel if it changes together with the catalog or the package, or the channel to
	// install from again.
	Channel string `json:"channel,omitempty"`
	// ChannelIs is "default" or "newest" if To replaces a channel that does not exist, and is the
	// default channel of the package, or the one with the newest head.
	ChannelIs string `json:"channelIs,omitempty"`
	// Then is how to go on when the operator has been upgraded, if the change is the first of a way
	// ([graph.Outlook.Way]) through several channels.
	Then string `json:"then,omitempty"`
	// StartingCSV is the new startingCSV if it changes together with the channel or the catalog.
	StartingCSV string `json:"startingCSV,omitempty"`
	// DropStartingCSV reports whether the startingCSV is also removed.
	DropStartingCSV bool `json:"dropStartingCSV,omitzero"`
	// Manual reports whether installPlanApproval is also set to Manual, to keep OLM from going too far.
	Manual bool `json:"manual,omitzero"`
	// Policy is the policy that changes, as [fact.Policy.String] writes it.
	Policy string `json:"policy,omitempty"`
	// Rule is that policy as data.
	Rule Policy `json:"rule,omitzero"`
	// Bundle, Requirement and Place identify what has to change upstream.
	Bundle      Ref         `json:"bundle,omitzero"`
	Requirement string      `json:"requirement,omitempty"`
	Place       *fact.Place `json:"place,omitzero"`
	// Advice is the change as an instruction. It is set only for some kinds.
	Advice string `json:"advice,omitempty"`

	leads bool // it is the first of a way
	order int  // of the channels of a subscription with an operator, from 1: the best first
}

// A ChangeKind is a kind of change. The constants are in the order in which fixes are
// offered, least disruptive first.
type ChangeKind string

const (
	AddCatalog        ChangeKind = "add-catalog"         // add a catalog, or make one visible to the namespace
	ChangePackage     ChangeKind = "change-package"      // correct the name of the package, or follow a package that was renamed
	ChangeStartingCSV ChangeKind = "change-starting-csv" // set the startingCSV to a bundle that exists
	ChangePin         ChangeKind = "change-pin"          // pin a version or bundle that exists
	ExcludeNewer      ChangeKind = "exclude-newer"       // exclude what is newer than a pinned version, instead of the pin
	ClearStartingCSV  ChangeKind = "clear-starting-csv"  // remove the startingCSV
	LiftPolicy        ChangeKind = "lift-policy"         // remove a policy
	ChangeChannel     ChangeKind = "change-channel"      // set the channel of a subscription
	ChangeCatalog     ChangeKind = "change-catalog"      // switch a subscription to another catalog
	AdoptOperator     ChangeKind = "adopt-operator"      // create a subscription that owns an operator
	ChangeTargets     ChangeKind = "change-targets"      // change the namespaces that the operator group selects
	DropSubscription  ChangeKind = "drop-subscription"   // delete a subscription
	RemoveSubscribed  ChangeKind = "remove-subscribed"   // delete a subscription and the operator that it owns
	RemoveOperator    ChangeKind = "remove-operator"     // uninstall an operator
	Reinstall         ChangeKind = "reinstall"           // uninstall an operator, and install it from a channel
	RelaxRequirement  ChangeKind = "relax-requirement"   // change a requirement in the catalog
)

var changeCost = map[ChangeKind]int{
	AddCatalog: 1, ChangePackage: 1, ChangeStartingCSV: 1, ChangePin: 1, ExcludeNewer: 1, ClearStartingCSV: 1, LiftPolicy: 2, ChangeChannel: 3, ChangeCatalog: 4, AdoptOperator: 5, ChangeTargets: 5,
	DropSubscription: 6, Reinstall: 7, RemoveSubscribed: 8, RemoveOperator: 9, RelaxRequirement: 20,
}

const (
	channelDefault = "default"
	channelNewest  = "newest"
)

// removes reports whether the change removes a subscription or an operator.
func (c Change) removes() bool {
	return c.Kind == DropSubscription || c.Kind == RemoveSubscribed || c.Kind == RemoveOperator
}

// clashes reports whether two changes affect the same object.
func (c Change) clashes(o Change) bool {
	return c.Subscription != "" && c.Subscription == o.Subscription || c.Operator != "" && c.Operator == o.Operator || c.Rule != (Policy{}) && c.Rule == o.Rule
}

// partOf reports whether another change is the same, or does the same and also removes the
// startingCSV.
func (c Change) partOf(o Change) bool {
	o.DropStartingCSV = o.DropStartingCSV && c.DropStartingCSV
	return c == o
}

// changes returns the changes that can affect the core, cheapest first.
func (c *Core) changes() []Change {
	u := c.e.r.u
	var out []Change
	added := map[Change]bool{}
	elsewhere := c.elsewhere()
	add := func(ch Change) {
		if ch.DropStartingCSV && elsewhere != "" {
			return
		}
		key := ch
		key.ChannelIs, key.order = "", 0 // catalogs may differ in this
		if !added[key] {
			added[key] = true
			out = append(out, ch)
		}
	}
	for n, f := range c.Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			c.subscriptionChanges(u, u.subs[c.index[n]], add)
		case *fact.Unavailable:
			for _, name := range f.Nearest {
				switch {
				case f.Crowded:
				case f.What == "package":
					add(Change{Kind: ChangePackage, Subscription: f.Subscription.Name, To: name})
				case f.What == "startingCSV":
					add(Change{Kind: ChangeStartingCSV, Subscription: f.Subscription.Name, To: name})
				}
			}
			s := u.subs[c.index[n]]
			c.subscriptionChanges(u, s, add)
			if s.current != nil { // it stays
				add(Change{Kind: DropSubscription, Subscription: s.Name, Operator: s.current.Name})
			}
		case *fact.MustStay:
			remove := Change{Kind: RemoveOperator, Operator: f.Operator.Name}
			if in, ok := u.installedNamed(f.Operator.Name); ok && in.HeldSubscription != "" {
				remove.Kind, remove.Subscription = RemoveSubscribed, in.HeldSubscription
			}
			add(remove)
			if pkg := u.adoptable(f.Operator.Name); pkg != "" && f.Held == "" {
				add(c.adoption(f.Operator.Name, pkg))
			}
		case *fact.PolicyBlocked:
			for _, to := range f.Nearest {
				add(Change{
					Kind: ChangePin, To: to, Policy: f.Policy.String(), Rule: f.Policy,
					Advice: fmt.Sprintf("pin package %s to %s instead of %s", f.Policy.Package, to, f.Policy.Pin),
				})
			}
			if f.PinFault == "ahead" {
				to := u.pins[f.Policy].exclude
				add(Change{
					Kind: ExcludeNewer, To: to, Policy: f.Policy.String(), Rule: f.Policy,
					Advice: fmt.Sprintf("exclude %s of package %s instead of pinning %s, so that OLM takes the steps up to it", to, f.Policy.Package, f.Policy.Pin),
				})
			}
			add(Change{Kind: LiftPolicy, To: f.Policy.String(), Rule: f.Policy})
		case *fact.InstallMode:
			for _, ns := range []string{u.p.Namespace, ""} {
				if !slices.Equal(f.Targets, []string{ns}) {
					add(Change{Kind: ChangeTargets, To: ns})
				}
			}
		}
	}
	c.visible(add)
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(changeCost[a.Kind], changeCost[b.Kind]) })
	return out
}

// elsewhere returns the startingCSV that the channel of a subscription lacks and other channels have, or "".
func (c *Core) elsewhere() string {
	for _, f := range c.Facts {
		if q, ok := f.(*fact.Unavailable); ok && len(q.Elsewhere) > 0 {
			return q.Subscription.StartingCSV
		}
	}
	return ""
}

// subscriptionChanges adds the possible changes to one subscription.
func (c *Core) subscriptionChanges(u *universe, s *subscription, add func(Change)) {
	name := s.Name
	if s.StartingCSV != "" && s.current == nil {
		add(Change{Kind: ClearStartingCSV, Subscription: name})
	}
	in, others := u.sourcesFor(s)
	first, then := u.firstLeg(s, in)
	for _, cat := range in {
		if p, ok := cat.Graph.Package(s.Package); ok && s.Channel != "" {
			channels, _, newest := channelsNear(p, s.Channel)
			routes := u.routes(s, channels)
			for i, ch := range channels {
				to := Change{Kind: ChangeChannel, Subscription: name, To: ch, DropStartingCSV: s.dropsStart(in, ch)}
				if s.current != nil {
					to.Then, to.Manual, to.leads, to.order = routes[ch].then, routes[ch].stop, routes[ch].leads, i+1
				}
				_, exists := p.Channel(s.Channel)
				switch {
				case exists: // so the reader does not choose among all channels
				case ch == p.DefaultChannelName():
					to.ChannelIs = channelDefault
				case ch == newest:
					to.ChannelIs = channelNewest
				}
				add(to)
				if s.StartingCSV != "" && s.current == nil {
					to.DropStartingCSV = true
					add(to)
				}
			}
		}
	}
	for _, cat := range others {
		p, ok := cat.Graph.Package(s.Package)
		if !ok {
			continue
		}
		to := Change{Kind: ChangeCatalog, Subscription: name, To: cat.ID().String(), Catalog: cat.ID()}
		if _, ok := p.Channel(s.Channel); !ok && s.Channel != "" {
			to.Channel = p.DefaultChannelName()
		}
		if first.Catalog == u.catalogName(cat) && first.Channel != s.Channel {
			lead := to
			lead.Channel, lead.Then, lead.leads = first.Channel, then, true
			add(lead)
		}
		add(to)
	}
	if s.current == nil {
		add(Change{Kind: DropSubscription, Subscription: name})
	} else {
		add(Change{Kind: RemoveSubscribed, Subscription: name, Operator: s.current.Name})
	}
}

// firstLeg returns the first leg of the way of the operator that a subscription owns, if none of its
// catalogs has its channel, and how to continue then. Otherwise, the leg is empty.
func (u *universe) firstLeg(s *subscription, in []*source) (leg graph.Leg, then string) {
	if s.current == nil || slices.ContainsFunc(in, func(c *source) bool { return len(u.channels(s, c)) > 0 }) {
		return graph.Leg{}, ""
	}
	w := u.outlook(s, graph.Node{Name: s.current.Name, Version: s.current.version.String()}).Way
	if w == nil || w.Legs[0].Stop {
		return graph.Leg{}, ""
	}
	if leg = w.Legs[0]; len(w.Legs) > 1 {
		end := w.End()
		then = fmt.Sprintf("to get to %s, %s", cmp.Or(end.Version, end.Name), prose.Way(&graph.Way{Legs: w.Legs[1:]}, graph.Classic, leg.Catalog, leg.Channel))
	}
	return leg, then
}

// targets returns the heads from which an operator can be installed again, the best first.
func targets(o *graph.Outlook) (list []*graph.Target) {
	for _, t := range []*graph.Target{o.Newest, o.Head} {
		if t != nil && (t == o.Newest || o.EndsEarly() || o.Kind == graph.OutlookNoChannel) {
			list = append(list, t)
		}
	}
	return list
}

// installAgain returns the changes that install the stuck operator of a subscription again, the best
// first. It returns none for a subscription that only a fix creates.
func (u *universe) installAgain(name, operator string, o *graph.Outlook) (list []Change) {
	i := slices.IndexFunc(u.subs, func(x *subscription) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	for _, t := range targets(o) {
		c := Change{Kind: Reinstall, Subscription: name, Operator: operator, Channel: t.Channel}
		if id, source := u.catalogNamed(t.Catalog), u.subs[i].Source(); source != (CatalogID{}) && id != source {
			c.Catalog, c.To = id, t.Catalog
		}
		list = append(list, c)
	}
	return list
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

// packages returns the packages of an installed operator: those of its properties or, if they name none, those that have
// a bundle of its name.
func (u *universe) packages(in *installed) []string {
	if len(in.pkgs) > 0 {
		return in.pkgs
	}
	var list []string
	for _, c := range u.cats {
		for p := range c.Graph.Packages() {
			if _, ok := p.Bundle(in.Name); ok {
				list = append(list, p.Name())
			}
		}
	}
	return list
}

// adoptable returns the package of an installed operator if a catalog has it, else "".
func (u *universe) adoptable(name string) string {
	in, ok := u.installedNamed(name)
	if !ok {
		return ""
	}
	for _, p := range u.packages(in) {
		for _, c := range u.cats {
			if _, ok := c.Graph.Package(p); ok {
				return p
			}
		}
	}
	return ""
}

// surplus reports whether an installed operator has no subscription, and one owns another operator of its package.
func (u *universe) surplus(name string) bool {
	in, ok := u.installedNamed(name)
	if !ok || in.HeldSubscription != "" || len(in.owners) > 0 {
		return false
	}
	pkgs := u.packages(in)
	has := func(pkg string) bool { return slices.Contains(pkgs, pkg) }
	return slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.current != nil && has(s.Package) }) ||
		slices.ContainsFunc(u.installed, func(o *installed) bool { return o.HeldSubscription != "" && slices.ContainsFunc(o.pkgs, has) })
}

// adoption returns the change that gives an installed operator a subscription: the first one to its
// package that owns none and is not in another core, or else a new one.
func (c *Core) adoption(operator, pkg string) Change {
	for i, s := range c.e.r.u.subs {
		if s.Package == pkg && s.current == nil && !c.foreign(i) {
			return Change{Kind: AdoptOperator, Subscription: s.Name, Operator: operator}
		}
	}
	return c.e.r.u.newOwner(operator, pkg)
}

// newOwner returns the change that gives an installed operator a new subscription, which names the first
// visible catalog with the package.
func (u *universe) newOwner(operator, pkg string) Change {
	name := operator
	for slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.Name == name }) {
		name += "-adopted"
	}
	out := Change{Kind: AdoptOperator, Subscription: name, Operator: operator, To: pkg}
	for _, cat := range u.cats {
		if _, ok := cat.Graph.Package(pkg); ok && cat.Namespace != "" {
			out.Catalog = cat.ID()
			break
		}
	}
	return out
}

// suggests reports whether a change sets a channel that the core suggests in place of a missing one; missing is
// false for other changes.
func (c *Core) suggests(ch Change) (is, missing bool) {
	for _, f := range c.Facts {
		if q, ok := f.(*fact.Unavailable); ok && q.What == "channel" && ch.Kind == ChangeChannel && ch.Subscription == q.Subscription.Name {
			return slices.Contains(q.Nearest, ch.To), true
		}
	}
	return false, false
}

// visible adds changes that make the other loaded catalogs visible to the namespace, if
// the core lacks something that they might contain.
func (c *Core) visible(add func(Change)) {
	u := c.e.r.u
	missing := slices.ContainsFunc(c.Facts, func(f fact.Fact) bool {
		q, ok := f.(*fact.Unavailable)
		return ok && q.What != "startingCSV" || c.e.r.u.nowhere(f) != nil
	})
	if !missing {
		return
	}
	for _, x := range u.p.Catalogs {
		id := x.ID()
		if x.Graph == nil || x.Unhealthy != "" || u.p.sees(id) {
			continue
		}
		subscription := ""
		for _, f := range c.Facts {
			if q, ok := f.(*fact.Unavailable); ok && q.Subscription.Source() == id {
				subscription = q.Subscription.Name
			}
		}
		add(u.p.copied(id, subscription))
	}
}

// copied returns the change that creates a catalog of another namespace in that of the problem, and switches the named
// subscription, if any, to it.
func (p *Problem) copied(id CatalogID, subscription string) Change {
	c := Change{Kind: AddCatalog, Catalog: id, To: p.Namespace, Subscription: subscription,
		Advice: fmt.Sprintf("also create catalog %s in namespace %s, which does not see the one in namespace %s", id.Name, p.Namespace, id.Namespace)}
	if subscription != "" {
		c.Advice += fmt.Sprintf(", and set the sourceNamespace of subscription %s to %s", subscription, p.Namespace)
	}
	return c
}

// renamed returns the change with which a subscription follows its operator to a package of another name, in which an
// entry replaces or skips the operator, or nil. Of several channels, it is to the default one.
func (u *universe) renamed(s *subscription, pkg string) *Change {
	if s.current == nil || pkg == s.Package {
		return nil
	}
	var to *Change
	in, _ := u.sourcesFor(s)
	for _, src := range in {
		p, ok := src.Graph.Package(pkg)
		if !ok {
			continue
		}
		for ch := range p.Channels() {
			follows := func(e graph.Entry) bool {
				return e.Replaces() == s.current.Name || slices.Contains(slices.Collect(e.Skips()), s.current.Name)
			}
			if (to == nil || ch.IsDefault()) && slices.ContainsFunc(slices.Collect(ch.Order()), follows) {
				to = &Change{Kind: ChangePackage, Subscription: s.Name, To: pkg, Channel: ch.Name()}
			}
		}
	}
	return to
}

// renames returns the sets of changes with which a subscription of the core follows its operator to another package of
// the core. They delete the subscriptions to that package that own nothing, because one is enough.
func (c *Core) renames() (sets [][]Change) {
	u := c.e.r.u
	var pkgs []string
	add := func(x cand) {
		if pkg := u.ref(x).Package; !slices.Contains(pkgs, pkg) {
			pkgs = append(pkgs, pkg)
		}
	}
	for _, i := range c.index {
		for _, x := range c.e.facts[i].list {
			add(x)
		}
		if need := c.e.facts[i].need; need != nil {
			need.each(add)
		}
	}
	for i, s := range u.subs {
		for _, pkg := range pkgs {
			to := u.renamed(s, pkg)
			if to == nil || c.foreign(i) {
				continue
			}
			var set []Change
			for k, o := range u.subs {
				if o.Package == pkg && o.current == nil && !c.foreign(k) {
					set = append(set, Change{Kind: DropSubscription, Subscription: o.Name})
				}
			}
			sets = append(sets, append(set, *to))
		}
	}
	return sets
}
