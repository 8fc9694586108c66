package view

import (
	"context"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
)

// maxProblems is the maximum number of problems of a catalog that the page lists.
const maxProblems = 100

// newCatalog returns the data of a catalog. installed are the nodes to mark, by package; added are the names, by
// package, of the bundles that the older catalog lacks. The error is the context's.
func newCatalog(ctx context.Context, in Catalog, installed map[string][]graph.Node, added map[string]map[string]bool) (*catalogData, error) {
	c := in.Graph
	d := &catalogData{Name: in.Name, Bundles: c.Size().Bundles, Channels: c.Size().Channels, Packages: []pkgData{}}
	problem := func(err error) {
		if d.NumProblems++; d.NumProblems <= maxProblems {
			d.Problems = append(d.Problems, err.Error())
		}
	}
	for _, p := range c.Findings() {
		problem(p)
	}
	r := &wordReader{ctx: ctx}
	for p := range c.Packages() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b := pkgBuilder{pkg: p, installed: installed[p.Name()], number: map[graph.Node]int{}}
		b.avoid(in.Verdicts[p.Name()], in.Avoids)
		b.build(added[p.Name()])
		b.addVerdicts(in.Verdicts[p.Name()])
		if err := b.addWords(r); err != nil {
			return nil, err
		}
		d.Packages = append(d.Packages, b.data)
	}
	for _, err := range r.faults {
		problem(err)
	}
	d.NoWords = r.absent
	return d, nil
}

// A pkgBuilder collects the data of a package. Its maps are never ranged over.
type pkgBuilder struct {
	pkg       graph.Package
	installed []graph.Node
	data      pkgData
	nodes     []graph.Node // newest first
	number    map[graph.Node]int
	named     map[string]int // the node that a name in the catalog refers to
	reasons   interned
	apis      interned
	needs     interned
	sets      interned
	excluded  []graph.Exclusion // the upgrades to avoid
}

// avoid sets the upgrades to avoid.
func (b *pkgBuilder) avoid(list []Verdict, text string) {
	for _, x := range list {
		if x.Avoid {
			b.excluded = append(b.excluded, graph.Exclusion{From: x.From, To: x.To, Reason: x.Text})
			b.data.Avoids = text
		}
	}
}

// build collects everything except display names and descriptions.
func (b *pkgBuilder) build(added map[string]bool) {
	b.data = pkgData{Name: b.pkg.Name(), Default: b.pkg.DefaultChannelName(), Avoids: b.data.Avoids, Nodes: []nodeData{}, Channels: []channelData{}}
	b.data.Deprecated, _ = b.pkg.Deprecation()
	b.addNodes(added)
	for ch := range b.pkg.Channels() {
		b.data.Channels = append(b.data.Channels, b.channel(ch))
	}
	if len(b.data.Channels) > 1 {
		b.data.All = b.ways(b.pkg.Upgrades(graph.V1, &graph.UpgradeOptions{Installed: b.nodes}))
	}
	b.data.Reasons, b.data.APIs, b.data.Needs = b.reasons.list, b.apis.list, b.needs.list
}

// addVerdicts adds the verdicts on upgrades.
func (b *pkgBuilder) addVerdicts(list []Verdict) {
	for _, x := range list {
		from, ok := b.named[x.From]
		to, has := b.named[x.To]
		if ok && has {
			b.data.Verdicts = append(b.data.Verdicts, verdictData{from, to, x.Verdict, x.Text})
		}
	}
}

// addNodes adds everything that may be installed: all bundles in any channel, the names that edges mention, and the
// installed nodes.
func (b *pkgBuilder) addNodes(added map[string]bool) {
	known := slices.Clone(b.installed)
	for x := range b.pkg.Bundles() {
		known = append(known, x.Node())
	}
	b.nodes = slices.Collect(b.pkg.Upgrades(graph.V1, &graph.UpgradeOptions{Installed: known}).Nodes())
	slices.Reverse(b.nodes)
	b.named = map[string]int{}
	labels := b.labels()
	for i, n := range b.nodes {
		b.number[n] = i
		d := nodeData{Name: n.Name, Version: n.Version, Label: labels[i]}
		x, ok := b.pkg.Bundle(n.Name)
		if ok && x.Node() != n { // installed under the name of a bundle, but with a different version
			ok = false
		}
		if _, has := b.named[n.Name]; ok || !has {
			b.named[n.Name] = i
		}
		if ok {
			b.describe(&d, x)
		} else {
			d.Marks = append(d.Marks, markNoContent)
		}
		if slices.Contains(b.installed, n) {
			d.Marks = append(d.Marks, markInstalled)
		}
		if added[n.Name] {
			d.Marks = append(d.Marks, markNew)
		}
		b.data.Nodes = append(b.data.Nodes, d)
	}
}

