package resolver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// sourcesFor returns the catalogs that a subscription names, or all if it names none, and
// the other catalogs, both in order of preference. A name without a namespace, or the
// reverse, does not match any catalog (H28).
func (u *universe) sourcesFor(s *subscription) (in, others []*source) {
	named := s.Source()
	if len(u.cats) == 1 {
		if named == (CatalogID{}) || named == u.cats[0].ID() {
			return u.cats, nil
		}
		return nil, u.cats
	}
	for _, c := range u.sources(installedSource) {
		if named == (CatalogID{}) || named == c.ID() {
			in = append(in, c)
		} else {
			others = append(others, c)
		}
	}
	return in, others
}

// options returns the candidates of a subscription in order of preference (D9), or the fact
// that there is nothing to choose from.
func (u *universe) options(s *subscription) (list []cand, missing fact.Fact) {
	in, others := u.sourcesFor(s)
	if len(in) == 0 && s.Source() != (CatalogID{}) {
		if s.Catalog != "" && s.CatalogNamespace != "" && !u.p.sees(s.Source()) {
			return nil, &fact.Unavailable{Subscription: *s.Subscription, What: "catalog", Err: errors.New(u.p.WhyUnseen(s.Source()))}
		}
		known := make([]string, len(u.cats))
		for i, c := range u.cats {
			known[i] = c.ID().String()
		}
		slices.Sort(known)
		missing := &fact.Unavailable{Subscription: *s.Subscription, What: "catalog", Known: known}
		if s.CatalogNamespace == "" && !slices.ContainsFunc(u.cats, func(c *source) bool { return c.Name == s.Catalog }) {
			missing.Err = fmt.Errorf("namespace %s sees no catalog named %s", u.p.Namespace, s.Catalog)
		}
		return nil, missing
	}
	here := u.here(s)
	if len(here) == 0 && !u.offers(s, in) {
		if missing = u.lookUp(s, in); missing != nil {
			return nil, missing
		}
	}
	if s.current == nil {
		if f := u.headless(s, in); f != nil {
			return nil, f
		}
		return append(u.fresh(s, in), here...), nil
	}
	list = u.successors(s, in)
	if u.p.Options.OtherSources {
		list = append(list, u.successors(s, others)...)
	}
	return append(list, s.current.id), nil
}

// here returns the installed operators that count as versions of the package of a
// subscription. Only a subscription that names neither a catalog nor a channel also
// considers installed operators (H23).
func (u *universe) here(s *subscription) (list []cand) {
	if s.Source() != (CatalogID{}) || s.Channel != "" {
		return nil
	}
	for _, in := range u.installedOf(s.Package) {
		if s.current != nil || s.StartingCSV == "" || s.StartingCSV == in.Name {
			list = append(list, in.id)
		}
	}
	return list
}

// installedOf returns the installed operators of a package, by name.
func (u *universe) installedOf(pkg string) []*installed {
	if u.ofPackage == nil {
		u.ofPackage = map[string][]*installed{}
		for _, in := range u.installed {
			for _, name := range in.pkgs {
				u.ofPackage[name] = append(u.ofPackage[name], in)
			}
		}
	}
	return u.ofPackage[pkg]
}

// lastChannels are the channels that the last call of channels returned.
type lastChannels struct {
	s    *subscription
	in   *source
	list []graph.Channel
}

// channels returns the channels of a catalog that a subscription may use, the
// preferred first. It is often called several times in a row for one subscription.
func (u *universe) channels(s *subscription, c *source) []graph.Channel {
	if u.last.s != s || u.last.in != c {
		u.last = lastChannels{s, c, s.channels(c)}
	}
	return u.last.list
}

func (s *subscription) channels(c *source) []graph.Channel {
	p, ok := c.Graph.Package(s.Package)
	if !ok {
		return nil
	}
	if s.Channel != "" {
		if ch, ok := p.Channel(s.Channel); ok {
			return []graph.Channel{ch}
		}
		return nil
	}
	var list []graph.Channel
	for ch := range p.Channels() {
		if ch.IsDefault() {
			list = slices.Insert(list, 0, ch)
		} else {
			list = append(list, ch)
		}
	}
	return list
}

// An offer is an entry that a subscription may choose.
type offer struct {
	cand
	graph.Entry
	place int // in the order of elsewhere
}

// foundOffers is memory for what one subscription at a time may choose.
type foundOffers struct {
	list   []offer
	byName []int // indexes of list
}

