package graph

import (
	"cmp"
	"context"
	"errors"
	"hash/crc32"
	"iter"
	"math"
	"slices"

	"github.com/olmkit/olmkit/property"
)

// split returns the records of each package, in order, numbered from 0 and with a text of
// their own. Only the numbers of problems are those of the catalog.
func (c *Catalog) split(ctx context.Context) iter.Seq2[*records, error] {
	return func(yield func(*records, error) bool) {
		if c.parts != nil {
			for part := range c.parts.all() {
				if !yield(&part.records, nil) {
					return
				}
			}
			if err := c.Err(); err != nil {
				yield(nil, err)
			}
			return
		}
		all, err := c.withModes(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		s := splitter{from: all, number: make([]sid, len(all.end))}
		for i := range all.packages {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(s.part(uint32(i)), nil) {
				return
			}
		}
	}
}

// A splitter copies the records of packages.
type splitter struct {
	from, to *records
	number   []sid // in to, of each string of from that it has
	seen     []sid // these strings
	all      []byte
	ranges   map[uint32]uint32 // numbers in to
	required map[uint32]uint32
}

// part returns the records of one package.
func (s *splitter) part(i uint32) *records {
	for _, x := range s.seen {
		s.number[x] = 0
	}
	s.seen, s.all = s.seen[:0], s.all[:0]
	s.ranges, s.required = map[uint32]uint32{}, map[uint32]uint32{}
	s.to = &records{}
	s.to.end = []uint32{0}
	p := s.from.packages[i]
	s.texts(&p)
	first := p.bundles.from
	p.name, p.defaultChannel, p.pos = s.text(p.name), s.text(p.defaultChannel), s.pos(p.pos)
	p.deprecated = s.deprecation(p.deprecated)
	var entries uint32 // the number of the first
	for _, r := range in(s.from.channels, p.channels) {
		if len(s.to.entries) == 0 {
			entries = r.entries.from
		}
		s.channel(r, entries, first)
	}
	bundles := in(s.from.bundles, p.bundles)
	apis := s.apis(bundles)
	for _, r := range bundles {
		s.bundle(r, entries, apis)
	}
	p.channels, p.bundles = span{0, size(s.to.channels)}, span{0, size(s.to.bundles)}
	s.to.packages = []packageRec{p}
	s.to.providers = postings(s.to.bundles, len(s.to.gvks), func(i uint32) *span { return &s.to.gvks[i].providers },
		func(r *bundleRec) []uint32 { return in(s.to.apis, r.apis) })
	s.to.table = newTable(string(s.all), s.to.end)
	s.to.joinLabels()
	return s.to
}

// texts numbers the strings of a package by kind, because strings of one kind resemble each
// other.
func (s *splitter) texts(p *packageRec) {
	s.text(p.name)
	bundles := in(s.from.bundles, p.bundles)
	for _, f := range []func(*bundleRec) sid{
		func(r *bundleRec) sid { return r.name },
		func(r *bundleRec) sid { return r.image },
		func(r *bundleRec) sid { return r.pos.file },
		func(r *bundleRec) sid { return r.version.pre },
		func(r *bundleRec) sid { return r.version.build },
	} {
		for i := range bundles {
			s.text(f(&bundles[i]))
		}
	}
	// The properties at each place in the lists of all bundles, because most bundles of a
	// package have the same types in the same order.
	left := make([][]propRec, len(bundles))
	for i := range bundles {
		left[i] = in(s.from.props, bundles[i].props)
	}
	for len(left) > 0 {
		n := 0
		for _, list := range left {
			if len(list) == 0 {
				continue
			}
			s.prop(list[0])
			left[n] = list[1:]
			n++
		}
		left = left[:n]
	}
}

// text returns the number of a string in the copy.
func (s *splitter) text(x sid) sid {
	if x == 0 || s.number[x] > 0 {
		return s.number[x]
	}
	s.all = append(s.all, s.from.str(x)...)
	s.to.end = append(s.to.end, uint32(len(s.all)))
	s.number[x] = sid(len(s.to.end) - 1)
	s.seen = append(s.seen, x)
	return s.number[x]
}

func (s *splitter) pos(p pos) pos { return pos{s.text(p.file), p.line} }

func (s *splitter) prop(p propRec) propRec {
	p.typ = s.text(p.typ)
	if p.value > 0 {
		p.value = 1 + uint32(s.text(sid(p.value-1)))
	}
	return p
}

func (s *splitter) deprecation(n uint32) uint32 {
	if n == 0 {
		return 0
	}
	s.to.deprecations = append(s.to.deprecations, deprecationRec{s.text(s.from.deprecations[n-1].message)})
	return size(s.to.deprecations)
}

// channel copies a channel with its entries. first and bundle are the numbers of the first
// entry and the first bundle of the package.
func (s *splitter) channel(r channelRec, first, bundle uint32) {
	i := size(s.to.channels)
	from := size(s.to.entries)
	for _, e := range in(s.from.entries, r.entries) {
		e.channel, e.name, e.replaces = i, s.text(e.name), s.text(e.replaces)
		if e.bundle > 0 {
			e.bundle -= bundle
		}
		at := size(s.to.skips)
		for _, x := range in(s.from.skips, e.skips) {
			s.to.skips = append(s.to.skips, s.text(x))
		}
		e.skips = span{at, size(s.to.skips)}
		if e.skipRange > 0 {
			e.skipRange = 1 + numberOf(s.ranges, e.skipRange-1, func() { s.to.ranges = append(s.to.ranges, s.text(s.from.ranges[e.skipRange-1])) })
		}
		s.to.entries = append(s.to.entries, e)
	}
	r.entries = span{from, size(s.to.entries)}
	from = size(s.to.order)
	for _, e := range in(s.from.order, r.order) {
		s.to.order = append(s.to.order, e-first)
	}
	r.order = span{from, size(s.to.order)}
	if r.head > 0 {
		r.head -= first
	}
	r.pkg, r.name, r.pos, r.deprecated = 0, s.text(r.name), s.pos(r.pos), s.deprecation(r.deprecated)
	s.to.channels = append(s.to.channels, r)
}

// numberOf returns the number of x. For a new x, it is the next one, and add is called.
func numberOf(numbers map[uint32]uint32, x uint32, add func()) uint32 {
	n, ok := numbers[x]
	if !ok {
		n = uint32(len(numbers))
		numbers[x] = n
		add()
	}
	return n
}

// apis copies the APIs of bundles and returns their numbers, sorted.
func (s *splitter) apis(bundles []bundleRec) []uint32 {
	var numbers []uint32
	for i := range bundles {
		numbers = append(numbers, in(s.from.apis, bundles[i].apis)...)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for _, n := range numbers {
		r := s.from.gvks[n]
		s.to.gvks = append(s.to.gvks, gvkRec{group: s.text(r.group), version: s.text(r.version), kind: s.text(r.kind)})
	}
	return numbers
}

// bundle copies a bundle. entry is the number of the first entry of the package, and apis are
// its APIs.
func (s *splitter) bundle(r bundleRec, entry uint32, apis []uint32) {
	r.pkg, r.name, r.image, r.pos, r.deprecated = 0, s.text(r.name), s.text(r.image), s.pos(r.pos), s.deprecation(r.deprecated)
	r.version.pre, r.version.build = s.text(r.version.pre), s.text(r.version.build)
	if r.modes > modesAreHere {
		r.modes = modesAreHere + uint32(s.text(sid(r.modes-modesAreHere)))
	}
	at := size(s.to.props)
	for _, p := range in(s.from.props, r.props) {
		s.to.props = append(s.to.props, s.prop(p))
	}
	r.props = span{at, size(s.to.props)}
	at = size(s.to.apis)
	for _, n := range in(s.from.apis, r.apis) {
		local, _ := slices.BinarySearch(apis, n)
		s.to.apis = append(s.to.apis, uint32(local))
	}
	r.apis = span{at, size(s.to.apis)}
	at = size(s.to.bundleLabels)
	for _, x := range in(s.from.bundleLabels, r.labels) {
		s.to.bundleLabels = append(s.to.bundleLabels, s.text(x))
	}
	slices.Sort(s.to.bundleLabels[at:])
	r.labels = span{at, size(s.to.bundleLabels)}
	at = size(s.to.required)
	for _, q := range in(s.from.required, r.required) {
		old := q.requirement
		q.requirement = numberOf(s.required, old, func() {
			x := s.from.requirements[old]
			s.to.requirements = append(s.to.requirements, requirementRec{s.text(x.typ), s.text(x.value)})
			s.to.ids = append(s.to.ids, old)
		})
		s.to.required = append(s.to.required, q)
	}
	r.required = span{at, size(s.to.required)}
	at = size(s.to.bundleEntries)
	for _, e := range in(s.from.bundleEntries, r.entries) {
		s.to.bundleEntries = append(s.to.bundleEntries, e-entry)
	}
	r.entries = span{at, size(s.to.bundleEntries)}
	s.to.bundles = append(s.to.bundles, r)
}

// A directoryBuilder packs packages and lists them.
type directoryBuilder struct {
	t      *tableBuilder
	list   []partRec
	packed []byte
	apis   []apiOf
	labels []labelOf
	big    bool // a package is too large
}

// An apiOf is an API that a package provides.
type apiOf struct {
	group, version, kind sid
	pkg                  uint32
}

// A labelOf is a label that a bundle of a package has.
type labelOf struct {
	label sid
	pkg   uint32
}

func newDirectoryBuilder() *directoryBuilder { return &directoryBuilder{t: newTableBuilder()} }

// add adds the next package.
func (b *directoryBuilder) add(part *records) {
	i := size(b.list)
	r := partRec{name: b.t.id(part.str(part.packages[0].name)), channels: size(part.channels), entries: size(part.entries), bundles: size(part.bundles)}
	if i > 0 {
		last := &b.list[i-1]
		r.channels, r.entries, r.bundles = r.channels+last.channels, r.entries+last.entries, r.bundles+last.bundles
	}
	from := len(b.packed)
	var memory uint64
	b.packed, memory = part.pack(b.packed)
	b.big = b.big || memory > math.MaxUint32
	r.memory, r.end, r.sum = uint32(memory), uint64(len(b.packed)), crc32.Checksum(b.packed[from:], castagnoli)
	b.list = append(b.list, r)
	for _, g := range part.gvks {
		b.apis = append(b.apis, apiOf{b.t.id(part.str(g.group)), b.t.id(part.str(g.version)), b.t.id(part.str(g.kind)), i})
	}
	for _, l := range part.labels {
		b.labels = append(b.labels, labelOf{b.t.id(part.str(l.label)), i})
	}
}

// done returns the directory.
func (b *directoryBuilder) done(tail string) (*directory, error) {
	if b.big || b.t.full {
		return nil, errors.New("a package or the names of the catalog need more than 4 GiB; split the catalog")
	}
	r := &records{table: b.t.done()}
	gvk := func(x apiOf) property.GVK {
		return property.GVK{Group: r.str(x.group), Version: r.str(x.version), Kind: r.str(x.kind)}
	}
	slices.SortStableFunc(b.apis, func(x, y apiOf) int { return gvk(x).Compare(gvk(y)) })
	for i, x := range b.apis {
		at := size(r.providers)
		if i == 0 || gvk(b.apis[i-1]) != gvk(x) {
			r.gvks = append(r.gvks, gvkRec{x.group, x.version, x.kind, span{at, at}})
		}
		r.providers = append(r.providers, x.pkg)
		r.gvks[len(r.gvks)-1].providers.to++
	}
	slices.SortStableFunc(b.labels, func(x, y labelOf) int { return cmp.Compare(r.str(x.label), r.str(y.label)) })
	for i, x := range b.labels {
		at := size(r.labeled)
		if i == 0 || b.labels[i-1].label != x.label {
			r.labels = append(r.labels, labelRec{x.label, span{at, at}})
		}
		r.labeled = append(r.labeled, x.pkg)
		r.labels[len(r.labels)-1].bundles.to++
	}
	return &directory{b.list, r, r.text(), tail}, nil
}
