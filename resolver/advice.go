package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// An AdviceKind is the reason why a subscription gets no newer version: the kind of its outlook
// ([graph.OutlookKind]), or one of the constants of this type.
type AdviceKind string

const (
	// AdvicePassedOver: a fresh installation takes a bundle because none of the
	// preferred ones is possible.
	AdvicePassedOver AdviceKind = "passed-over"
	// AdviceHeldBack: an installed operator has preferred successors that are not possible.
	AdviceHeldBack AdviceKind = "held-back"
	// AdviceDowngrade: an upgrade on the way of the outlook leads to an older version.
	AdviceDowngrade AdviceKind = "downgrade"
	// AdviceCloses: an upgrade on the way of the outlook closes the way to a newer version.
	AdviceCloses AdviceKind = "closes"
	// AdviceDuplicate: another subscription to the same package owns the operator and upgrades it or, on a
	// fresh installation, gets the same bundle. The outlook is that of the other one.
	AdviceDuplicate AdviceKind = "duplicate"
	// AdvicePinNotMet: the installed operator is at the end of its way, and is not what a policy pins.
	AdvicePinNotMet AdviceKind = "pin-not-met"
	// AdviceUnmanaged: an installed operator has no subscription. The outlook is that of a
	// subscription without a channel.
	AdviceUnmanaged AdviceKind = "unmanaged"
)

// Advice explains why a subscription gets no newer version, and what would help.
type Advice struct {
	Kind AdviceKind `json:"kind"`
	// Subscription is "" for an operator without a subscription.
	Subscription string `json:"subscription"`
	// Also are other subscriptions to the package for which all of this holds. Only duplicates have some.
	Also    []string `json:"also,omitempty"`
	Package string   `json:"package"`
	// Bundle is the installed operator, or the bundle of a fresh installation.
	Bundle string `json:"bundle"`
	// Outlook is how far OLM upgrades the bundle without intervention.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	// DeadEnd is the upgrade of the outlook at which OLM stops, or nil.
	DeadEnd *DeadEnd `json:"deadEnd,omitzero"`
	// Elsewhere is the newest bundle that another catalog has in the channel for a fresh installation, if the
	// subscription names no catalog and the chosen bundle, of a preferred catalog, is older.
	Elsewhere *graph.Target `json:"elsewhere,omitzero"`
	// Rejected are the options that were preferred but not possible, each with the reason.
	// HeldBy lists what keeps these options from being chosen.
	Rejected []*fact.Step `json:"rejected,omitempty"`
	HeldBy   []Holder     `json:"heldBy,omitempty"`
	// Commands change the channel of the subscription as the way of the outlook does, in order.
	// The operator is upgraded as far as a channel leads before the next change.
	Commands []string `json:"commands,omitempty"`
	// Nearer are such commands for the nearer way of the outlook, if it has one.
	Nearer []string `json:"nearer,omitempty"`
	// Fixes are changes with which the subscription gets a bundle that it prefers, least
	// disruptive first, each verified. Only [Solution.AdviceWithFixes] sets them.
	Fixes []*Fix `json:"fixes,omitempty"`
	// Text is the advice as text, on one line.
	Text string `json:"text"`
	// alone is what the way means for other subscriptions of the namespace, if there are any.
	alone string
	// of is what a duplicate duplicates.
	of *subscription
	// pinned is the policy that the operator does not meet.
	pinned *fact.PolicyBlocked
}

// String returns the advice in one line.
func (a Advice) String() string { return a.Text }

// Onward returns how to get further, or "".
func (a Advice) Onward() string { return prose.Onward(a.Outlook) + a.alone }

// Summary returns the advice in one short line, without the details of String.
func (a Advice) Summary() string {
	if a.Kind == AdviceUnmanaged {
		text := a.Bundle + " has no subscription, so OLM does not upgrade it"
		if end := a.Outlook.End(); len(a.Outlook.Steps) > 0 {
			text += " to " + cmp.Or(end.Version, end.Name)
		}
		return text
	}
	if a.Kind == AdviceDuplicate {
		return a.Text
	}
	if a.pinned != nil {
		return a.Bundle + " does not meet a policy: " + a.pinned.Reason()
	}
	if len(a.Rejected) == 0 || len(a.Rejected[0].Bundles) == 0 {
		return withDeadEnd(prose.Summary(a.Outlook)+a.elsewhere(), a.DeadEnd)
	}
	text := a.Bundle + " was chosen instead of "
	if a.Kind == AdviceHeldBack {
		text = a.Bundle + " is not upgraded to "
	}
	return text + a.Rejected[0].Bundles[0].Name + " because " + a.because()
}

