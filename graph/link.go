package graph

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// finish sorts and joins the records that add collected. The builder must not be used
// afterwards.
func (b *builder) finish(ctx context.Context) (*Catalog, error) {
	c := b.c
	if b.t.full {
		return nil, fmt.Errorf("index: the names, versions and properties of the catalog have more than %d bytes; split the catalog", b.t.max)
	}
	c.table, b.t = b.t.done(), nil
	b.place = make([]uint32, len(c.table.end))
	for _, step := range []func(){b.sortBundles, b.numberRequirements, b.sortChannels, b.sortPackages, b.joinEntries, b.joinAPIs, c.joinLabels, b.bundleEntries} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		step()
	}
	c.meaning.exprs, c.meaning.ranges = known(b.exprs), known(b.rngs)
	c.order = make([]uint32, 0, len(c.entries))
	for i := range c.channels {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.sortEntries(uint32(i))
	}
	b.deprecations()
	b.sortProblems()
	b.sortOthers()
	return c, nil
}

// meta returns the common fields of a blob, for a problem.
func (b *builder) meta(schema string, pkg, name sid, at pos) fbc.Meta {
	return fbc.Meta{Schema: schema, Package: b.c.str(pkg), Name: b.c.str(name), Pos: b.c.at(at)}
}

// compare orders blobs by package, name and position.
func (b *builder) compare(pkg1, pkg2, name1, name2 sid, at1, at2 pos) int {
	for _, x := range [...][2]sid{{pkg1, pkg2}, {name1, name2}, {at1.file, at2.file}} {
		if x[0] != x[1] { // different texts
			return strings.Compare(b.c.str(x[0]), b.c.str(x[1]))
		}
	}
	return cmp.Compare(at1.line, at2.line)
}

// sortBundles sorts the bundles, those of each package separately. The lists that they refer to
// do not move.
func (b *builder) sortBundles() {
	c := b.c
	packages := map[uint32][]uint32{}
	for i := range uint32(b.bundles.n) {
		pkg := b.bundles.at(i).pkg
		packages[pkg] = append(packages[pkg], i)
	}
	order := make([]uint32, 0, b.bundles.n)
	for _, pkg := range slices.SortedFunc(maps.Keys(packages), func(x, y uint32) int { return strings.Compare(c.str(sid(x)), c.str(sid(y))) }) {
		slices.SortFunc(packages[pkg], func(i, j uint32) int {
			x, y := b.bundles.at(i), b.bundles.at(j)
			return cmp.Or(b.compare(0, 0, x.name, y.name, x.pos, y.pos), cmp.Compare(i, j))
		})
		order = append(order, packages[pkg]...)
	}
	c.bundles = inOrder(&b.bundles, order)
	if b.texts.n > 0 {
		c.texts = inOrder(&b.texts, order)
	}
	c.props = b.props.flat()
}

// inOrder returns the items of a list in the order of the given indexes, and empties the
// list.
func inOrder[T any](list *blocks[T], order []uint32) []T {
	out := make([]T, len(order))
	for i, n := range order {
		out[i] = *list.at(n)
	}
	*list = blocks[T]{}
	return out
}

// numberRequirements numbers the requirements in the order in which the sorted bundles
// state them. The numbers are visible in Requirement.ID.
func (b *builder) numberRequirements() {
	c := b.c
	number := make([]uint32, len(c.requirements)) // 1 + the new number
	order := make([]uint32, 0, len(number))
	see := func(old uint32) {
		if number[old] == 0 {
			order = append(order, old)
			number[old] = uint32(len(order))
		}
	}
	for i := range c.bundles {
		list := in(c.required, c.bundles[i].required)
		for k := range list {
			see(list[k].requirement)
			list[k].requirement = number[list[k].requirement] - 1
		}
	}
	for old := range number { // those of bundles with too many
		see(uint32(old))
	}
	requirements, exprs := c.requirements, b.exprs
	c.requirements, b.exprs = make([]requirementRec, len(order)), make([]*outcome[constraints.Expr], len(order))
	for i, old := range order {
		c.requirements[i], b.exprs[i] = requirements[old], exprs[old]
	}
}

// sortChannels sorts the channels and their entries.
func (b *builder) sortChannels() {
	c := b.c
	slices.SortStableFunc(c.channels, func(x, y channelRec) int {
		return b.compare(sid(x.pkg), sid(y.pkg), x.name, y.name, x.pos, y.pos)
	})
	c.entries = make([]entryRec, 0, b.entries.n)
	for i := range c.channels {
		r := &c.channels[i]
		from := uint32(len(c.entries))
		for k := r.entries.from; k < r.entries.to; k++ {
			e := *b.entries.at(k)
			e.channel = uint32(i)
			c.entries = append(c.entries, e)
		}
		r.entries = span{from, uint32(len(c.entries))}
	}
	b.entries = blocks[entryRec]{}
}

