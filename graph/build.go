package graph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// Options adjust how a catalog is indexed. A nil *Options means all defaults.
type Options struct {
	// Load is passed to fbc.Load.
	Load *fbc.LoadOptions
	// ConstraintLimits bound the requirements that bundles may state.
	ConstraintLimits *constraints.Limits
	// Source is where an opened index finds the files that it was made from, for
	// [Bundle.Raw]. The caller answers for their being the same files still: see
	// [Catalog.SourceHash].
	Source fs.FS
}

// Load loads the catalog below the root of fsys and indexes it. Errors are
// those of fbc.Load; problems that leave a usable index are listed by
// [Catalog.Problems].
func Load(ctx context.Context, fsys fs.FS, opts *Options) (*Catalog, error) {
	var load *fbc.LoadOptions
	if opts != nil {
		load = opts.Load
	}
	blobs, err := fbc.Load(ctx, fsys, load)
	if err != nil {
		return nil, err
	}
	return Build(ctx, blobs, opts)
}

// LoadBytes loads a catalog from the text of one stream of documents and indexes
// it. The name stands for the file in positions.
func LoadBytes(ctx context.Context, text []byte, name string, opts *Options) (*Catalog, error) {
	var load *fbc.LoadOptions
	if opts != nil {
		load = opts.Load
	}
	blobs, err := fbc.LoadBytes(ctx, text, name, load)
	if err != nil {
		return nil, err
	}
	return Build(ctx, blobs, opts)
}

// Build indexes blobs, whose order does not matter. The blobs must not be
// modified while the index is in use. A broken catalog builds, with its faults
// listed by [Catalog.Problems]: the only errors are the context's and that of
// a catalog with more than 4 GiB of different text.
func Build(ctx context.Context, blobs *fbc.Catalog, opts *Options) (*Catalog, error) {
	b := builder{
		c: &Catalog{blobs: blobs}, t: newTableBuilder(),
		requirements: map[[2]sid]uint32{}, ranges: map[sid]uint32{},
		gvkOf: map[sid]uint32{}, numbers: map[property.GVK]uint32{}, labels: map[sid][]uint32{},
	}
	var limits *constraints.Limits
	if opts != nil {
		limits = opts.ConstraintLimits
	}
	b.compiler, b.perBundle = constraints.NewCompiler(limits), limits.PerBundle()
	bundles, channels := sortedBundles(blobs.Bundles), sortedChannels(blobs.Channels)
	b.packages(blobs.Packages, bundles, channels)
	b.c.bundles = make([]bundleRec, 0, len(bundles))
	for i, x := range bundles {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.bundle(x)
	}
	for i, x := range channels {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.channel(x)
	}
	b.apis()
	b.bundleEntries()
	b.c.meaning.exprs, b.c.meaning.ranges = known(b.exprs), known(b.rngs)
	b.c.table = b.t.table()
	for i := range b.c.channels {
		b.order(uint32(i))
	}
	b.deprecations(blobs.Deprecations)
	if b.t.full {
		return nil, fmt.Errorf("index: the names, versions and properties of the catalog have more than %d bytes; split the catalog", b.t.max)
	}
	b.c.table = b.t.table()
	b.sortProblems()
	return b.c, nil
}

type builder struct {
	c            *Catalog
	t            *tableBuilder
	compiler     *constraints.Compiler
	perBundle    int  // requirements that a bundle may state
	tooMany      bool // the bundle at hand states more
	requirements map[[2]sid]uint32
	exprs        []*outcome[constraints.Expr] // of each requirement
	ranges       map[sid]uint32
	rngs         []*outcome[constraints.Range]
	gvks         []property.GVK
	numbers      map[property.GVK]uint32 // in gvks
	gvkOf        map[sid]uint32          // by the text of a property
	labels       map[sid][]uint32
	pkgs         map[string]uint32
}

func sortedBundles(list []*fbc.Bundle) []*fbc.Bundle {
	return sortedBy(list, func(b *fbc.Bundle) *fbc.Meta { return &b.Meta })
}

