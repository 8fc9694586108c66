package resolver

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
)

// A Solution is what a namespace should install. It is safe for concurrent use, but methods
// that compute explanations wait for each other.
type Solution struct {
	ID        string `json:"id,omitempty"`
	Namespace string `json:"namespace"`
	// Selected are the bundles to install, by package, name, channel and catalog. It is empty
	// if nothing changes.
	Selected []Selected `json:"selected"`
	// Stayed are the operators of subscriptions that are not upgraded, and operators that
	// satisfy a subscription that does not own them, in the order in which the subscriptions
	// chose.
	Stayed []Stay `json:"stayed,omitempty"`
	// Refused is the conflict of the parts without a plan if [Options] allow a partial
	// solution. It is nil if everything is planned.
	Refused *Conflict `json:"refused,omitzero"`
	// LeftOut are candidates and installed operators that cannot be fully read, by catalog
	// and name. Such a bundle is not chosen. Such an operator stays, and its requirements may
	// be missing.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Unseen are the catalogs that the namespace does not see, by namespace and name.
	Unseen []CatalogID `json:"unseen,omitempty"`
	// Differs are the rules in which the running OLM differs, or may differ, from olmkit:
	// those about LeftOut, subscriptions, and chosen bundles.
	Differs []Difference `json:"differs,omitempty"`
	// Faults are CEL rules that could not be evaluated on some bundle and count as false
	// there, in order.
	Faults []Fault `json:"faults,omitempty"`

	r   *resolution
	set []cand // what was chosen, in order
	why *why
	// ahead is where OLM stops, once it is known.
	ahead *settled
	// off are the facts of the parts that a partial solution leaves out.
	off []int
}

// MarshalJSON returns the solution as an object. Required lists are never null.
func (s Solution) MarshalJSON() ([]byte, error) {
	type plain Solution
	return json.Marshal(plain(s), json.Deterministic(true))
}

// A Selected is a bundle to install.
type Selected struct {
	Name             string `json:"name"`
	Channel          string `json:"channel"`
	Package          string `json:"package"`
	Catalog          string `json:"catalog"`
	CatalogNamespace string `json:"catalogNamespace"`
	// Replaces is the installed operator that is upgraded. For a fresh installation it is
	// the bundle's replaces in the catalog. An operator whose entry accepts an upgrade from
	// itself may replace itself, as in OLM, which then changes nothing.
	Replaces string `json:"replaces"`
	Version  string `json:"version"`
	// Bundle is the bundle in its catalog.
	Bundle graph.Bundle `json:"-"`
}

// Compare orders by package, name, channel and catalog.
func (s Selected) Compare(o Selected) int {
	return cmp.Or(
		cmp.Compare(s.Package, o.Package), cmp.Compare(s.Name, o.Name), cmp.Compare(s.Channel, o.Channel),
		cmp.Compare(s.CatalogNamespace, o.CatalogNamespace), cmp.Compare(s.Catalog, o.Catalog),
	)
}

// Package returns the package of the named subscription in the catalog that it names, or in the first that has it if it
// names none, and false if no catalog has it.
func (s *Solution) Package(name string) (graph.Package, bool) {
	if s.r == nil {
		return graph.Package{}, false
	}
	i := slices.IndexFunc(s.r.u.subs, func(x *subscription) bool { return x.Name == name })
	if i < 0 {
		return graph.Package{}, false
	}
	sub := s.r.u.subs[i]
	for _, c := range s.r.u.p.Catalogs {
		if id := sub.Source(); c.Graph == nil || id.Name != "" && id != c.ID() {
			continue
		}
		if p, ok := c.Graph.Package(sub.Package); ok {
			return p, true
		}
	}
	return graph.Package{}, false
}

// A StayReason is the reason why an operator is not upgraded.
type StayReason string

const (
	StaysAtHead      StayReason = "at-head"      // it is the head of its channel
	StaysNoSuccessor StayReason = "no-successor" // no entry of the channel replaces, skips or covers it
	StaysBlocked     StayReason = "blocked"      // it has successors, but each of them violates a rule
	// StaysPresent: it satisfies a subscription that does not own it and names neither a
	// catalog nor a channel.
	StaysPresent StayReason = "present"
)

// A Stay is an operator that satisfies a subscription and is not upgraded. The running OLM
// does not report it.
type Stay struct {
	Subscription string     `json:"subscription"`
	Name         string     `json:"name"`
	Package      string     `json:"package"`
	Reason       StayReason `json:"reason"`
	// Blocked are the successors that were refused, in order of preference.
	Blocked []Ref `json:"blocked,omitempty"`
}

// A LeftOut is a bundle or installed operator that cannot be fully read.
type LeftOut struct {
	Bundle Ref    `json:"bundle"`
	Reason string `json:"reason"`
}

