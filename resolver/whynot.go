package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A WhyNot is the reason why a bundle is not part of a solution.
type WhyNot struct {
	Bundle Ref     `json:"bundle"`
	Pos    fbc.Pos `json:"-"`
	// Text is the reason without the name of the bundle.
	Text string `json:"text"`
	// Against derives why the bundle is not possible. It is nil if the bundle is possible.
	Against *fact.Step `json:"against,omitzero"`
	// Outlook is how far the installed operator gets, if the bundle is not its successor.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	// Commands lead to the bundle, or on the way of the outlook.
	Commands []string `json:"commands,omitempty"`
	// Fixes are those of a stuck operator ([Solution.Fixes]), or a change with which the bundle is
	// installed.
	Fixes []*Fix `json:"fixes,omitempty"`

	follow *Change    // follows the channel or the package of the bundle, or nil
	first  string     // the bundle that is then installed first, if it is another one
	way    *graph.Way // of the commands, or nil
}

// String returns the bundle, its catalog and channel, and the reason.
func (w WhyNot) String() string { return w.in(w.Bundle.Channel) }

// in is String for some channels.
func (w *WhyNot) in(channels ...string) string {
	if w.Bundle.Installed() {
		return w.Bundle.Name + " " + w.Text
	}
	from := w.Bundle.Catalog.String()
	if w.Bundle.Channel != "" {
		from += ", " + phrase.Plural(len(channels), "channel") + " " + phrase.And(channels)
	}
	return fmt.Sprintf("%s (%s) %s", w.Bundle.Name, from, strings.TrimSpace(w.Text))
}

// WhyNots are the reasons why a bundle is not part of a solution, one for each catalog
// and channel that has it, or for each of those that a subscription follows. See [Solution.WhyNot].
type WhyNots []WhyNot

// MarshalJSON returns a list, never null.
func (list WhyNots) MarshalJSON() ([]byte, error) { return json.Marshal([]WhyNot(list)) }

// Text returns the reasons, and one for several channels if it is the same. See [Report.Text]
// for width and style.
func (list WhyNots) Text(width int, style *Style) string {
	t := newWriter(width, style)
	for i := 0; i < len(list); {
		w, channels := &list[i], []string(nil)
		same := func(o *WhyNot) bool {
			return o.Bundle.Catalog == w.Bundle.Catalog && o.Bundle.Package == w.Bundle.Package && o.Text == w.Text && o.Against == nil
		}
		for channels = append(channels, w.Bundle.Channel); w.Against == nil && i+len(channels) < len(list) && same(&list[i+len(channels)]); {
			channels = append(channels, list[i+len(channels)].Bundle.Channel)
		}
		i += len(channels)
		t.Line(t.Style.Headline, w.in(channels...), "", "")
		if w.Pos.IsValid() {
			t.Places([]fact.Place{*fact.PlaceOf(w.Bundle, w.Pos)}, "  ")
		}
		if w.Against != nil {
			t.Reasons(w.Against, "  ")
		}
		if i < len(list) && list[i].Outlook != nil && slices.Equal(list[i].Commands, w.Commands) {
			continue // what follows comes once
		}
		if i < len(list) && slices.EqualFunc(list[i].Fixes, w.Fixes, func(a, b *Fix) bool { return a.String() == b.String() }) {
			continue
		}
		t.Legs(w.way, w.Commands, "  ")
		writeFixes(t, "", w.Fixes)
	}
	return t.String()
}

