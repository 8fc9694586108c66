package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
)

// Upgrade plans an upgrade. A blocked platform is not an error; see [Plan.OK]. Upgrade does
// not modify the problem. Goroutines may share its catalogs. The error is a
// [*document.Error], that of reading minKubeVersion from a catalog's source, or the
// context's.
func Upgrade(ctx context.Context, p Problem) (*Plan, error) { // G5
	t, err := p.check()
	if err != nil {
		return nil, err
	}
	var roads []*road
	end := int(t.to.Minor - t.from.Minor)
	for _, o := range t.installs {
		r := &road{trip: t, Operator: o}
		if err := r.explore(ctx); err != nil {
			return nil, err
		}
		end = min(end, r.end)
		roads = append(roads, r)
	}
	plan := &Plan{
		ID: p.ID, From: t.from.String(), To: t.to.String(), Reached: t.at(end).String(),
		OK: t.at(end) == t.to, Steps: []Step{}, Blockers: []Blocker{}, Operators: []OperatorPlan{},
	}
	plan.Unchecked = t.unchecked(roads)
	for _, x := range plan.Unchecked {
		plan.Warnings = append(plan.Warnings, x.String())
	}
	taken := make([][]Step, end+1) // operator steps of each level
	for _, r := range roads {
		if err := r.travel(ctx, end, plan, taken); err != nil {
			return nil, err
		}
	}
	for k, steps := range taken {
		plan.Steps = append(plan.Steps, steps...)
		if k < end {
			plan.Steps = append(plan.Steps, Step{Platform: t.at(k).String(), Next: t.at(k + 1).String()})
		}
	}
	behind := plan.LeftBehind()
	for i := range plan.Operators {
		o := &plan.Operators[i]
		o.LeftBehind = slices.ContainsFunc(behind, func(x Blocker) bool { return x.Package == o.Package })
	}
	return plan, nil
}

// at returns the version of a level; level 0 is the start of the trip.
func (t *trip) at(k int) property.MinorVersion {
	return property.MinorVersion{Major: t.from.Major, Minor: t.from.Minor + uint64(k)}
}

// A road has, for each level, the nodes that one operator can become. A node is a bundle
// that is installed or can be.
type road struct {
	*trip
	*Operator
	start  graph.Node
	known  bool // whether the requirements of the installed bundle are known
	levels []level
	end    int // the last level that the platform can reach with the operator
	// came[k] is the node with which the operator arrives at level k in the plan.
	came []graph.Node
}

// A level is one version of the platform, with what an operator can become there.
type level struct {
	catalog string
	pkg     graph.Package
	u       *graph.Upgrades // nil without a catalog or package
	// starts are the nodes with which the operator can arrive. reach are these and the
	// nodes that it can become here.
	starts, reach []graph.Node
	facts         map[graph.Node]*facts
	// pass has the nodes of reach with which the platform can continue to the last level.
	// home has, for each of them, the last level at which the operator can then get to its
	// head, or -1 if there is none.
	pass map[graph.Node]bool
	home map[graph.Node]int
}

// explore fills the levels: first forward, with the nodes that the operator can reach at
// each level, then backward, with those that let the platform continue to the last level.
func (r *road) explore(ctx context.Context) error {
	f, err := r.begin(ctx)
	if err != nil {
		return err
	}
	starts := map[graph.Node]*facts{r.start: f}
	order := []graph.Node{r.start}
	last := int(r.to.Minor - r.from.Minor)
	for k := 0; ; k++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l, err := r.level(ctx, k, order, starts)
		if err != nil {
			return err
		}
		r.levels = append(r.levels, l)
		r.end = k
		if k == last {
			break
		}
		starts, order = map[graph.Node]*facts{}, nil
		for _, n := range l.reach {
			if !l.facts[n].blocks(r.at(k + 1)) {
				starts[n] = l.facts[n]
				order = append(order, n)
			}
		}
		if len(order) == 0 {
			break
		}
	}
	end := &r.levels[r.end]
	end.pass, end.home = map[graph.Node]bool{}, map[graph.Node]int{}
	for _, n := range end.reach {
		end.pass[n] = true
		end.home[n] = end.atHome(r.end, n)
	}
	for k := r.end - 1; k >= 0; k-- {
		l, next := &r.levels[k], &r.levels[k+1]
		l.pass = l.through(next)
		l.home = map[graph.Node]int{}
		for n := range l.pass {
			l.home[n] = max(next.best(n), l.atHome(k, n))
		}
	}
	return nil
}