// describe sets the fields of d that come from the bundle x in the catalog.
func (b *pkgBuilder) describe(d *nodeData, x graph.Bundle) {
	d.Image = x.Image()
	if err := x.Err(); err != nil {
		d.Fault = err.Error()
	}
	var set []int
	for g := range x.APIs() {
		set = append(set, b.apis.add(g.String()))
	}
	if len(set) > 0 {
		at := b.sets.add(key(set))
		if at == len(b.data.Sets) {
			b.data.Sets = append(b.data.Sets, set)
		}
		d.APIs = &at
	}
	for r := range x.Requirements() {
		d.Needs = append(d.Needs, b.needs.add(r.Expr.String()))
	}
	if m, ok := x.Deprecation(); ok {
		d.Deprecated = m
		d.Marks = append(d.Marks, markDeprecated)
	}
	if x.IsProhibited() {
		d.Marks = append(d.Marks, markProhibited)
	}
}

// labels returns a short text for each node: the name without the common stem,
// or the version if it is unique, or the full name.
func (b *pkgBuilder) labels() []string {
	stem := b.stem()
	versions := map[string]int{}
	for _, n := range b.nodes {
		versions[n.Version]++
	}
	out, times := make([]string, len(b.nodes)), map[string]int{}
	for i, n := range b.nodes {
		short, ok := strings.CutPrefix(n.Name, stem)
		switch {
		case stem != "" && ok && short != "":
			out[i] = short
		case n.Version != "" && versions[n.Version] == 1:
			out[i] = n.Version
		default:
			out[i] = n.Name
		}
		times[out[i]]++
	}
	for i, n := range b.nodes {
		if times[out[i]] > 1 {
			out[i] = n.String()
		}
	}
	return out
}

// stem returns the common beginning of all bundle names before their version,
// such as "etcdoperator.v", or "".
func (b *pkgBuilder) stem() string {
	all := ""
	for x := range b.pkg.Bundles() {
		s, ok := strings.CutSuffix(x.Name(), x.Node().Version)
		if !ok || s == x.Name() || all != "" && s != all {
			return ""
		}
		all = s
	}
	return all
}

// channel returns the data of a channel.
func (b *pkgBuilder) channel(ch graph.Channel) channelData {
	d := channelData{Name: ch.Name(), Heads: []int{}, Rows: []int{}, Edges: [][3]int{}}
	d.Deprecated, _ = ch.Deprecation()
	d.Faults, d.NumFaults = faults(ch)
	o := &graph.UpgradeOptions{Channels: []string{ch.Name()}, Installed: b.nodes}
	classic, v1 := b.pkg.Upgrades(graph.Classic, o), b.pkg.Upgrades(graph.V1, o)
	d.Classic, d.V1 = b.ways(classic), b.ways(v1)
	if err := classic.Err(); err != nil {
		d.Faults = append(d.Faults, err.Error())
		d.NumFaults++
	}
	c := channelBuilder{pkgBuilder: b, ch: ch, data: &d, row: map[int]bool{}}
	c.addRows(classic)
	c.addEdges()
	c.addRails(classic, v1)
	d.StrandedClassic, d.StrandedV1 = c.stranded(classic), c.stranded(v1)
	return d
}

// maxFaults is the maximum number of faults of a channel that the page lists.
const maxFaults = 20

// faults returns the first faults of a channel, and their total number.
func faults(ch graph.Channel) (first []string, all int) {
	for _, p := range ch.Package().Catalog().Findings() {
		if p.Schema != "olm.channel" || p.Name != ch.Name() || p.Package != ch.Package().Name() {
			continue
		}
		if all++; all <= maxFaults {
			first = append(first, p.Err.Error())
		}
	}
	return first, all
}