// because returns the reason for which the first of the rejected bundles was not chosen, as a clause.
func (a Advice) because() string {
	name := a.Rejected[0].Bundles[0].Name
	for _, h := range held {
		if !slices.Contains(a.HeldBy, h.by) {
			continue
		}
		if why := clash(a.Rejected[0], a.Rejected[0].Bundles[0]); why != "" && h.by == HeldBySubscription {
			return why
		}
		if by := a.inTheWay(a.Rejected[0]); by != "" && h.by == HeldBySubscription {
			return by + " is in the way"
		}
		if x := requirementOf(a.Rejected[0]); x != nil && h.by == HeldByRequirement {
			return name + " requires " + prose.Requirement(x) + ", which cannot be satisfied"
		}
		return strings.ReplaceAll(h.text, "%s", name)
	}
	return "that is not possible"
}

// subscriptions returns all subscriptions that the advice is for.
func (a *Advice) subscriptions() []string { return append([]string{a.Subscription}, a.Also...) }

// For reports whether the advice is for a subscription.
func (a *Advice) For(subscription string) bool {
	return slices.Contains(a.subscriptions(), subscription)
}

// inTheWay returns the first other subscription or operator in the reasons of a step, or "".
func (a Advice) inTheWay(s *fact.Step) string {
	switch f := s.Fact.(type) {
	case *fact.Subscribed:
		if f.Subscription.Name != a.Subscription {
			return "subscription " + f.Subscription.Name
		}
	case *fact.MustStay:
		if f.Operator.Name != a.Bundle {
			return "the installed " + f.Operator.Name
		}
	}
	for _, b := range s.Because {
		if by := a.inTheWay(b); by != "" {
			return by
		}
	}
	return ""
}

// ahead returns the outlook as text, with a newer bundle of another catalog.
func (a *Advice) ahead() string {
	if a.Elsewhere != nil && a.Outlook.Way == nil {
		return prose.Summary(a.Outlook) + a.elsewhere()
	}
	return prose.Outlook(a.Outlook) + a.elsewhere()
}

// elsewhere returns a clause that names a newer bundle of another catalog, or "".
func (a *Advice) elsewhere() string {
	if a.Elsewhere == nil {
		return ""
	}
	if n := a.Outlook.Newest; n == nil && a.Outlook.End().Name == a.Elsewhere.Name {
		return " of catalog " + a.Elsewhere.Catalog
	} else if n != nil && n.Name == a.Elsewhere.Name {
		return "" // which the outlook names
	}
	return fmt.Sprintf("; catalog %s has the newer %s", a.Elsewhere.Catalog, a.Elsewhere.Version)
}

// newerElsewhere returns the newest option of a subscription in the same channel of another catalog if it is newer
// than the given one, which a fresh installation takes because its catalog is preferred, or nil.
func (s *Solution) newerElsewhere(sub, option int) *graph.Target {
	u, list := s.r.u, s.r.options[sub].list
	if x := u.subs[sub]; x.current != nil || x.Source() != (CatalogID{}) || x.StartingCSV != "" {
		return nil
	}
	chosen, newest := u.ref(list[option]), list[option]
	for _, c := range list {
		if v := u.Version(u.ref(c)); u.ref(c).Catalog != chosen.Catalog && u.ref(c).Channel == chosen.Channel && v.GT(u.Version(u.ref(newest))) && len(v.Pre) == 0 {
			newest = c
		}
	}
	ref := u.ref(newest)
	if ref == chosen {
		return nil
	}
	t := &graph.Target{Node: graph.Node{Name: ref.Name, Version: u.Version(ref).String()}, Channel: ref.Channel}
	for _, c := range u.cats {
		if c.ID() == ref.Catalog {
			t.Catalog = u.catalogName(c)
		}
	}
	return t
}