// sortPackages sorts the packages, including those without a blob that channels or bundles
// name, and links each to its channels and bundles.
func (b *builder) sortPackages() {
	c := b.c
	slices.SortStableFunc(c.packages, func(x, y packageRec) int {
		return b.compare(x.name, y.name, 0, 0, x.pos, y.pos)
	})
	c.packages = slices.CompactFunc(c.packages, func(x, y packageRec) bool { return x.name == y.name })
	number := make(map[sid]uint32, len(c.packages))
	for _, r := range c.packages {
		number[r.name] = 0
	}
	missing := func(schema string, pkg, name sid, at pos) {
		if _, ok := number[pkg]; !ok {
			number[pkg] = 0
			c.packages = append(c.packages, packageRec{name: pkg})
			meta := b.meta(schema, pkg, name, at)
			b.problem(codes.NoPackage, &meta, "/package", fmt.Errorf("package %q has no %s blob", meta.Package, fbc.SchemaPackage))
		}
	}
	for i := range c.channels {
		r := &c.channels[i]
		missing(fbc.SchemaChannel, sid(r.pkg), r.name, r.pos)
	}
	for i := range c.bundles {
		r := &c.bundles[i]
		missing(fbc.SchemaBundle, sid(r.pkg), r.name, r.pos)
	}
	slices.SortFunc(c.packages, func(x, y packageRec) int { return strings.Compare(c.str(x.name), c.str(y.name)) })
	if b.packageTexts != nil {
		c.packageTexts = make([]fbc.Text, len(c.packages))
	}
	for i := range c.packages {
		r := &c.packages[i]
		number[r.name] = uint32(i)
		if r.deprecated > 0 {
			c.packageTexts[i], r.deprecated = b.packageTexts[r.deprecated-1], 0
		}
	}
	for i := range c.channels {
		r := &c.channels[i]
		r.pkg = number[sid(r.pkg)]
		extend(&c.packages[r.pkg].channels, uint32(i))
	}
	for i := range c.bundles {
		r := &c.bundles[i]
		r.pkg = number[sid(r.pkg)]
		extend(&c.packages[r.pkg].bundles, uint32(i))
	}
}

// extend adds number i, which follows all others, to a span.
func extend(s *span, i uint32) {
	if s.len() == 0 {
		s.from = i
	}
	s.to = i + 1
}

// joinEntries finds the bundle of each entry.
func (b *builder) joinEntries() {
	c := b.c
	for i := range c.packages {
		p := &c.packages[i]
		bundles := in(c.bundles, p.bundles)
		for k := range slices.Backward(bundles) { // the first of those with one name
			b.place[bundles[k].name] = p.bundles.from + uint32(k) + 1
		}
		for k := range in(c.channels, p.channels) {
			b.joinChannel(p, &c.channels[p.channels.from+uint32(k)])
		}
		for k := range bundles {
			b.place[bundles[k].name] = 0
		}
	}
}

func (b *builder) joinChannel(p *packageRec, ch *channelRec) {
	c := b.c
	entries := in(c.entries, ch.entries)
	for i := range entries {
		e := &entries[i]
		k := e.bundle // the number in the blob, so far
		if e.bundle = b.place[e.name]; e.bundle > 0 {
			continue
		}
		meta := b.meta(fbc.SchemaChannel, p.name, ch.name, ch.pos)
		b.problem(codes.NoBundle, &meta, entryPath(k), fmt.Errorf("entry %q has no %s blob in package %q", c.str(e.name), fbc.SchemaBundle, meta.Package))
	}
}

// joinAPIs sorts the APIs and lists their providers.
func (b *builder) joinAPIs() {
	c := b.c
	order := make([]uint32, len(c.gvks))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return c.gvk(x).Compare(c.gvk(y)) })
	number, sorted := make([]uint32, len(order)), make([]gvkRec, len(order))
	for i, n := range order {
		number[n], sorted[i] = uint32(i), c.gvks[n]
	}
	c.gvks = sorted
	all := 0
	for _, p := range c.props {
		if p.typ == b.gvkType {
			all++
		}
	}
	c.apis = make([]uint32, 0, all)
	for i := range c.bundles { // each bundle's, once
		r := &c.bundles[i]
		from := len(c.apis)
		for _, p := range in(c.props, r.props) {
			if p.typ == b.gvkType && p.value > 0 {
				if n, ok := b.gvkOf[sid(p.value-1)]; ok {
					c.apis = append(c.apis, number[n])
				}
			}
		}
		slices.Sort(c.apis[from:])
		b.repeatedAPI(r, c.apis[from:])
		c.apis = c.apis[:from+len(slices.Compact(c.apis[from:]))]
		r.apis = span{uint32(from), uint32(len(c.apis))}
	}
	c.providers = postings(c.bundles, len(c.gvks), func(i uint32) *span { return &c.gvks[i].providers }, func(r *bundleRec) []uint32 { return in(c.apis, r.apis) })
}

