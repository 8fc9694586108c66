package resolver

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// describePin completes the fact that a pin blocks a bundle with why the installed operator never reaches
// what is pinned.
func (u *universe) describePin(f *fact.PolicyBlocked) {
	if f.Policy.Pin == "" || f.PinFault != "" {
		return
	}
	p, ok := u.pins[f.Policy]
	if !ok {
		if u.pins == nil {
			u.pins = map[Policy]pinned{}
		}
		p = u.reach(&f.Policy)
		u.pins[f.Policy] = p
	}
	f.PinFault, f.From, f.Steps = p.fault, p.from, p.steps
}

// reach finds out how an installed operator would get to what a pin names if the policy blocked only newer
// versions.
func (u *universe) reach(p *Policy) (out pinned) {
	for _, s := range u.subs {
		if s.Package != p.Package || s.current == nil {
			continue
		}
		to, ok := u.pinnedBundle(p)
		if !ok {
			return out
		}
		without := func(b graph.Bundle) bool { return b.Version().GT(to.Version()) }
		all, catalog, channels := u.outlooks(s, without)
		o := all.Of(graph.Node{Name: s.current.Name, Version: s.current.version.String()}, catalog, channels)
		out.from, out.steps = s.current.version.String(), len(o.Steps)
		switch {
		case out.steps > 0 && o.End().Name == to.Name() && o.Kind != graph.OutlookLoops:
			if out.steps > 1 {
				out.fault, out.exclude = "ahead", ">"+to.Version().String()
			}
		case s.current.version.GT(to.Version()):
			out.fault = "behind"
		case s.current.Name != to.Name():
			out.fault = "unreachable"
		}
		return out
	}
	return out
}

// pinnedBundle returns the bundle that a pin names.
func (u *universe) pinnedBundle(p *Policy) (graph.Bundle, bool) {
	for _, c := range u.cats {
		if pkg, ok := c.Graph.Package(p.Package); ok {
			for b := range pkg.Bundles() {
				if b.HasVersion() && (b.Name() == p.Pin || b.Version().String() == p.Pin) {
					return b, true
				}
			}
		}
	}
	return graph.Bundle{}, false
}

// pinNotMet returns the policy that pins something else than the operator that a subscription owns, or nil.
func (u *universe) pinNotMet(s *subscription) *fact.PolicyBlocked {
	if s.current == nil {
		return nil
	}
	name, version := s.current.Name, s.current.version.String()
	for _, r := range u.policies[s.Package] {
		if r.Pin == "" || r.Pin == name || r.Pin == version || r.From != "" && r.From != name && r.From != version {
			continue
		}
		f := &fact.PolicyBlocked{Bundle: u.ref(s.current.id), Policy: *r.Policy, PinFault: r.fault, Nearest: r.nearest}
		u.describePin(f)
		return f
	}
	return nil
}

// reinstallPinned returns how to install what a policy pins in the place of the installed operator, as a sentence, or "".
func (u *universe) reinstallPinned(s *subscription, p *Policy) string {
	to, ok := u.pinnedBundle(p)
	if !ok {
		return ""
	}
	var channels []string
	for e := range to.Entries() {
		if _, ok := e.Rank(); ok {
			channels = append(channels, e.Channel().Name())
		}
	}
	if len(channels) == 0 {
		return ""
	}
	from := ""
	if s.Channel != "" && !slices.Contains(channels, s.Channel) {
		from = " from channel " + channels[len(channels)-1]
	}
	return fmt.Sprintf(". To get %s, remove the operator and install it again%s with startingCSV %s; that may lose data, so back up its resources first", to.Version(), from, to.Name())
}