// More returns the advice as lines to print after [Chain.Text], which lists the options
// that were not possible. See [Report.Text] for width and style.
func (a Advice) More(width int, style *Style) string {
	if a.Rejected != nil && (a.Outlook.Kind == graph.OutlookAtHead || a.Outlook.Kind == graph.OutlookStepsAway) {
		return ""
	}
	text := withDeadEnd(a.ahead(), a.DeadEnd) + a.alone
	switch {
	case a.Kind == AdviceKind(graph.OutlookAtHead) && a.Elsewhere == nil: // which the chain states
		text = withDeadEnd(prose.Onward(a.Outlook), a.DeadEnd)
	case a.Kind == AdviceUnmanaged, a.Kind == AdviceDuplicate, a.Kind == AdvicePinNotMet:
		text = a.Text
	}
	t := newWriter(width, style)
	t.Line(nil, text, "  ", "  ")
	a.writeCommands(t)
	return t.String()
}

// writeCommands writes the commands of the ways of the outlook.
func (a *Advice) writeCommands(t *prose.Writer) {
	t.Legs(a.Outlook.Way, a.Commands, "  ")
	if len(a.Nearer) == 0 {
		return
	}
	end := a.Outlook.Nearer.End()
	t.Line(nil, "to get only to "+cmp.Or(end.Version, end.Name)+":", "  ", "  ")
	t.Legs(a.Outlook.Nearer, a.Nearer, "  ")
}

// NeedsAttention reports whether an administrator has to act to get a newer version: the
// operator is stuck, only other channels have newer versions, its upgrades close the way to a newer version, or something other than a policy
// holds it back.
func (a Advice) NeedsAttention() bool {
	switch a.Kind {
	case AdviceKind(graph.OutlookAhead):
		return a.Outlook.Newest != nil || len(a.Commands) > 0
	case AdvicePassedOver, AdviceHeldBack:
		return slices.ContainsFunc(a.HeldBy, func(h Holder) bool { return h != HeldByPin && h != HeldByHold && h != HeldByExclude })
	case AdviceKind(graph.OutlookStuck), AdviceKind(graph.OutlookLoops), AdviceDowngrade, AdviceCloses, AdvicePinNotMet:
		return true
	}
	return false
}

// IsEarly reports whether to act before the next upgrades, which lead back or close a way.
func (a *Advice) IsEarly() bool {
	return a.Kind == AdviceCloses || a.Kind == AdviceDowngrade || a.Kind == AdviceKind(graph.OutlookLoops)
}

// An AdviceList has the advice for several subscriptions, in the order of the subscriptions.
type AdviceList []Advice

// MarshalJSON returns a list, never null.
func (list AdviceList) MarshalJSON() ([]byte, error) { return json.Marshal([]Advice(list)) }

// Advice explains why operators get no newer version. It has an entry for each
// subscription whose operator does not end at the newest head of its package, in the order
// of subscriptions, or one for several of a package if all of it holds for each. Then comes
// one for each operator without a subscription for which a catalog has a newer version, by
// name. It is computed on demand. The error is the context's.
func (s *Solution) Advice(ctx context.Context) (_ AdviceList, err error) { // H40
	if s.r == nil {
		return nil, nil // decoded from a document, not computed by Resolve
	}
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	var out AdviceList
	in, rivals := s.members(), map[*subscription]int{} // the entries about those that duplicate a subscription
	for i := range s.r.u.subs {
		a, err := s.advise(ctx, i, in)
		if err != nil {
			return nil, err
		}
		if a == nil {
			continue
		}
		if k, ok := rivals[a.of]; ok && a.of != nil {
			out[k] = *s.r.u.duplicates(a.of, s.gets(a.of, in), append(out[k].subscriptions(), a.Subscription)...)
			continue
		}
		rivals[a.of] = len(out)
		out = append(out, *a)
	}
	return append(out, s.withoutSubscription(in)...), nil
}

