package platform

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A ground has, for each version of the platform, what one operator can become there.
type ground struct {
	*trip
	*Operator
	start   graph.Node
	known   bool               // whether the requirements of the installed bundle are known
	within  olmv1.VersionRange // the versions that OLM v1 may install
	barred  []graph.Exclusion  // the upgrades that are never taken: those that are excluded or refused
	refused map[[2]string]bool // the upgrades that OLM v1 refuses
	depends map[string]string  // the bundles of these that it refuses because they declare dependencies, and of which type
	levels  []level            // up to the last one that the platform can reach with the operator
}

// A level is one version of the platform, with what an operator can become there.
type level struct {
	catalog string
	pkg     graph.Package
	ok      bool // whether a catalog has the package
	// channels are those that the operator can be switched to, preferred ones first: the default
	// channel, then those with the newest head.
	channels []string
	// reach are the nodes with which the operator can arrive, and those that it can become here.
	reach []graph.Node
	facts map[graph.Node]*facts
	lanes map[string]*lane
}

// A lane is a channel at a level.
type lane struct {
	olm  *graph.Upgrades    // what OLM offers
	u    *graph.Upgrades    // without the upgrades that are never taken
	away map[graph.Node]int // the steps from nodes to the head
	// refused are the upgrades that OLM v1 refuses: it takes no other one instead.
	refused map[[2]string]bool
}

func (g *ground) instance() string { return g.trip.who[g.Operator].instance }

// ground returns the ground of an operator.
func (t *trip) ground(ctx context.Context, o *Operator) (*ground, error) {
	g := &ground{trip: t, Operator: o, within: t.ranges[o], refused: map[[2]string]bool{}, depends: map[string]string{}}
	g.barred = slices.Clip(o.Excluded)
	for _, x := range o.Refused {
		g.barred = append(g.barred, x.Exclusion)
		g.refused[[2]string{x.From, x.To}] = true
	}
	f, err := g.begin(ctx)
	if err != nil {
		return nil, err
	}
	starts, order := map[graph.Node]*facts{g.start: f}, []graph.Node{g.start}
	for k := 0; len(order) > 0 && k <= g.last(); k++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l, err := g.level(ctx, k, order, starts)
		if err != nil {
			return nil, err
		}
		g.levels = append(g.levels, l)
		starts, order = map[graph.Node]*facts{}, nil
		for _, n := range l.reach {
			if !l.facts[n].blocks(g.at(k + 1)) {
				starts[n] = l.facts[n]
				order = append(order, n)
			}
		}
	}
	return g, nil
}

// begin sets start and known, and returns the facts of the installed bundle.
func (g *ground) begin(ctx context.Context) (*facts, error) {
	g.start = graph.Node{Name: g.Name, Version: g.Version}
	f, stated := installedFacts(g.Operator)
	b, ok := g.trip.known(g.Operator)
	g.known = stated || ok
	if !ok {
		return f, nil
	}
	if g.start.Version == "" {
		g.start = b.Node()
	}
	of, err := g.trip.facts.of(ctx, b)
	if err != nil || !stated {
		return of, err
	}
	f.apis = of.apis
	return f, nil
}

// level returns level k for an operator that can arrive with any of the nodes of order. starts
// has the facts of these nodes.
func (g *ground) level(ctx context.Context, k int, order []graph.Node, starts map[graph.Node]*facts) (level, error) {
	l := level{reach: order, facts: starts, lanes: map[string]*lane{}}
	c, pkg, ok := g.source(g.Operator, g.at(k))
	if !ok {
		return l, nil
	}
	l.catalog, l.pkg, l.ok = c.Name, pkg, true
	without, failed := g.without(ctx, k)
	u := pkg.Upgrades(g.Reading, &graph.UpgradeOptions{Installed: order, Without: without, Excluded: g.barred})
	if *failed != nil || u.Err() != nil {
		return l, cmp.Or(*failed, u.Err())
	}
	if g.Reading == graph.V1 {
		if err := g.dependent(u, order); err != nil {
			return l, err
		}
		u = u.Without(g.barred)
	}
	l.facts, l.reach = maps.Clone(starts), slices.Clone(order)
	for _, from := range order {
		for n := range u.Reachable(from) {
			if l.facts[n] != nil {
				continue
			}
			b, ok := u.Bundle(n)
			if !ok {
				continue
			}
			f, err := g.trip.facts.of(ctx, b)
			if err != nil {
				return l, err
			}
			l.facts[n] = f
			l.reach = append(l.reach, n)
		}
	}
	list := slices.Collect(pkg.Channels())
	slices.SortStableFunc(list, func(a, b graph.Channel) int {
		switch {
		case a.IsDefault() != b.IsDefault() && a.IsDefault():
			return -1
		case a.IsDefault() != b.IsDefault():
			return 1
		}
		return headVersion(b).Compare(headVersion(a))
	})
	for _, ch := range list {
		l.channels = append(l.channels, ch.Name())
	}
	if g.Reading == graph.V1 && g.Channel == "" {
		l.channels = append(l.channels, "") // all
	}
	return l, nil
}