// atHome returns k, the number of the level, if n has a path to its head at this level, or
// else -1.
func (l *level) atHome(k int, n graph.Node) int {
	if l.u != nil {
		if _, ok := l.u.PathToHead(n); ok {
			return k
		}
	}
	return -1
}

// best returns the last level at which an operator that arrives at this one with n can get
// to its head without blocking the platform, or -1 if there is none.
func (l *level) best(n graph.Node) int {
	best := -1
	for _, m := range l.from(n) {
		if l.pass[m] {
			best = max(best, l.home[m])
		}
	}
	return best
}

// begin sets start and known, and returns the facts of the installed bundle.
func (r *road) begin(ctx context.Context) (*facts, error) {
	r.start = graph.Node{Name: r.Name, Version: r.Version}
	f, stated := installedFacts(r.Operator)
	b, ok := r.trip.known(r.Operator)
	r.known = stated || ok
	if !ok {
		return f, nil
	}
	if r.start.Version == "" {
		r.start = b.Node()
	}
	if stated {
		return f, nil
	}
	return r.facts.of(ctx, b)
}

// options returns the options for the upgrades of the operator in a package: the channels
// that it follows.
func (r *road) options(pkg graph.Package) *graph.UpgradeOptions {
	o := &graph.UpgradeOptions{}
	switch {
	case r.Channel != "":
		o.Channels = []string{r.Channel}
	case r.Reading == graph.Classic:
		o.Channels = []string{pkg.DefaultChannelName()}
	}
	return o
}

// level returns level k for an operator that can arrive with any of the nodes of order.
// starts has the facts of these nodes.
func (r *road) level(ctx context.Context, k int, order []graph.Node, starts map[graph.Node]*facts) (level, error) {
	l := level{starts: order, reach: slices.Clone(order), facts: starts}
	c, pkg, ok := r.source(r.Operator, r.at(k))
	if !ok {
		return l, nil
	}
	l.catalog, l.pkg = c.Name, pkg
	o := r.options(pkg)
	o.Installed = order
	var failed error
	o.Without = func(b graph.Bundle) bool {
		f, err := r.trip.facts.of(ctx, b)
		if err != nil {
			failed = cmp.Or(failed, err)
			return true
		}
		return f.tooNew(r.at(k))
	}
	l.u = pkg.Upgrades(r.Reading, o)
	if failed != nil || l.u.Err() != nil {
		return l, cmp.Or(failed, l.u.Err())
	}
	seen := map[graph.Node]bool{}
	for _, n := range order {
		seen[n] = true
	}
	for _, from := range order {
		for n := range l.u.Reachable(from) {
			if seen[n] {
				continue
			}
			seen[n] = true
			b, ok := l.u.Bundle(n)
			if !ok {
				continue
			}
			f, err := r.trip.facts.of(ctx, b)
			if err != nil {
				return l, err
			}
			l.facts[n] = f
			l.reach = append(l.reach, n)
		}
	}
	return l, nil
}

// through returns the nodes of l with which the operator can arrive at next and then,
// without blocking the platform, continue from there.
func (l *level) through(next *level) map[graph.Node]bool {
	out := map[graph.Node]bool{}
	for _, n := range next.starts {
		if slices.ContainsFunc(next.from(n), func(m graph.Node) bool { return next.pass[m] }) {
			out[n] = true
		}
	}
	return out
}

// from returns n and the nodes that it can become at this level.
func (l *level) from(n graph.Node) []graph.Node {
	out := []graph.Node{n}
	if l.u != nil {
		out = slices.AppendSeq(out, l.u.Reachable(n))
	}
	return out
}