// withoutSubscription returns the advice for the operators that no subscription owns or is satisfied
// with. in has the candidates in the solution.
func (s *Solution) withoutSubscription(in map[cand]bool) (out AdviceList) {
	u := s.r.u
	owned := map[cand]bool{}
	for i, sub := range u.subs {
		if sub.current != nil {
			owned[sub.current.id] = true
		} else if n := s.r.options[i]; n != nil {
			for _, c := range n.list {
				owned[c] = owned[c] || in[c]
			}
		}
	}
	for _, x := range u.installed {
		if !in[x.id] || owned[x.id] || x.Held != "" {
			continue
		}
		pkg := u.adoptable(x.Name)
		if pkg == "" {
			continue
		}
		o := u.outlook(&subscription{Subscription: &Subscription{Package: pkg}}, graph.Node{Name: x.Name, Version: x.version.String()})
		if len(o.Steps) == 0 && o.Newest == nil && !o.EndsEarly() {
			continue
		}
		out = append(out, Advice{
			Kind: AdviceUnmanaged, Package: pkg, Bundle: x.Name, Outlook: o,
			Text: x.Name + " has no subscription, so OLM does not upgrade it. Under a subscription, " + prose.Outlook(o),
		})
	}
	return out
}

// advise returns the advice for subscription i, or nil if there is none. in has the
// candidates in the solution.
func (s *Solution) advise(ctx context.Context, i int, in map[cand]bool) (*Advice, error) {
	u, sub := s.r.u, s.r.u.subs[i]
	if s.r.options[i] == nil {
		return nil, nil
	}
	list := s.r.options[i].list
	at := slices.IndexFunc(list, func(c cand) bool { return in[c] })
	if at < 0 {
		return nil, nil // a partial solution leaves the subscription out
	}
	if o := s.rivalOf(i, in); o != nil {
		return u.duplicates(o, s.gets(o, in), sub.Name), nil
	}
	if sub.current == nil && u.isInstalled(list[at]) {
		return nil, nil // another one owns the operator
	}
	from := u.ref(list[at])
	node := u.node(sub, from)
	a := &Advice{Subscription: sub.Name, Package: sub.Package, Bundle: node.Name, Outlook: u.outlook(sub, node)}
	a.Outlook.Fresh = sub.current == nil
	a.Outlook.Started = a.Outlook.Fresh && sub.StartingCSV == node.Name
	a.Kind = adviceOf(a.Outlook)
	if at > 0 {
		w, err := s.reasons(ctx)
		if err != nil {
			return nil, err
		}
		by, ok := w.cause[list[at]]
		if !ok || by.sub != sub {
			by = cause{sub: sub, owner: noCand, list: list}
		}
		r, err := w.link(ctx, list[at], by)
		if err != nil {
			return nil, err
		}
		if a.Rejected = r.Preferred; len(a.Rejected) > 0 {
			a.Kind = AdviceHeldBack
			if sub.current == nil {
				a.Kind = AdvicePassedOver
			}
			a.HeldBy = holders(a.Rejected)
		}
	}
	if f := u.pinNotMet(sub); f != nil && at == 0 && u.isInstalled(list[at]) {
		a.Kind, a.HeldBy, a.pinned = AdvicePinNotMet, []Holder{HeldByPin}, f
		a.Text = a.Summary()
		a.Text += u.reinstallPinned(sub, &f.Policy)
		return a, nil
	}
	ends := a.Outlook.Kind == graph.OutlookAtHead || a.Outlook.Kind == graph.OutlookStepsAway
	done := len(a.Outlook.Steps) == 0 || len(a.Outlook.Steps) == 1 && !a.Outlook.Fresh
	rebuilds := slices.ContainsFunc(a.Outlook.Steps, func(s graph.Step) bool { return s.Rebuilds() })
	if ends && done && !rebuilds && a.Rejected == nil && a.Outlook.Newest == nil && a.Outlook.Downgrade == nil {
		return nil, nil // the operator is at the head, or this solution upgrades it to the head
	}
	if a.Rejected != nil {
		a.Text = prose.Rejected(from, sub.current != nil, a.Rejected)
	} else {
		o, dead, walkable := u.avoidDeadEnds(ctx, s.r.needs, sub, a.Outlook)
		a.Outlook = o
		var err error
		if a.DeadEnd, err = s.deadEnd(ctx, sub, a.Outlook); err != nil {
			return nil, err
		}
		a.DeadEnd = cmp.Or(a.DeadEnd, dead)
		if !u.isInstalled(list[at]) {
			if _, b := u.entry(list[at]); u.misfit(ctx, b) != nil {
				a.DeadEnd = nil // what is installed next does not run, which an obstacle states
			}
		}
		a.Elsewhere = s.newerElsewhere(i, at)
		if len(u.subs) > 1 {
			a.alone = prose.Alone(a.Outlook)
		}
		a.Text = withDeadEnd(a.ahead(), a.DeadEnd) + a.alone
		if walkable && (a.Elsewhere == nil || a.Outlook.Way != nil) {
			a.Commands = u.wayCommands(sub, a.Outlook)
		}
		if walkable && a.Outlook.Nearer != nil {
			a.Nearer = u.legCommands(sub, a.Outlook.Nearer)
		}
	}
	return a, nil
}