// cleared returns the memory without what it held, or none if it is too large to clear it for
// each problem.
func (o foundOffers) cleared() foundOffers {
	if cap(o.list) > 1024 {
		return foundOffers{}
	}
	clear(o.list[:cap(o.list)])
	return foundOffers{o.list[:0], o.byName[:0]}
}

// fresh returns the entries that a subscription without an operator may choose,
// catalog by catalog: the startingCSV, or all.
func (u *universe) fresh(s *subscription, in []*source) []cand {
	found := u.found.list[:0]
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			if s.StartingCSV == "" {
				found = slices.Grow(found, ch.NumEntries())
				for e := range ch.Order() {
					found = append(found, offer{c.cand(e), e, 0})
				}
			} else if e, ok := s.start(ch); ok {
				found = append(found, offer{c.cand(e), e, 0})
			}
		}
	}
	return u.elsewhere(found, s, in)
}

// start returns the entry in ch that the startingCSV names, even if another entry skips it
// (H3).
func (s *subscription) start(ch graph.Channel) (graph.Entry, bool) {
	e, ok := ch.Entry(s.StartingCSV)
	if !ok || ch.Err() != nil {
		return graph.Entry{}, false
	}
	_, ok = e.Bundle()
	return e, ok
}

// headless returns the fact that the startingCSV names an entry that skips or replaces
// itself, or nil. The subscription considers only that entry, so the running OLM does not
// find a head (H27).
func (u *universe) headless(s *subscription, in []*source) fact.Fact {
	if s.StartingCSV == "" {
		return nil
	}
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			e, ok := ch.Entry(s.StartingCSV) // also in a broken channel
			if !ok {
				continue
			}
			if edge := e.Admits(e.Name(), semver.Version{}); edge == graph.Replaces || edge == graph.Skips {
				return &fact.Unavailable{Subscription: *s.Subscription, What: "startingCSV", Channel: ch.Name(), Err: fmt.Errorf("it %s itself", edge)}
			}
		}
	}
	return nil
}

// successors returns the entries of some catalogs that can follow the operator of a
// subscription (B2), in the order of B4: in each channel the heads, then the other entries,
// nearest to the head first, each in the order of the catalogs. A subscription without a
// channel considers the default channels, then the others by name (H15).
func (u *universe) successors(s *subscription, in []*source) []cand {
	found := u.found.list[:0]
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			for e := range ch.Order() {
				if e.Admits(s.current.Name, s.current.version) != graph.NoEdge {
					found = append(found, offer{c.cand(e), e, 0})
				}
			}
		}
	}
	if len(in) > 1 {
		slices.SortStableFunc(found, func(a, b offer) int {
			return cmp.Or(s.compareChannels(a.Channel(), b.Channel()), cmp.Compare(next(a.Entry), next(b.Entry)))
		})
	}
	return u.elsewhere(found, s, in)
}

// compareChannels orders the channels of several catalogs that a subscription considers.
// Channels of the same name count as one if the subscription names that channel, and so do
// all default channels.
func (s *subscription) compareChannels(a, b graph.Channel) int {
	switch ad, bd := a.IsDefault(), b.IsDefault(); {
	case s.Channel != "" || ad && bd:
		return 0
	case ad:
		return -1
	case bd:
		return 1
	}
	return cmp.Compare(a.Name(), b.Name())
}

// next is 0 for the head of a channel (B1), else 1.
func next(e graph.Entry) int {
	if h, ok := e.Channel().Head(); ok && h == e {
		return 0
	}
	return 1
}

// elsewhere returns the found entries, each followed by the other entries of the same
// bundle in the channels of the subscription, because a bundle that may be chosen in one
// channel may be chosen in each (H25).
func (u *universe) elsewhere(found []offer, s *subscription, in []*source) []cand {
	u.found.list = found
	if len(found) > 0 && u.severalChannels(s, in) {
		found = u.withOthers(s, in)
	}
	list := make([]cand, len(found), len(found)+1)
	for i, o := range found {
		list[i] = o.cand
	}
	return list
}

// severalChannels reports whether a subscription may use more than one channel.
func (u *universe) severalChannels(s *subscription, in []*source) bool {
	n := 0
	for _, c := range in {
		n += len(u.channels(s, c))
	}
	return n > 1
}