// travel chooses the steps of the operator up to level end. It adds them to taken, and the
// blockers and the result of the operator to plan.
func (r *road) travel(ctx context.Context, end int, plan *Plan, taken [][]Step) error {
	at := r.start
	for k := 0; k <= end; k++ {
		l := &r.levels[k]
		r.came = append(r.came, at)
		var steps []graph.Step
		if l.u != nil {
			steps = r.choose(k, at)
		}
		if err := r.report(ctx, plan, k, at, steps); err != nil {
			return err
		}
		for i := range steps {
			taken[k] = append(taken[k], Step{Platform: r.at(k).String(), Package: r.Package, Catalog: l.catalog, Operator: &steps[i]})
			at = steps[i].To
		}
	}
	o := OperatorPlan{Package: r.Package, From: r.start, To: at}
	if u := r.levels[end].u; u != nil {
		o.AtHead = slices.Contains(u.Heads(), at)
	}
	for k := 0; k <= r.end; k++ {
		if !r.hasCatalog(r.at(k)) {
			continue
		}
		o.Checked = true
		if !r.safe(k) {
			break
		}
		o.LastSafe = r.at(k).String()
	}
	plan.Operators = append(plan.Operators, o)
	return nil
}

// choose returns the steps that the operator takes at level k, where it arrives with node
// at.
func (r *road) choose(k int, at graph.Node) []graph.Step {
	l := &r.levels[k]
	// An operator whose package is missing from a later catalog is upgraded as far as the
	// earlier ones allow.
	home := l.best(at)
	ok := func(n graph.Node) bool { return l.pass[n] && l.home[n] == home }
	if r.Strategy == Minimal && k < r.end {
		return r.fewest(l, at, ok)
	}
	w := l.u.Walk(at)
	if w.Loops {
		// The last step leads back to an earlier node.
		w.Steps = w.Steps[:len(w.Steps)-1]
		w.End = at
		if n := len(w.Steps); n > 0 {
			w.End = w.Steps[n-1].To
		}
	}
	if ok(w.End) {
		return w.Steps
	}
	// OLM itself would upgrade too far: choose the allowed node that is nearest to the
	// head.
	best, dist := []graph.Step(nil), -1
	for _, n := range l.from(at) {
		if !ok(n) {
			continue
		}
		d := 1 << 30
		if rest, ok := l.u.PathToHead(n); ok {
			d = len(rest)
		}
		path, _ := l.u.Path(at, n)
		if dist < 0 || d < dist || d == dist && len(path) < len(best) {
			best, dist = path, d
		}
	}
	return best
}

// fewest returns the shortest path from at to a node that ok accepts.
func (r *road) fewest(l *level, at graph.Node, ok func(graph.Node) bool) []graph.Step {
	var best []graph.Step
	found := false
	for _, n := range l.from(at) {
		if path, _ := l.u.Path(at, n); ok(n) && (!found || len(path) < len(best)) {
			best, found = path, true
		}
	}
	return best
}

// safe reports whether the catalog of level k has the operator's package, and a path to the
// head from a node with which the operator can arrive.
func (r *road) safe(k int) bool {
	l := &r.levels[k]
	if l.u == nil {
		return false
	}
	for _, n := range l.starts {
		if _, ok := l.u.PathToHead(n); ok {
			return true
		}
	}
	return false
}

// unchecked returns what the plan could not check.
func (t *trip) unchecked(roads []*road) []Unchecked {
	if len(roads) == 0 {
		return nil
	}
	var out []Unchecked
	for v := t.from; v.Compare(t.to) <= 0; v = v.Next() {
		if !t.hasCatalog(v) {
			out = append(out, Unchecked{Platform: v.String()})
		}
		for _, c := range t.catalogs[v] {
			if n := t.unread(c.Graph); n > 0 {
				out = append(out, Unchecked{Platform: v.String(), Catalog: c.Name, Errors: n})
			}
		}
	}
	for _, r := range roads {
		if !r.known {
			out = append(out, Unchecked{Package: r.Package, Bundle: &r.start})
		}
	}
	return out
}

// unread returns how many errors a catalog has that may concern an installed
// operator: those of its package, and those of no known package.
func (t *trip) unread(c *graph.Catalog) int {
	n := 0
	for _, d := range c.Problems().Errors() {
		if d.Package == "" || slices.ContainsFunc(t.installs, func(o *Operator) bool { return o.Package == d.Package }) {
			n++
		}
	}
	return n
}

// kubeText returns a clause that states which Kubernetes a version of the platform runs.
func kubeText(at property.MinorVersion) string {
	kube, _ := kubernetes(at)
	return fmt.Sprintf("%s runs Kubernetes %s", at, kube)
}