// solution returns the solution for a set that violates no rule.
func (r *resolution) solution(set []cand) *Solution {
	u := r.u
	sol := &Solution{ID: u.p.ID, Namespace: u.p.Namespace, Selected: make([]Selected, 0, len(set)), r: r, set: set}
	for _, c := range set {
		if u.isInstalled(c) {
			continue
		}
		e, b := u.entry(c)
		s := Selected{
			Name: b.Name(), Channel: e.Channel().Name(), Package: b.Package().Name(),
			Catalog: u.source(c).Name, CatalogNamespace: u.source(c).Namespace,
			Replaces: e.Replaces(), Version: b.Version().String(),
			Bundle: b,
		}
		// An upgrade replaces the installed operator (H4).
		for _, in := range r.replacedBy[c] {
			s.Replaces = u.installed[in].Name
		}
		sol.Selected = append(sol.Selected, s)
	}
	slices.SortFunc(sol.Selected, Selected.Compare)
	stays := make([]bool, len(u.installed))
	for _, c := range set {
		if u.isInstalled(c) {
			stays[c] = true
		}
	}
	for i, s := range u.subs {
		switch {
		case r.options[i] == nil:
		case s.current == nil:
			for _, c := range r.options[i].list {
				if u.isInstalled(c) && stays[c] {
					sol.Stayed = append(sol.Stayed, Stay{Subscription: s.Name, Name: u.installed[c].Name, Package: s.Package, Reason: StaysPresent})
				}
			}
		case stays[s.current.id]:
			sol.Stayed = append(sol.Stayed, r.stay(s, r.options[i].list))
		}
	}
	var unread []string
	sol.LeftOut, unread = r.leftOut(set)
	sol.Unseen = u.unseen
	sol.Faults = u.evaluation.list()
	sol.Differs = r.differences(set)
	if len(unread) > 0 {
		sol.Differs = slices.Insert(sol.Differs, 0, unreadDifference(unread))
	}
	return sol
}

// stay returns why the operator of a subscription stays.
func (r *resolution) stay(s *subscription, options []cand) Stay {
	x := Stay{Subscription: s.Name, Name: s.current.Name, Package: s.Package, Reason: StaysNoSuccessor}
	for _, c := range options {
		if !r.u.isInstalled(c) {
			x.Reason = StaysBlocked
			x.Blocked = append(x.Blocked, r.u.ref(c))
		}
	}
	if x.Reason == StaysNoSuccessor {
		in, _ := r.u.sourcesFor(s)
		for _, c := range in {
			for _, ch := range r.u.channels(s, c) {
				if h, ok := ch.Head(); ok && h.Name() == s.current.Name {
					x.Reason = StaysAtHead
				}
			}
		}
	}
	return x
}

// leftOut lists the installed operators, and the candidates among the options of all
// decisions, that cannot be read. Catalogs without problems, which are nearly all, cost
// nothing. unread has the names of those that are left out for a reason other than a repeated
// declaration (H26).
func (r *resolution) leftOut(set []cand) (out []LeftOut, unread []string) {
	u := r.u
	for _, in := range u.installed {
		if in.err != nil {
			out, unread = append(out, LeftOut{u.ref(in.id), in.err.Error()}), append(unread, u.ref(in.id).Name)
		}
	}
	if !slices.ContainsFunc(u.cats, func(s *source) bool { return len(s.Graph.Findings()) > 0 }) {
		return out, unread
	}
	seen, needs := map[cand]bool{}, map[*need]bool{}
	look := func(c cand) {
		if u.isInstalled(c) || seen[c] {
			return
		}
		seen[c] = true
		if f := u.unreadable(c); f != nil {
			out = append(out, LeftOut{f.Bundle, f.Err.Error()})
			if !f.Repeats && !slices.Contains(unread, f.Bundle.Name) { // it may be in several channels
				unread = append(unread, f.Bundle.Name)
			}
		}
	}
	for _, n := range r.options {
		if n != nil {
			n.eachNew(needs, look)
		}
	}
	for _, c := range set {
		for _, q := range r.needs.requirements(context.Background(), c) {
			q.eachNew(needs, look)
		}
	}
	slices.SortFunc(out, func(a, b LeftOut) int {
		return cmp.Or(a.Bundle.Catalog.Compare(b.Bundle.Catalog), cmp.Compare(a.Bundle.Name, b.Bundle.Name), cmp.Compare(a.Bundle.Channel, b.Bundle.Channel))
	})
	slices.Sort(unread)
	return out, unread
}

// A settled is where OLM stops if it follows a solution, then the next one and so on.
type settled struct {
	at    Problem           // the namespace then
	owned map[string]string // the operators that its subscriptions own
	no    *Conflict         // of at, or nil
	last  *Solution         // of at, or nil
	index map[string]int    // of the subscriptions of last
	in    map[cand]bool     // the candidates in last
}

// chosen returns the index of the named subscription, and the index of its first option that
// is in the solution. An index is -1 if there is none.
func (s *Solution) chosen(name string) (sub, option int) {
	in := s.members()
	sub = slices.IndexFunc(s.r.u.subs, func(x *subscription) bool { return x.Name == name })
	if sub < 0 || s.r.options[sub] == nil {
		return sub, -1
	}
	return sub, slices.IndexFunc(s.r.options[sub].list, func(c cand) bool { return in[c] })
}

// members returns the candidates in the solution, as a map.
func (s *Solution) members() map[cand]bool {
	in := make(map[cand]bool, len(s.set))
	for _, c := range s.set {
		in[c] = true
	}
	return in
}
