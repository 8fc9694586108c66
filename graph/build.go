package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/chain"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/property"
)

// Options adjust how a catalog is indexed. A nil *Options means all defaults.
type Options struct {
	// Load is passed to fbc.Load. Its Visit is not called.
	Load *fbc.LoadOptions
	// ConstraintLimits bound the requirements that bundles may state.
	ConstraintLimits *constraints.Limits
	// Source is the file system with the files of an opened index, for
	// [Bundle.Raw]. The caller must make sure that the files are unchanged: see
	// [Catalog.SourceHash].
	Source fs.FS
	// OnDemand lets an index open without reading its packages. Each is read and checked
	// when it is first needed, so there may be errors later: see [Catalog.Err].
	OnDemand bool
	// InstallModes lets [Load] read the install modes of bundles along with the rest, for
	// [WriteIndex], which otherwise reads the files once more. If the values with the modes
	// make the load fail, they stay in the files.
	InstallModes bool
}

// Load loads the catalog below the root of fsys and indexes it blob by blob. Only the
// index stays in memory, and with KeepAll the blobs too. Errors are those of
// fbc.Load. [Catalog.Findings] lists faults that leave a usable index.
func Load(ctx context.Context, fsys fs.FS, opts *Options) (*Catalog, error) {
	from := func(ctx context.Context, o *fbc.LoadOptions) (*fbc.Catalog, error) { return fbc.Load(ctx, fsys, o) }
	c, err := load(ctx, opts, from)
	if err != nil && ctx.Err() == nil && opts != nil && opts.InstallModes {
		without := *opts
		without.InstallModes = false
		return load(ctx, &without, from)
	}
	return c, err
}

// LoadReader is [Load] for a stream of documents. Positions use name as the file. Without
// KeepAll, content that is not in the index cannot be read again, except from memory: see
// [fbc.LoadReader].
func LoadReader(ctx context.Context, r io.Reader, name string, opts *Options) (*Catalog, error) {
	if opts != nil && opts.InstallModes { // the stream cannot be read twice if this fails
		without := *opts
		without.InstallModes, opts = false, &without
	}
	c, err := load(ctx, opts, func(ctx context.Context, o *fbc.LoadOptions) (*fbc.Catalog, error) {
		return fbc.LoadReader(ctx, r, name, o)
	})
	if err != nil {
		return nil, err
	}
	switch r.(type) {
	case *bytes.Reader, *strings.Reader:
	default:
		c.reload = nil // the stream is at its end
	}
	return c, nil
}

// load indexes a catalog from any source.
func load(ctx context.Context, opts *Options, from func(context.Context, *fbc.LoadOptions) (*fbc.Catalog, error)) (*Catalog, error) {
	var o fbc.LoadOptions
	if opts != nil && opts.Load != nil {
		o = *opts.Load
	}
	o.Visit = nil
	if o.KeepAll {
		blobs, err := from(ctx, &o)
		if err != nil {
			return nil, err
		}
		return Build(ctx, blobs, opts)
	}
	b := newBuilder(opts)
	b.ctx, b.readModes = ctx, opts != nil && opts.InstallModes
	o.Visit, o.HeavyValues = b.add, b.readModes
	rest, err := from(ctx, &o)
	if err != nil {
		return nil, err
	}
	b.templates(rest)
	c, err := b.finish(ctx)
	if err != nil {
		return nil, err
	}
	c.reload = func(ctx context.Context) (*fbc.Catalog, error) { return from(ctx, again(&o)) }
	return c, nil
}

// again returns the options of a second load, without progress reports.
func again(opts *fbc.LoadOptions) *fbc.LoadOptions {
	var o fbc.LoadOptions
	if opts != nil {
		o = *opts
	}
	o.Visit, o.Progress = nil, nil
	return &o
}

// Build indexes blobs, in any order. The blobs must not be modified while the index is
// in use. A broken catalog still builds, and [Catalog.Findings] lists its faults. The only
// errors are the context's, and one for a catalog with more than 4 GiB of distinct text.
func Build(ctx context.Context, blobs *fbc.Catalog, opts *Options) (*Catalog, error) {
	b := newBuilder(opts)
	b.ctx = ctx
	b.c.blobs = blobs
	i := 0
	for x := range blobs.Blobs() {
		if i++; i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.add(x)
	}
	b.templates(blobs)
	return b.finish(ctx)
}

// templates adds a problem for each template that a load found: the packages that the
// template describes are not in the catalog (A18).
func (b *builder) templates(c *fbc.Catalog) {
	for _, d := range c.Findings {
		if d.Code == codes.Template {
			b.c.problems = append(b.c.problems, d)
		}
	}
}