func sortedChannels(list []*fbc.Channel) []*fbc.Channel {
	return sortedBy(list, func(b *fbc.Channel) *fbc.Meta { return &b.Meta })
}

// sortedBy returns the blobs by package, name and position.
func sortedBy[T any](list []T, meta func(T) *fbc.Meta) []T {
	return slices.SortedFunc(slices.Values(list), func(x, y T) int {
		a, b := meta(x), meta(y)
		if c := strings.Compare(a.Package, b.Package); c != 0 {
			return c
		}
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Pos.Compare(b.Pos)
	})
}

// problem records a fault and returns 1 + its number.
func (b *builder) problem(code fbc.Code, m *fbc.Meta, path string, err error) uint32 {
	b.c.problems = append(b.c.problems, &fbc.Diagnostic{
		Code: code, Pos: m.Pos, Schema: m.Schema, Package: m.Package, Name: m.Name, Path: path, Err: err,
	})
	return uint32(len(b.c.problems))
}

func (b *builder) pos(p fbc.Pos) pos { return pos{b.t.id(p.File), uint32(p.Line)} }

// packages adds the packages, also those that only other blobs name.
func (b *builder) packages(list []*fbc.Package, bundles []*fbc.Bundle, channels []*fbc.Channel) {
	list = sortedBy(list, func(p *fbc.Package) *fbc.Meta { return &p.Meta })
	b.pkgs = make(map[string]uint32, len(list))
	defined := map[string]*fbc.Package{}
	names := make([]string, 0, len(list))
	for _, p := range list {
		if _, ok := defined[p.Name]; !ok {
			defined[p.Name] = p
			names = append(names, p.Name)
		}
	}
	missing := func(m *fbc.Meta) {
		if _, ok := defined[m.Package]; !ok {
			defined[m.Package] = nil
			names = append(names, m.Package)
			b.problem(fbc.CodeNoPackage, m, "/package", fmt.Errorf("package %q has no %s blob", m.Package, fbc.SchemaPackage))
		}
	}
	for _, x := range channels {
		missing(&x.Meta)
	}
	for _, x := range bundles {
		missing(&x.Meta)
	}
	slices.Sort(names)
	for i, name := range names {
		b.pkgs[name] = uint32(i)
		r := packageRec{name: b.t.id(name)}
		if p := defined[name]; p != nil {
			r.defaultChannel, r.pos = b.t.id(p.DefaultChannel), b.pos(p.Pos)
		}
		b.c.packages = append(b.c.packages, r)
	}
}