// withOthers adds to the found entries the other entries of each bundle, and returns all by the
// place at which their bundle was found first.
func (u *universe) withOthers(s *subscription, in []*source) []offer {
	found := u.found.list
	compare := func(a, b graph.Entry) int { return cmp.Compare(a.Name(), b.Name()) }
	if len(in) == 1 {
		compare = func(a, b graph.Entry) int { return bundleOf(a).Compare(bundleOf(b)) }
	}
	byName := u.found.byName[:0] // sorted; a map would be larger than the rest of most problems
	for i := range found {
		byName = append(byName, i)
	}
	slices.SortFunc(byName, func(i, j int) int {
		return cmp.Or(compare(found[i].Entry, found[j].Entry), cmp.Compare(found[i].cand, found[j].cand))
	})
	for rest := byName; len(rest) > 0; {
		n := 1
		for n < len(rest) && compare(found[rest[n]].Entry, found[rest[0]].Entry) == 0 {
			n++
		}
		first := slices.Min(rest[:n])
		for _, i := range rest[:n] {
			found[i].place = first
		}
		rest = rest[n:]
	}
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			if ch.Err() != nil {
				continue
			}
			for e := range ch.Entries() {
				if _, ok := e.Bundle(); !ok {
					continue
				}
				at, offered := slices.BinarySearchFunc(byName, c.cand(e), func(i int, x cand) int {
					return cmp.Or(compare(found[i].Entry, e), cmp.Compare(found[i].cand, x))
				})
				for _, near := range byName[max(at-1, 0):min(at+1, len(byName))] {
					if !offered && compare(found[near].Entry, e) == 0 {
						found = append(found, offer{c.cand(e), e, found[near].place})
						break
					}
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b offer) int { return cmp.Compare(a.place, b.place) })
	u.found = foundOffers{found, byName}
	return found
}

// bundleOf returns the bundle of an entry that has one.
func bundleOf(e graph.Entry) graph.Bundle {
	b, _ := e.Bundle()
	return b
}

// offers reports whether everything that the subscription names exists. It does not collect
// alternatives, because they are rarely needed.
func (u *universe) offers(s *subscription, in []*source) bool {
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			if ch.Err() != nil {
				continue
			}
			if s.current != nil || s.StartingCSV == "" {
				return true
			}
			if _, ok := s.start(ch); ok {
				return true
			}
		}
	}
	return false
}

// lookUp returns the fact that none of the catalogs has something that the subscription
// names (H5), or nil.
func (u *universe) lookUp(s *subscription, in []*source) fact.Fact {
	missing := &fact.Unavailable{Subscription: *s.Subscription}
	var pkgs, chs, csvs bool
	var known, nearChannels []string
	for _, c := range in {
		p, ok := c.Graph.Package(s.Package)
		if !ok {
			continue
		}
		if !pkgs {
			pkgs, known = true, nil
		}
		list := u.channels(s, c)
		if len(list) == 0 && !chs {
			for ch := range p.Channels() {
				known = append(known, ch.Name())
			}
			if nearChannels == nil {
				list, named, _ := channelsNear(p, s.Channel)
				nearChannels = list[:named]
			}
		}
		for _, ch := range list {
			if err := ch.Err(); err != nil {
				if missing.Err == nil {
					missing.Err, missing.Channel = err, ch.Name()
				}
				continue
			}
			if !chs {
				chs, known = true, nil
			}
			if _, ok := s.start(ch); ok {
				csvs = true
			}
			if !csvs {
				for e := range ch.Order() {
					known = append(known, e.Name())
				}
			}
		}
	}
	switch {
	case !pkgs:
		missing.What = "package"
		missing.Nearest, missing.Crowded = nearPackages(in, s.Package, maxNearest)
	case !chs && missing.Err != nil:
		missing.What = "head"
	case !chs:
		missing.What = "channel"
		missing.Nearest = nearChannels
	case s.current == nil && s.StartingCSV != "" && !csvs:
		missing.What = "startingCSV"
		missing.Nearest = u.nearStarts(s, in)
		for _, c := range in {
			p, ok := c.Graph.Package(s.Package)
			if !ok {
				continue
			}
			for ch := range p.Channels() {
				if _, ok := s.start(ch); ok && !slices.Contains(missing.Elsewhere, ch.Name()) {
					missing.Elsewhere = append(missing.Elsewhere, ch.Name())
				}
			}
		}
	default:
		return nil
	}
	slices.Sort(known)
	missing.Known = slices.Compact(known)
	return missing
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