// A builder makes an index from blobs, which arrive one by one in any order and are not
// kept. add stores the content of a blob as records and text; finish sorts the records and
// joins them (link.go). Until then, the package of a bundle or channel is the sid of its
// name, and the bundle of an entry is its number in the blob.
type builder struct {
	ctx          context.Context // of one build
	readModes    bool            // Options.InstallModes
	c            *Catalog
	t            *tableBuilder
	bundles      blocks[bundleRec]
	props        blocks[propRec]  // of each bundle
	texts        blocks[fbc.Text] // of each bundle, if blobs are not kept
	packageTexts []fbc.Text       // of each package, if blobs are not kept
	entries      blocks[entryRec] // of each channel, by name
	deprecated   []deprecatedBlob
	compiler     *constraints.Compiler
	perBundle    int  // the maximum of requirements of a bundle
	tooMany      bool // the current bundle has more
	requirements map[[2]sid]uint32
	exprs        []*outcome[constraints.Expr] // of each requirement
	ranges       map[sid]uint32
	rngs         []*outcome[constraints.Range]
	numbers      map[[3]sid]uint32 // in c.gvks
	gvkOf        map[sid]uint32    // by the text of a property
	gvkType      sid               // the type of such properties
	order        []uint32          // of the entries of the current channel
	links        []chain.Entry     // of the current channel
	place        []uint32          // for finish: 1 + the place of a name in the list at hand
}

func newBuilder(opts *Options) *builder {
	b := &builder{
		c:            &Catalog{},
		requirements: map[[2]sid]uint32{}, ranges: map[sid]uint32{},
		gvkOf: map[sid]uint32{}, numbers: map[[3]sid]uint32{},
	}
	var limits *constraints.Limits
	if opts != nil {
		limits = opts.ConstraintLimits
	}
	b.t = newTableBuilder()
	b.compiler, b.perBundle = constraints.NewCompiler(limits), limits.PerBundle()
	return b
}

// add takes the next blob.
func (b *builder) add(x fbc.Blob) {
	switch x := x.(type) {
	case *fbc.Package:
		r := packageRec{name: b.t.id(x.Name), defaultChannel: b.t.id(x.DefaultChannel), pos: b.pos(x.Pos)}
		if b.c.blobs == nil {
			b.packageTexts = append(b.packageTexts, x.Text())
			r.deprecated = uint32(len(b.packageTexts)) // until finish
		}
		b.c.packages = append(b.c.packages, r)
	case *fbc.Channel:
		b.channel(x)
	case *fbc.Bundle:
		b.bundle(x)
	case *fbc.Deprecations:
		b.deprecation(x)
	case *fbc.Other:
		b.other(x)
	}
}

// problem records a fault and returns 1 + its number.
func (b *builder) problem(code fbc.Code, m *fbc.Meta, path string, err error) uint32 {
	b.c.problems = append(b.c.problems, &fbc.Diagnostic{
		Code: code, Pos: m.Pos, Schema: m.Schema, Package: m.Package, Name: m.Name, Path: path, Err: err,
	})
	return uint32(len(b.c.problems))
}

func (b *builder) pos(p fbc.Pos) pos { return pos{b.t.id(p.File), uint32(p.Line)} }

// other records a blob of a package.
func (b *builder) other(x *fbc.Other) {
	if x.Package != "" {
		b.c.others = append(b.c.others, other{x.Schema, x.Package, x.Pos.File, x.Pos.Line, x.Text()})
	}
}