// bundle adds the next bundle in order.
func (b *builder) bundle(x *fbc.Bundle) {
	i := uint32(len(b.c.bundles))
	pkg := b.pkgs[x.Package]
	r := bundleRec{pkg: pkg, name: b.t.id(x.Name), image: b.t.id(x.Image), pos: b.pos(x.Pos)}
	b.tooMany = false
	extend(&b.c.packages[pkg].bundles, i)
	var (
		versions int
		labels   []sid
		fault    = func(code fbc.Code, n int, err error) {
			p := b.problem(code, &x.Meta, fmt.Sprintf("/properties/%d/value", n), err)
			if r.fault == 0 {
				r.fault = p
			}
		}
	)
	r.props.from, r.required.from, r.apis.from = uint32(len(b.c.props)), uint32(len(b.c.required)), uint32(len(b.c.apis))
	for n, p := range x.Properties {
		rec := propRec{typ: b.t.id(p.Type)}
		if p.Value != nil {
			rec.value = uint32(b.t.bytes(p.Value)) + 1
		}
		b.c.props = append(b.c.props, rec)
		switch p.Type {
		case property.TypePackage:
			v, err := property.ParsePackage(p.Value)
			if err != nil {
				fault(fbc.CodeVersion, n, err)
				continue
			}
			version, err := semver.Parse(v.Version)
			if err != nil {
				fault(fbc.CodeVersion, n, fmt.Errorf("version %q is no semantic version: %w", v.Version, err))
				continue
			}
			if versions++; versions == 1 {
				r.version = b.t.version(version)
				r.flags |= flagVersion
			} else {
				fault(fbc.CodeVersion, n, errors.New("a second olm.package property; a bundle has exactly one"))
			}
		case property.TypeGVK:
			g, err := b.api(p, rec)
			if err != nil {
				fault(fbc.CodeAPI, n, err)
				continue
			}
			b.c.apis = append(b.c.apis, g)
		case property.TypeLabel:
			l, err := property.ParseLabel(p.Value)
			if err != nil {
				fault(fbc.CodeAPI, n, err)
				continue
			}
			labels = append(labels, b.t.id(l.Label))
		case property.TypeDeprecated:
			r.flags |= flagDeprecated
		case property.TypeCSVMetadata, property.TypeBundleObject:
			r.modes = modesInText
		default:
			b.requirement(p, rec, n, int(r.required.from), fault)
		}
	}
	if versions == 0 && r.fault == 0 {
		r.fault = b.problem(fbc.CodeVersion, &x.Meta, "/properties", fmt.Errorf("has no %s property; a bundle has exactly one", property.TypePackage))
	}
	r.props.to, r.required.to, r.apis.to = uint32(len(b.c.props)), uint32(len(b.c.required)), uint32(len(b.c.apis))
	slices.Sort(labels)
	labels = slices.Compact(labels)
	for _, l := range labels {
		b.labels[l] = append(b.labels[l], i)
	}
	r.labels = grow(&b.c.bundleLabels, labels...)
	b.c.bundles = append(b.c.bundles, r)
}

// api returns the number of the API that a property provides. What many bundles
// provide is read once.
func (b *builder) api(p property.Property, rec propRec) (uint32, error) {
	if n, ok := b.gvkOf[sid(rec.value-1)]; ok && rec.value > 0 {
		return n, nil
	}
	g, err := property.ParseGVK(p.Value)
	if err != nil {
		return 0, err
	}
	n, ok := b.numbers[g]
	if !ok {
		n = uint32(len(b.gvks))
		b.gvks, b.numbers[g] = append(b.gvks, g), n
	}
	b.gvkOf[sid(rec.value-1)] = n
	return n, nil
}

// requirement adds what a property requires, if it does.
func (b *builder) requirement(p property.Property, rec propRec, n, from int, fault func(fbc.Code, int, error)) {
	if p.Value == nil {
		return
	}
	key := [2]sid{rec.typ, sid(rec.value - 1)}
	id, known := b.requirements[key]
	if !known {
		x, ok, err := b.compiler.FromProperty(p)
		if !ok {
			return
		}
		id = uint32(len(b.c.requirements))
		b.requirements[key] = id
		b.c.requirements = append(b.c.requirements, requirementRec{key[0], key[1]})
		b.exprs = append(b.exprs, &outcome[constraints.Expr]{x, err})
	}
	if err := b.exprs[id].err; err != nil {
		fault(fbc.CodeConstraint, n, err)
	}
	if len(b.c.required)-from >= b.perBundle {
		if b.tooMany {
			return // said once
		}
		b.tooMany = true
		fault(fbc.CodeConstraint, n, fmt.Errorf("the bundle states more than %d requirements; Limits.MaxPerBundle raises it", b.perBundle))
		return
	}
	b.c.required = append(b.c.required, requiredRec{requirement: id, property: uint32(n)})
}