// duplicates returns the advice for subscriptions that duplicate another one. bundle is the operator
// that the other one owns or, if it owns none, what it gets.
func (u *universe) duplicates(owner *subscription, bundle Ref, names ...string) *Advice {
	from := u.node(owner, bundle)
	a := &Advice{
		Kind: AdviceDuplicate, Subscription: names[0], Also: names[1:], Package: owner.Package, Bundle: from.Name,
		Outlook: u.outlook(owner, from), HeldBy: []Holder{HeldBySubscription}, of: owner,
	}
	who, gets := "subscription "+names[0]+" requests", "it gets"
	if len(names) > 1 {
		who, gets = "subscriptions "+phrase.And(names)+" request", "they get"
	}
	who += " the same package as subscription " + owner.Name
	both := owner.current != nil && slices.ContainsFunc(owner.current.owners, func(o *subscription) bool { return o.Name == names[0] })
	switch {
	case owner.current == nil:
		a.Outlook.Fresh = true
		a.Text = fmt.Sprintf("%s; one subscription is enough to install %s", who, bundle.Name)
	case both:
		a.Text = fmt.Sprintf("%s, and each owns %s; one subscription is enough", who, from.Name)
	default:
		a.Text = fmt.Sprintf("%s, which owns %s, so %s only what that operator is upgraded to", who, from.Name, gets)
	}
	return a
}

// adviceOf returns the kind of the advice that an outlook gives on its own.
func adviceOf(o *graph.Outlook) AdviceKind {
	if ends := o.Kind == graph.OutlookAtHead || o.Kind == graph.OutlookStepsAway; ends && o.Downgrade != nil {
		return AdviceDowngrade
	} else if ends && o.Closes != nil {
		return AdviceCloses
	}
	return AdviceKind(o.Kind)
}

// deadEnd returns the first dead end in an outlook of a subscription, or nil.
func (s *Solution) deadEnd(ctx context.Context, sub *subscription, o *graph.Outlook) (*DeadEnd, error) { // H40
	d := s.r.u.deadEnd(ctx, s.r.needs, sub, o.Steps)
	h, err := s.halt(ctx, sub, o)
	if h != nil && (d == nil || h.step < d.step) {
		d = h
	}
	return d, err
}

// halt returns the upgrade of an outlook of a subscription that other subscriptions and operators of the namespace do not
// let happen, or nil.
func (s *Solution) halt(ctx context.Context, sub *subscription, o *graph.Outlook) (*DeadEnd, error) { // H40
	if s.off != nil || len(o.Steps) < 2 && !(o.Fresh && len(o.Steps) > 0) || len(s.r.u.subs)+len(s.r.u.installed) < 2 {
		return nil, nil
	}
	x, err := s.settle(ctx)
	if x == nil || err != nil {
		return nil, err
	}
	step := slices.IndexFunc(o.Steps, func(y graph.Step) bool { return y.From.Name == x.owned[sub.Name] })
	if step < 0 {
		return nil, nil
	}
	d := &DeadEnd{At: o.Steps[step].From, Bundle: o.Steps[step].To, step: step}
	if x.no != nil {
		d.Because = x.no.Cores[0].headline
		return d, nil
	}
	a, err := x.last.advise(ctx, x.index[sub.Name], x.in)
	if a == nil || len(a.Rejected) == 0 || err != nil {
		return nil, err
	}
	d.Because = rejection(a.Rejected[0], a.inTheWay(a.Rejected[0]), a.because())
	return d, nil
}