func (b *builder) bundle(x *fbc.Bundle) {
	r := bundleRec{pkg: uint32(b.t.id(x.Package)), name: b.t.id(x.Name), image: b.t.id(x.Image), pos: b.pos(x.Pos)}
	b.tooMany = false
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
	r.props.from, r.required.from = b.props.n, uint32(len(b.c.required))
	for n, p := range x.Properties {
		rec := propRec{typ: b.t.id(p.Type)}
		isRead := b.readModes && property.IsHeavy(p.Type) && p.Value != nil && string(p.Value) != "null"
		if p.Value != nil && !isRead {
			rec.value = uint32(b.t.bytes(p.Value)) + 1
		}
		b.props.add(rec)
		switch p.Type {
		case property.TypePackage:
			v, err := property.Parse[property.Package](p)
			if err != nil {
				fault(codes.Version, n, err)
				continue
			}
			parsed, err := version.Parse(v.Version)
			if err != nil {
				fault(codes.Version, n, fmt.Errorf("version %w", version.Error(v.Version, err)))
				continue
			}
			if versions++; versions == 1 {
				r.version = b.t.version(parsed)
				r.flags |= flagVersion
			} else {
				fault(codes.Version, n, errors.New("a second olm.package property; a bundle has exactly one"))
			}
		case property.TypeGVK:
			if err := b.api(p, rec); err != nil {
				fault(codes.API, n, err)
			}
		case property.TypeLabel:
			l, err := property.Parse[property.Label](p)
			if err != nil {
				fault(codes.API, n, err)
				continue
			}
			labels = append(labels, b.t.id(l.Label))
		case property.TypeDeprecated:
			r.flags |= flagDeprecated
		case property.TypeCSVMetadata, property.TypeBundleObject:
			b.modes(&r, p, isRead)
		default:
			b.requirement(p, rec, n, int(r.required.from), fault)
		}
	}
	if versions == 0 && r.fault == 0 {
		r.fault = b.problem(codes.Version, &x.Meta, "/properties", fmt.Errorf("has no %s property; a bundle has exactly one", property.TypePackage))
	}
	r.props.to, r.required.to = b.props.n, uint32(len(b.c.required))
	slices.Sort(labels)
	r.labels = grow(&b.c.bundleLabels, slices.Compact(labels)...)
	b.bundles.add(r)
	if b.c.blobs == nil {
		b.texts.add(x.Text())
	}
}

// api records the API that a property provides, under the text of the property. Properties
// with the same text are parsed only once.
func (b *builder) api(p property.Property, rec propRec) error {
	text := sid(rec.value - 1)
	if _, ok := b.gvkOf[text]; ok && rec.value > 0 {
		return nil
	}
	g, err := property.Parse[property.GVK](p)
	if err != nil {
		return err
	}
	key := [3]sid{b.t.id(g.Group), b.t.id(g.Version), b.t.id(g.Kind)}
	n, ok := b.numbers[key]
	if !ok {
		n = uint32(len(b.c.gvks))
		b.c.gvks, b.numbers[key] = append(b.c.gvks, gvkRec{group: key[0], version: key[1], kind: key[2]}), n
	}
	b.gvkOf[text], b.gvkType = n, rec.typ
	return nil
}

// requirement adds the requirement of a property, if it is one.
func (b *builder) requirement(p property.Property, rec propRec, n, from int, fault func(fbc.Code, int, error)) {
	if p.Value == nil {
		return
	}
	key := [2]sid{rec.typ, sid(rec.value - 1)}
	id, known := b.requirements[key]
	if !known {
		if b.ctx.Err() != nil {
			return // compiling is slow; finish returns the cause
		}
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
		fault(codes.Constraint, n, err)
	}
	if len(b.c.required)-from >= b.perBundle {
		if b.tooMany {
			return // reported once
		}
		b.tooMany = true
		fault(codes.Constraint, n, fmt.Errorf("the bundle states more than %d requirements; raise limit MaxPerBundle to allow it", b.perBundle))
		return
	}
	b.c.required = append(b.c.required, requiredRec{requirement: id, property: uint32(n)})
}

func (b *builder) channel(x *fbc.Channel) {
	r := channelRec{pkg: uint32(b.t.id(x.Package)), name: b.t.id(x.Name), pos: b.pos(x.Pos)}
	r.entries.from = b.entries.n
	order := b.order[:0] // sorted by name; positions in problems refer to the order in the file
	for k := range x.Entries {
		order = append(order, uint32(k))
	}
	b.order = order
	slices.SortStableFunc(order, func(k, l uint32) int { return strings.Compare(x.Entries[k].Name, x.Entries[l].Name) })
	for _, k := range order {
		e := &x.Entries[k]
		rec := entryRec{bundle: k, name: b.t.id(e.Name), replaces: b.t.id(e.Replaces)}
		rec.skips.from = uint32(len(b.c.skips))
		for _, s := range e.Skips {
			b.c.skips = append(b.c.skips, b.t.id(s))
		}
		rec.skips.to = uint32(len(b.c.skips))
		if e.SkipRange != "" {
			rec.skipRange = b.skipRange(e.SkipRange) + 1
			if err := b.rngs[rec.skipRange-1].err; err != nil {
				b.problem(codes.SkipRange, &x.Meta, entryPath(k)+"/skipRange", fmt.Errorf("%w; it matches nothing", err))
			}
		}
		b.entries.add(rec)
	}
	r.entries.to = b.entries.n
	b.c.channels = append(b.c.channels, r)
}

func entryPath(k uint32) string { return fmt.Sprintf("/entries/%d", k) }

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