// channel adds the next channel in order, with its entries by name.
func (b *builder) channel(x *fbc.Channel) {
	i := uint32(len(b.c.channels))
	pkg := b.pkgs[x.Package]
	r := channelRec{pkg: pkg, name: b.t.id(x.Name), pos: b.pos(x.Pos)}
	extend(&b.c.packages[pkg].channels, i)
	r.entries.from = uint32(len(b.c.entries))
	order := make([]int, len(x.Entries)) // by name, which keeps the numbers that problems tell
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(k, l int) int { return strings.Compare(x.Entries[k].Name, x.Entries[l].Name) })
	names := b.c.packages[pkg].bundles
	for _, k := range order {
		e := &x.Entries[k]
		rec := entryRec{channel: i, name: b.t.id(e.Name), replaces: b.t.id(e.Replaces)}
		if at, ok := slices.BinarySearchFunc(in(b.c.bundles, names), e.Name, func(r bundleRec, name string) int {
			return strings.Compare(b.t.str(r.name), name)
		}); ok {
			rec.bundle = names.from + uint32(at) + 1
		} else {
			b.problem(fbc.CodeNoBundle, &x.Meta, entryPath(k), fmt.Errorf("entry %q has no %s blob in package %q", e.Name, fbc.SchemaBundle, x.Package))
		}
		rec.skips.from = uint32(len(b.c.skips))
		for _, s := range e.Skips {
			b.c.skips = append(b.c.skips, b.t.id(s))
		}
		rec.skips.to = uint32(len(b.c.skips))
		if e.SkipRange != "" {
			rec.skipRange = b.skipRange(e.SkipRange) + 1
			if err := b.rngs[rec.skipRange-1].err; err != nil {
				b.problem(fbc.CodeSkipRange, &x.Meta, entryPath(k)+"/skipRange", fmt.Errorf("%w; it admits nothing", err))
			}
		}
		b.c.entries = append(b.c.entries, rec)
	}
	r.entries.to = uint32(len(b.c.entries))
	b.c.channels = append(b.c.channels, r)
}

func entryPath(k int) string { return fmt.Sprintf("/entries/%d", k) }

func (b *builder) skipRange(text string) uint32 {
	id := b.t.id(text)
	n, ok := b.ranges[id]
	if !ok {
		n = uint32(len(b.c.ranges))
		rng, err := constraints.ParseRange(text)
		b.ranges[id] = n
		b.c.ranges = append(b.c.ranges, id)
		b.rngs = append(b.rngs, &outcome[constraints.Range]{rng, err})
	}
	return n
}

// extend adds number i, which follows all others, to a span.
func extend(s *span, i uint32) {
	if s.len() == 0 {
		s.from = i
	}
	s.to = i + 1
}

// apis numbers the APIs in order and lists their providers.
func (b *builder) apis() {
	order := make([]uint32, len(b.gvks))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return b.gvks[x].Compare(b.gvks[y]) })
	number := make([]uint32, len(order))
	b.c.gvks = make([]gvkRec, len(order))
	for i, n := range order {
		g := b.gvks[n]
		number[n] = uint32(i)
		b.c.gvks[i] = gvkRec{group: b.t.id(g.Group), version: b.t.id(g.Version), kind: b.t.id(g.Kind)}
	}
	// Renumbered and sorted, each bundle's once.
	all := b.c.apis
	b.c.apis = all[:0]
	for i := range b.c.bundles {
		list := in(all, b.c.bundles[i].apis)
		for j, n := range list {
			list[j] = number[n]
		}
		slices.Sort(list)
		b.c.bundles[i].apis = grow(&b.c.apis, slices.Compact(list)...)
	}
	for _, n := range b.c.apis {
		b.c.gvks[n].providers.to++
	}
	var from uint32
	for i := range b.c.gvks {
		s := &b.c.gvks[i].providers
		from += s.to
		*s = span{from - s.to, from - s.to}
	}
	b.c.providers = make([]uint32, len(b.c.apis))
	for i := range b.c.bundles {
		for _, n := range in(b.c.apis, b.c.bundles[i].apis) {
			s := &b.c.gvks[n].providers
			b.c.providers[s.to] = uint32(i)
			s.to++
		}
	}
	labels := make([]sid, 0, len(b.labels))
	for l := range b.labels {
		labels = append(labels, l)
	}
	slices.SortFunc(labels, func(x, y sid) int { return strings.Compare(b.t.str(x), b.t.str(y)) })
	for _, l := range labels {
		b.c.labels = append(b.c.labels, labelRec{l, grow(&b.c.labelled, b.labels[l]...)})
	}
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

// sortProblems puts the problems in order of position and renumbers the faults
// that refer to them.
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