// WhyNot returns why the solution does not contain a bundle, for each catalog and channel
// that has it, in the order of catalogs and channels. Those that no subscription to the package follows
// are left out if some subscription follows another one that has the bundle. The error is the context's,
// or reports that no catalog has the bundle.
func (s *Solution) WhyNot(ctx context.Context, name string) (WhyNots, error) {
	list, err := s.whyNot(ctx, name)
	var advice AdviceList
	for i := range list {
		if to := list[i].follow; to != nil && err == nil {
			list[i].Fixes, err = s.followed(ctx, *to, cmp.Or(list[i].first, name))
		}
		o := list[i].Outlook
		if o == nil && list[i].Against == nil || err != nil {
			continue
		}
		if advice == nil {
			if advice, err = s.Advice(ctx); err != nil {
				return nil, err
			}
		}
		if o == nil {
			list[i].Fixes, err = s.obtained(ctx, advice, list[i].Bundle)
			continue
		}
		for k := range advice { // a step on the way is held back
			if a := &advice[k]; a.Kind == AdviceHeldBack && a.Bundle == o.From.Name {
				list[i].Text += ". But " + a.Summary()
				list[i].Fixes, err = s.Fixes(ctx, a, 0)
			}
		}
		for _, sub := range s.r.u.subs {
			if a := (&Advice{Kind: adviceOf(o), Subscription: sub.Name, Package: sub.Package, Bundle: o.From.Name, Outlook: o}); err == nil && a.hopeless() && sub.InstalledCSV == o.From.Name {
				list[i].Fixes, err = s.reinstalled(ctx, a)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// obtained returns the fixes of an advice that passes over a bundle with which that bundle is installed.
func (s *Solution) obtained(ctx context.Context, advice AdviceList, to Ref) ([]*Fix, error) {
	for i := range advice {
		if a := &advice[i]; a.Package == to.Package && len(a.Rejected) > 0 {
			list, err := s.Fixes(ctx, a, 0)
			return slices.DeleteFunc(list, func(f *Fix) bool {
				return !slices.ContainsFunc(f.Selected, func(x Selected) bool { return x.Name == to.Name })
			}), err
		}
	}
	return nil, nil
}

// followed returns the fix with which a subscription follows the channel of a bundle, if it does not yet, and gets it: as
// the head or, if no operator is installed, as its startingCSV, without another channel if possible.
func (s *Solution) followed(ctx context.Context, to Change, name string) ([]*Fix, error) {
	for _, c := range s.r.u.toward(to, name) {
		list, err := s.tested(ctx, func(sol *Solution) bool {
			return slices.ContainsFunc(sol.Selected, func(x Selected) bool { return x.Name == name })
		}, c)
		if len(list) > 0 || err != nil {
			return list, err
		}
	}
	return nil, nil
}

// toward returns the changes of a subscription that [Solution.followed] tries in order, of which to is the one that
// follows the channel of the bundle.
func (u *universe) toward(to Change, name string) (changes []Change) {
	if to.Kind != "" {
		changes = append(changes, to)
	}
	if i := slices.IndexFunc(u.subs, func(x *subscription) bool { return x.Name == to.Subscription }); u.subs[i].current == nil {
		const then = "OLM upgrades it to the head of the channel, unless installPlanApproval is Manual"
		changes = append(changes, Change{Kind: ChangeStartingCSV, Subscription: to.Subscription, To: name, Then: then})
		if to.StartingCSV, to.Then = name, then; to.Kind != "" {
			changes = append(changes, to)
		}
	}
	return changes
}

func (s *Solution) whyNot(ctx context.Context, name string) (_ WhyNots, err error) {
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	w, err := s.reasons(ctx)
	if err != nil {
		return nil, err
	}
	if in, ok := w.r.u.installedNamed(name); ok {
		if w.has(in.id) {
			return WhyNots{{Bundle: w.r.u.ref(in.id), Text: "is installed already, and stays"}}, nil
		}
		for _, c := range w.order {
			if to := w.r.u.ref(c); slices.Contains(in.pkgs, to.Package) {
				return WhyNots{w.r.u.leaves(in, to)}, nil
			}
		}
	}
	return w.r.u.entries(name, func(e graph.Entry, c cand) (WhyNot, bool, error) {
		x, err := w.not(ctx, c)
		return x, w.has(c), err
	})
}

// entries returns why a bundle is not part of a plan, for each entry with the bundle that some subscription follows or,
// if there is none, for all. in reports whether it is part of the plan.
func (u *universe) entries(name string, why func(graph.Entry, cand) (x WhyNot, in bool, err error)) (WhyNots, error) {
	var out, followed []WhyNot
	for _, src := range u.cats {
		for p := range src.Graph.Packages() {
			b, ok := p.Bundle(name)
			if !ok {
				continue
			}
			if len(slices.Collect(b.Entries())) == 0 {
				out = append(out, WhyNot{Bundle: Ref{Catalog: src.ID(), Package: p.Name(), Name: name}, Pos: b.Pos(), Text: "is not in any channel of package " + p.Name()})
			}
			for e := range b.Entries() {
				x, in, err := why(e, src.first+cand(e.Index()))
				if err != nil {
					return nil, err
				}
				if in {
					return WhyNots{x}, nil
				}
				out = append(out, x)
				if slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.Package == p.Name() && s.following(u, e) == nil }) {
					followed = append(followed, x)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no catalog has a bundle %q", name)
	}
	if len(followed) > 0 {
		return followed, nil // channels that nothing follows do not matter then
	}
	return out, nil
}

// not returns why the solution does not contain a candidate.
func (w *why) not(ctx context.Context, c cand) (WhyNot, error) {
	u := w.r.u
	e, b := u.entry(c)
	out := WhyNot{Bundle: u.ref(c), Pos: b.Pos()}
	if w.has(c) {
		out.Text = "is part of the solution"
		if m := u.misfit(ctx, b); m != nil {
			out.Text += ", but " + m.Why
		}
		return out, nil
	}
	if x := u.newer(b); x != nil {
		out.Text = "is older than the installed " + x.Name + ", and no upgrade leads back to it"
		return out, nil
	}
	_, reached := w.e.vars[c]
	if _, ok := e.Rank(); !ok {
		if !reached {
			out.Text = "cannot be selected: " + hiddenEntry(e).Reason()
			if err := e.Channel().Err(); err != nil {
				out.Text = fmt.Sprintf("cannot be selected: its channel is broken: %v", err)
				return out, nil
			}
			out.follow = u.starting(b, e)
			return out, nil
		}
	}
	if !reached {
		out.Text = "is not needed: no request leads to it"
		x, err := w.astray(ctx, b, e)
		if err != nil {
			return out, err
		}
		if x != nil {
			out.Outlook, out.Text, out.Commands, out.follow, out.first, out.way = x.Outlook, x.Text, x.Commands, x.follow, x.first, x.way
		}
		if q, ok := u.policyBlocks(c).(*fact.PolicyBlocked); ok {
			out.Text += "; it is also blocked by a policy: " + q.Reason()
		}
		return out, nil
	}
	s, err := w.against(ctx, c, 0)
	if err != nil {
		return out, err
	}
	if s != nil {
		out.Text, out.Against = "cannot be part of any solution", w.e.narrator.Reject(s)
		return out, nil
	}
	// It is possible, so a preference decided against it.
	for _, got := range w.order {
		by := w.cause[got]
		mine, its := slices.Index(by.list, c), slices.Index(by.list, got)
		if mine < 0 {
			continue
		}
		asker := "the request"
		if by.sub != nil {
			asker = "subscription " + by.sub.Name
		} else if by.owner != noCand {
			asker = u.ref(by.owner).Name
		}
		if mine > its {
			out.Text = fmt.Sprintf("is possible, but %s prefers %s: %s", asker, u.ref(got).Name, w.preferred(got, c, by))
			out.follow = u.starting(b, e)
			return out, nil
		}
		s, err := w.against(ctx, c, by.before)
		if err != nil {
			return out, err
		}
		if s != nil {
			out.Text, out.Against = fmt.Sprintf("was preferred by %s, but conflicts with earlier choices", asker), w.e.narrator.Reject(s)
			return out, nil
		}
	}
	out.Text = "is possible, but nothing in the solution needs it"
	return out, nil
}

// starting returns the change with which a fresh installation may begin with a bundle, or nil.
func (u *universe) starting(b graph.Bundle, e graph.Entry) *Change {
	for _, s := range u.subs {
		if s.Package != b.Package().Name() || s.current != nil {
			continue
		}
		to := s.following(u, e)
		if to == nil {
			to = &Change{Subscription: s.Name}
			if in, _ := u.sourcesFor(s); s.Source() == (CatalogID{}) && len(in) > 1 {
				i := slices.IndexFunc(in, func(c *source) bool { return c.Graph == b.Package().Catalog() })
				to.Kind, to.Catalog, to.To = ChangeCatalog, in[i].ID(), in[i].ID().String()
			}
		}
		return to
	}
	return nil
}

// leaves explains that an installed operator is replaced with a bundle.
func (u *universe) leaves(in *installed, to Ref) WhyNot {
	out := WhyNot{Bundle: u.ref(in.id), Text: "is installed already, and is upgraded to " + to.Name}
	if !u.Version(to).LT(in.version) {
		return out
	}
	out.Text = "is installed already, but OLM takes it back to the older " + to.Name
	for _, s := range u.subs {
		if s.current == in {
			out.Outlook = u.outlook(s, graph.Node{Name: in.Name, Version: in.version.String()})
			out.Commands, out.way = u.wayCommands(s, out.Outlook), out.Outlook.Way
			out.Text = "is installed already. " + prose.Outlook(out.Outlook)
		}
	}
	return out
}

// newer returns the installed operator that is newer than a bundle of its package and whose upgrades do
// not lead to the bundle, or nil.
func (u *universe) newer(b graph.Bundle) *installed {
	for _, s := range u.subs {
		if s.Package != b.Package().Name() || s.current == nil || !b.Version().LT(s.current.version) {
			continue
		}
		o := u.outlook(s, graph.Node{Name: s.current.Name, Version: s.current.version.String()})
		if !slices.ContainsFunc(o.Steps, func(x graph.Step) bool { return x.To.Name == b.Name() }) {
			return s.current
		}
	}
	return nil
}

// astray explains why no request leads to bundle b in entry e, or returns nil. If an operator of the
// package is installed, the answer has that operator's outlook, and the commands that lead to b or
// further. If a subscription follows another channel, it has the change that may help.
func (w *why) astray(ctx context.Context, b graph.Bundle, e graph.Entry) (*WhyNot, error) {
	u := w.r.u
	for _, s := range u.subs {
		if s.Package != b.Package().Name() {
			continue
		}
		to := s.following(u, e)
		if s.current == nil {
			if to != nil {
				return &WhyNot{Text: fmt.Sprintf("is not in %s, which subscription %s follows", s.where(), s.Name), follow: to}, nil
			}
			continue
		}
		from := graph.Node{Name: s.current.Name, Version: s.current.version.String()}
		o := u.outlook(s, from)
		at := slices.IndexFunc(o.Steps, func(x graph.Step) bool { return x.To.Name == b.Name() })
		d := u.deadEnd(ctx, w.r.needs, s, o.Steps)
		if d != nil && at < d.step {
			d = nil // beyond b
		}
		if at >= 0 {
			d, err := w.of.deadEnd(ctx, s, o)
			if err != nil {
				return nil, err
			}
			if d != nil && at < d.step {
				d = nil // beyond b
			}
			return &WhyNot{Outlook: o, Text: withDeadEnd(prose.AwayFrom(o, b.Node(), nil, nil), d)}, nil
		}
		if _, selectable := e.Rank(); selectable && to != nil && e.Admits(s.current.Name, s.current.version) != graph.NoEdge {
			there := *s
			there.Subscription = &to.apply(Problem{Subscriptions: []Subscription{*s.Subscription}}).Subscriptions[0]
			if x := u.outlook(&there, from); len(x.Steps) == 0 || x.Steps[0].To.Name == b.Name() {
				return &WhyNot{follow: to, Text: fmt.Sprintf("is an upgrade of the installed %s, but not in %s, which subscription %s follows", s.current.Name, s.where(), s.Name)}, nil
			} else if o.Way == nil || o.Way.End().Name != b.Name() {
				return &WhyNot{Text: fmt.Sprintf("is never installed over %s: from there, channel %s leads to %s", s.current.Name, e.Channel().Name(), x.Steps[0].To.Name)}, nil
			}
		}
		var passed *graph.Step
		for i, x := range o.Steps {
			at, err := semver.Parse(x.From.Version)
			next, _ := semver.Parse(x.To.Version)
			if to == nil && err == nil && at.LT(b.Version()) && b.Version().LT(next) {
				passed = &o.Steps[i]
			}
		}
		way := u.wayTo(s, from, b.Node())
		out := &WhyNot{Outlook: o, Commands: u.wayCommands(s, o), way: o.Way}
		if way != nil && (o.Way == nil || o.Way.End() != b.Node()) {
			out.Commands, out.way = u.legCommands(s, way), way
			d = u.deadEnd(ctx, w.r.needs, s, way.Steps())
		} else if o.Way != nil {
			d = cmp.Or(d, u.deadEnd(ctx, w.r.needs, s, o.Way.Steps()))
		}
		if d != nil {
			out.Commands = nil
		}
		out.Text = withDeadEnd(prose.AwayFrom(o, b.Node(), way, passed), d)
		return out, nil
	}
	for _, s := range u.subs {
		to := u.renamed(s, b.Package().Name())
		if to == nil {
			continue
		}
		there := *s
		there.Subscription = &to.apply(Problem{Subscriptions: []Subscription{*s.Subscription}}).Subscriptions[0]
		o := u.outlook(&there, graph.Node{Name: s.current.Name, Version: s.current.version.String()})
		at := slices.IndexFunc(o.Steps, func(x graph.Step) bool { return x.To.Name == b.Name() })
		if at < 0 {
			continue
		}
		if at > 0 {
			to.Then = fmt.Sprintf("OLM upgrades it to %s on its own, in %s, unless installPlanApproval is Manual", b.Name(), phrase.Count(at, "more step"))
		}
		return &WhyNot{
			follow: to, first: o.Steps[0].To.Name,
			Text: fmt.Sprintf("is in package %s, whose %s replaces the installed %s, but subscription %s requests package %s", to.To, o.Steps[0].To.Name, s.current.Name, s.Name, s.Package),
		}, nil
	}
	pkg := b.Package().Name()
	requested := slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.Package == pkg })
	for _, o := range u.installed {
		if !requested && slices.Contains(u.packages(o), pkg) {
			if o.Held != "" {
				return &WhyNot{Text: "is not an option while the installed " + o.Name + " must stay: " + o.Held}, nil
			}
			return &WhyNot{Text: "is not needed: the installed " + o.Name + " has no subscription, so OLM does not upgrade it"}, nil
		}
	}
	return nil, nil
}

// wayTo returns the easiest way from an installed bundle of a subscription to another bundle, or nil.
func (u *universe) wayTo(s *subscription, from, to graph.Node) *graph.Way {
	o, catalog, channels := u.outlooks(s, nil)
	return o.WayTo(from, catalog, channels, to)
}

// following returns the change with which a subscription follows the channel of an entry, or nil if it
// does so already.
func (s *subscription) following(u *universe, e graph.Entry) *Change {
	ch := e.Channel()
	if source := s.Source(); source != (CatalogID{}) {
		for _, c := range u.cats {
			if id := c.ID(); c.Graph == ch.Package().Catalog() && id != source {
				to := &Change{Kind: ChangeCatalog, Subscription: s.Name, To: id.String(), Catalog: id}
				if s.Channel != "" && s.Channel != ch.Name() {
					to.Channel = ch.Name()
				}
				return to
			}
		}
	}
	if s.Channel == "" || s.Channel == ch.Name() {
		return nil
	}
	return &Change{Kind: ChangeChannel, Subscription: s.Name, To: ch.Name()}
}
