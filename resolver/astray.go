package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
)

// astray explains why no request leads to bundle b in entry e. If an operator of the
// package is installed, it returns that operator's outlook, and why the operator is not
// upgraded to b, with the commands that lead there or further. Otherwise it returns nil, and the
// reason if a subscription follows another channel, or "".
func (u *universe) astray(ctx context.Context, n *needs, b graph.Bundle, e graph.Entry) (*graph.Outlook, string, []string) {
	for _, s := range u.subs {
		if s.Package != b.Package().Name() {
			continue
		}
		if s.current != nil {
			o := u.outlook(s, graph.Node{Name: s.current.Name, Version: s.current.version.String()})
			d := u.deadEnd(ctx, n, s, o)
			if d != nil && slices.IndexFunc(o.Steps, func(x graph.Step) bool { return x.To.Name == b.Name() }) < d.step {
				d = nil // beyond b
			}
			isStep := slices.ContainsFunc(o.Steps, func(x graph.Step) bool { return x.To.Name == b.Name() })
			if _, selectable := e.Rank(); !isStep && selectable && e.Admits(s.current.Name, s.current.version) != graph.NoEdge {
				if to := s.following(u, e); to != nil {
					return nil, fmt.Sprintf("is an upgrade of the installed %s, but not in %s, which subscription %s follows. To get it, %s",
						s.current.Name, s.where(), s.Name, to), to.commands(u.p.Namespace)
				}
			}
			if isStep {
				return o, withDeadEnd(prose.AwayFrom(o, b.Name()), d), nil
			}
			return o, withDeadEnd(prose.AwayFrom(o, b.Name()), d), u.wayCommands(s, o)
		}
		if to := s.following(u, e); to != nil {
			return nil, fmt.Sprintf("is not in %s, which subscription %s follows", s.where(), s.Name), nil
		}
	}
	for _, o := range u.installed {
		if o.Package == b.Package().Name() && !slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.Package == o.Package }) {
			if o.Held != "" {
				return nil, "is not an option while the installed " + o.Name + " must stay: " + o.Held, nil
			}
			return nil, "is not needed: the installed " + o.Name + " has no subscription, so OLM does not upgrade it", nil
		}
	}
	return nil, "", nil
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

// where names what a subscription follows.
func (s *subscription) where() string {
	text := ""
	if s.Channel != "" {
		text = "channel " + s.Channel
	}
	if source := s.Source(); source != (CatalogID{}) {
		if text != "" {
			text += " of "
		}
		text += "catalog " + source.String()
	}
	return text
}