// repeatedAPI records that a bundle lists an API twice (H26). Its APIs are sorted.
func (b *builder) repeatedAPI(r *bundleRec, apis []uint32) {
	for i := 1; i < len(apis); i++ {
		if apis[i] != apis[i-1] {
			continue
		}
		r.flags |= flagTwice
		m := b.meta(fbc.SchemaBundle, b.c.packages[r.pkg].name, r.name, r.pos)
		at := b.problem(codes.APITwice, &m, "/properties", fmt.Errorf("%s is listed twice", b.c.gvk(apis[i])))
		b.c.problems[at-1].Severity = fbc.Warning
		return
	}
}

// joinLabels sorts the labels and lists the bundles that have them.
func (c *records) joinLabels() {
	texts := slices.Clone(c.bundleLabels)
	slices.SortFunc(texts, func(x, y sid) int { return strings.Compare(c.str(x), c.str(y)) })
	number := map[sid]uint32{}
	for i, l := range slices.Compact(texts) {
		number[l] = uint32(i)
		c.labels = append(c.labels, labelRec{label: l})
	}
	var list []uint32
	c.labeled = postings(c.bundles, len(c.labels), func(i uint32) *span { return &c.labels[i].bundles }, func(r *bundleRec) []uint32 {
		list = list[:0]
		for _, l := range in(c.bundleLabels, r.labels) {
			list = append(list, number[l])
		}
		return list
	})
}

// postings returns, for each of n things such as labels, the bundles that have it, in
// ascending order and one thing after another. It sets the span of each thing, to which
// where returns a pointer. of returns the things of a bundle, without duplicates.
func postings(bundles []bundleRec, n int, where func(uint32) *span, of func(*bundleRec) []uint32) []uint32 {
	for i := range bundles {
		for _, x := range of(&bundles[i]) {
			where(x).to++ // counts, for now
		}
	}
	var from uint32
	for x := range uint32(n) {
		s := where(x)
		from += s.to
		*s = span{from - s.to, from - s.to}
	}
	list := make([]uint32, from)
	for i := range bundles {
		for _, x := range of(&bundles[i]) {
			s := where(x)
			list[s.to] = uint32(i)
			s.to++
		}
	}
	return list
}

// bundleEntries lists the entries of each bundle, by channel.
func (b *builder) bundleEntries() {
	count := make([]uint32, len(b.c.bundles)+1)
	for _, e := range b.c.entries {
		if e.bundle > 0 {
			count[e.bundle]++
		}
	}
	for i := range b.c.bundles {
		from := count[i]
		count[i+1] += from
		b.c.bundles[i].entries = span{from, from}
	}
	b.c.bundleEntries = make([]uint32, count[len(b.c.bundles)])
	for i, e := range b.c.entries {
		if e.bundle > 0 {
			s := &b.c.bundles[e.bundle-1].entries
			b.c.bundleEntries[s.to] = uint32(i)
			s.to++
		}
	}
}

// sortProblems sorts the problems by position and renumbers the faults that refer to them.
func (b *builder) sortProblems() {
	list := b.c.problems
	at := make([]uint32, len(list))
	for i := range at {
		at[i] = uint32(i)
	}
	slices.SortStableFunc(at, func(i, j uint32) int { return list[i].Compare(list[j]) })
	place := make([]uint32, len(list)+1)
	sorted := make(fbc.Diagnostics, len(list))
	for to, from := range at {
		sorted[to], place[from+1] = list[from], uint32(to)+1
	}
	for i := range b.c.bundles {
		b.c.bundles[i].fault = place[b.c.bundles[i].fault]
	}
	for i := range b.c.channels {
		b.c.channels[i].fault = place[b.c.channels[i].fault]
	}
	b.c.problems = sorted
}

// sortOthers sorts the blobs by package, schema and position.
func (b *builder) sortOthers() {
	slices.SortStableFunc(b.c.others, func(x, y other) int {
		return cmp.Or(cmp.Compare(x.Package, y.Package), cmp.Compare(x.Schema, y.Schema), x.meta().Pos.Compare(y.meta().Pos))
	})
}