// dependent bars the upgrades from nodes, and those that follow, to bundles that declare dependencies: OLM v1 refuses them.
func (g *ground) dependent(u *graph.Upgrades, from []graph.Node) error { // H16
	seen := map[graph.Node]bool{}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if seen[n] {
			continue
		}
		seen[n] = true
		for s := range u.Steps(n) {
			b, ok := u.Bundle(s.To)
			if !ok {
				continue
			}
			typ := olmv1.Dependency(b)
			if typ == "" {
				queue = append(queue, s.To)
				continue
			}
			if key := [2]string{n.Name, s.To.Name}; !g.refused[key] {
				g.refused[key], g.depends[s.To.Name] = true, typ
				g.barred = append(g.barred, graph.Exclusion{From: n.Name, To: s.To.Name})
			}
		}
	}
	return u.Err()
}

// headVersion returns the version of the head of a channel, or 0.0.0 if it has none.
func headVersion(ch graph.Channel) semver.Version {
	if e, ok := ch.Head(); ok {
		if b, ok := e.Bundle(); ok {
			return b.Version()
		}
	}
	return semver.Version{}
}

// follows returns the channels that an operator follows if its channel is the given one. None means all.
func (g *ground) follows(l *level, channel string) []string {
	switch {
	case channel != "":
		return []string{channel}
	case g.Reading == graph.Classic:
		return []string{l.pkg.DefaultChannelName()}
	}
	return nil
}

// lane returns a channel at a level, or nil if no catalog has the package.
func (g *ground) lane(ctx context.Context, k int, channel string) (*lane, error) {
	l := &g.levels[k]
	if a := l.lanes[channel]; a != nil || !l.ok {
		return a, nil
	}
	without, failed := g.without(ctx, k)
	o := &graph.UpgradeOptions{Channels: g.follows(l, channel), Installed: l.reach, Without: without}
	a := &lane{olm: l.pkg.Upgrades(g.Reading, o), away: map[graph.Node]int{}, refused: g.refused}
	a.u = a.olm
	if len(g.barred) > 0 {
		a.u = a.olm.Without(g.barred)
	}
	l.lanes[channel] = a
	return a, cmp.Or(*failed, a.olm.Err())
}

// next returns the upgrade that OLM takes from a node in a lane, and false if it takes none.
func (g *ground) next(a *lane, n graph.Node) (graph.Step, bool) {
	if a == nil {
		return graph.Step{}, false
	}
	s, ok := a.olm.Next(n)
	if !ok || s.To == n || g.refused[[2]string{n.Name, s.To.Name}] {
		return s, false
	}
	return s, true
}

// excluded returns the exclusion of an upgrade, or nil.
func (g *ground) excluded(s graph.Step) *graph.Exclusion {
	for i := range g.Excluded {
		if x := &g.Excluded[i]; x.From == s.From.Name && x.To == s.To.Name {
			return x
		}
	}
	return nil
}

// toHead returns the number of upgrades from a node to the head of a lane, or -1 if none lead there.
func (a *lane) toHead(n graph.Node) int {
	if a == nil {
		return -1
	}
	d, ok := a.away[n]
	if !ok {
		d = -1
		s, moves := a.olm.Next(n)
		path, ok := a.u.PathToHead(n)
		if ok && !(moves && a.refused[[2]string{n.Name, s.To.Name}]) {
			d = len(path)
		}
		a.away[n] = d
	}
	return d
}

// without returns a function that reports the bundles that cannot be installed at a level, or are
// outside of the version range of the operator. If the facts of a bundle cannot be read, the
// function sets the error.
func (g *ground) without(ctx context.Context, k int) (func(graph.Bundle) bool, *error) {
	var failed error
	return func(b graph.Bundle) bool {
		if g.outside(b) {
			return true
		}
		f, err := g.trip.facts.of(ctx, b)
		if err != nil {
			failed = cmp.Or(failed, err)
			return true
		}
		return f.unfit(g.Reading, g.at(k))
	}, &failed
}

// factsAt returns the facts of a node that the operator can have at a level or, on arrival there, at an earlier one, or nil.
func (g *ground) factsAt(k int, n graph.Node) *facts {
	for i := min(k, len(g.levels)-1); i >= 0; i-- {
		if f := g.levels[i].facts[n]; f != nil {
			return f
		}
	}
	return nil
}

// outside reports whether a bundle is outside of the version range of the operator.
func (g *ground) outside(b graph.Bundle) bool { return !g.within.Contains(b.Version()) } // C2

// outlooks returns the outlooks of the operator at a level, without bundles that cannot be installed there.
func (g *ground) outlooks(ctx context.Context, k int) (*graph.Outlooks, error) {
	l := &g.levels[k]
	without, failed := g.without(ctx, k)
	o := graph.NewOutlooks(g.Reading, []graph.Source{{Catalog: l.catalog, Package: l.pkg}}, without)
	o.Exclude(g.barred)
	return o, *failed
}

// elsewhereIn returns the catalogs of a version that have the package of an operator but are not named as the
// one that it follows, and their names.
func (g *ground) elsewhereIn(at property.MinorVersion) (list []*Catalog, names []string) {
	for _, c := range g.catalogs[at] {
		if _, ok := c.Graph.Package(g.Package); ok && c.Name != g.Catalog {
			list, names = append(list, c), append(names, cmp.Or(c.Name, c.Platform))
		}
	}
	return list, names
}

// older reports whether both versions are known and that of a is lower.
func older(a, b graph.Node) bool {
	x, err := semver.Parse(a.Version)
	if err != nil {
		return false
	}
	y, err := semver.Parse(b.Version)
	return err == nil && x.LT(y)
}

// goals returns, for each node at a level, how many heads of channels newer than the node no order of
// upgrades and changes of the channel leads to, if those do not count that are older than one which it
// leads to. A head that is a prerelease counts only in the default channel and in the operator's own, unless
// that of the default channel is one. heads are the heads that count, the newest first.
func (g *ground) goals(ctx context.Context, k int) (lost map[graph.Node]int, heads []graph.Node, err error) {
	l := &g.levels[k]
	into := map[graph.Node][]graph.Node{} // the nodes from which a node can be reached in one step
	pre := false                          // whether all prereleases count
	for i, ch := range append(slices.Clip(l.channels), g.Channel) {
		a, err := g.lane(ctx, k, ch)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range l.reach {
			if g.Reading == graph.V1 {
				for s := range a.u.Steps(n) {
					into[s.To] = append(into[s.To], n)
				}
			} else if s, ok := g.next(a, n); ok && g.excluded(s) == nil {
				into[s.To] = append(into[s.To], n)
			}
		}
		for _, h := range a.u.Heads() {
			v, err := semver.Parse(h.Version)
			pre = pre || i == 0 && err == nil && len(v.Pre) > 0
			if err == nil && (len(v.Pre) == 0 || pre || i == 0 || i == len(l.channels)) && !slices.Contains(heads, h) {
				heads = append(heads, h)
			}
		}
	}
	slices.SortStableFunc(heads, func(a, b graph.Node) int {
		switch {
		case older(b, a):
			return -1
		case older(a, b):
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	lost = map[graph.Node]int{}
	for i, h := range heads {
		queue := []graph.Node{h}
		for _, n := range l.reach {
			if !older(n, h) {
				queue = append(queue, n)
			}
		}
		for len(queue) > 0 {
			n := queue[0]
			queue = queue[1:]
			if _, ok := lost[n]; !ok {
				lost[n] = i
				queue = append(queue, into[n]...)
			}
		}
	}
	for _, n := range l.reach {
		if _, ok := lost[n]; !ok {
			lost[n] = len(heads)
		}
	}
	return lost, heads, nil
}
