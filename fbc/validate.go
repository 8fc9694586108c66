package fbc

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/property"
)

// ValidateOptions adjust a validation. A nil *ValidateOptions means all
// defaults.
type ValidateOptions struct {
	// ConstraintLimits bound the requirements of bundles.
	ConstraintLimits *constraints.Limits
	// WithoutWarnings omits warnings.
	WithoutWarnings bool
}

// Validate checks a catalog against all rules for blobs, for the upgrade graphs of
// channels, and for duplicates. It also warns of what is legal but leaves users stuck
// or surprises them. It returns all findings in order of position; [Explanations] explains
// their codes.
//
// It does not check the values of heavy properties that the load left in the source. To
// check them, load with [LoadOptions.KeepAll], or call [Check]. The only error is the context's.
func Validate(ctx context.Context, c *Catalog, opts *ValidateOptions) (Diagnostics, error) {
	return validate(ctx, c, nil, opts)
}

// validate adds its findings to those of the load.
func validate(ctx context.Context, c *Catalog, faults Diagnostics, opts *ValidateOptions) (Diagnostics, error) {
	if opts == nil {
		opts = &ValidateOptions{}
	}
	v := validator{ctx: ctx, c: c, opts: opts, compiler: constraints.NewCompiler(opts.ConstraintLimits), packages: map[string]*pkg{}, faulty: map[place]bool{}}
	v.found = slices.Concat(faults, c.Findings)
	for _, d := range v.found {
		v.faulty[place{d.Pos, d.Path}] = true
	}
	v.found = append(v.found, twiceIn(c, asIs)...)
	v.index()
	v.provide()
	v.each()
	for _, o := range c.Others {
		v.other(o)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if opts.WithoutWarnings {
		v.found = v.found.Errors()
	}
	v.found.sort()
	return v.found, nil
}

// Check loads the catalog below the root of fsys and validates it. Its findings are
// those of Load with [LoadOptions.KeepAll] and, for what could be read, those of Validate.
// It returns what could be read: without KeepAll what Load keeps, with the
// related images and the invalid values of heavy properties. If the load
// stopped because of Limits.Diagnostics, the findings end there, and rules about the
// whole catalog are not applied.
//
// The only error is the context's.
func Check(ctx context.Context, fsys fs.FS, load *LoadOptions, opts *ValidateOptions) (*Catalog, Diagnostics, error) {
	return check(ctx, tree(fsys), load, opts)
}

// CheckReader loads and validates a stream of documents, as Check does for a tree.
func CheckReader(ctx context.Context, r io.Reader, name string, load *LoadOptions, opts *ValidateOptions) (*Catalog, Diagnostics, error) {
	return check(ctx, stream(r, name), load, opts)
}

func check(ctx context.Context, from origin, load *LoadOptions, opts *ValidateOptions) (*Catalog, Diagnostics, error) {
	var all LoadOptions
	if load != nil {
		all = *load
	}
	all.checkAll, all.Visit = true, nil
	c, faults, err := loadAll(ctx, from, &all)
	if err != nil {
		return nil, nil, err
	}
	if wasStopped(faults) { // what seems to be missing may just not have been read
		found := slices.Concat(faults, c.Findings)
		if opts != nil && opts.WithoutWarnings {
			found = found.Errors()
		}
		found.sort()
		return c, found, nil
	}
	// Duplicates are found again.
	faults = slices.DeleteFunc(faults, func(d *Diagnostic) bool { return d.Code == codes.Duplicate })
	found, err := validate(ctx, c, faults, opts)
	if err != nil {
		return nil, nil, err
	}
	return c, found, nil
}

// A validator collects the findings of one catalog, including what opm accepts although it
// is wrong (H18).
type validator struct {
	ctx      context.Context
	c        *Catalog
	opts     *ValidateOptions
	compiler *constraints.Compiler
	packages map[string]*pkg
	order    []*pkg // by name
	provided supply
	found    Diagnostics
	faulty   map[place]bool // what the load reported
}

// A place is where a load found a fault.
type place struct {
	at   Pos
	path string
}

// reported reports whether the load found a fault at the place.
func (v *validator) reported(m *Meta, path string) bool { return v.faulty[place{m.Pos, path}] }

// A pkg is the part of a catalog about one package, in order of position.
type pkg struct {
	name     string
	blob     *Package
	channels []*Channel
	lines    []*line // of the channels that have entries
	bundles  []*Bundle
	byName   map[string]*bundleFacts
	messages []*Deprecations
	// deprecated are the references of the deprecations.
	deprecated map[Deprecation]bool
	entries    map[string]bool // names of the entries of all channels; see inChannel
}

// bundleFacts are what is known about a bundle.
type bundleFacts struct {
	*Bundle
	version  *semver.Version // nil if unknown
	pkg      property.Package
	property int // the index of its olm.package property
}

// report adds a finding about a blob.
func (v *validator) report(code Code, m *Meta, path string, err error) {
	v.found = append(v.found, &Diagnostic{
		Code: code, Severity: code.Severity(), Pos: m.Pos, Schema: m.Schema, Package: m.Package, Name: m.Name, Path: path, Err: err,
	})
}

// each checks the packages, several at a time: none depends on the findings of another.
func (v *validator) each() {
	found := make([]Diagnostics, len(v.order))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(v.order)) {
		workers.Go(func() {
			w := *v
			for i := int(next.Add(1)) - 1; i < len(v.order) && v.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				w.found = nil
				w.pkg(v.order[i])
				found[i] = w.found
			}
		})
	}
	workers.Wait()
	v.found = append(v.found, slices.Concat(found...)...)
}

// index groups the blobs by package.
func (v *validator) index() {
	get := func(name string) *pkg {
		p, ok := v.packages[name]
		if !ok {
			p = &pkg{name: name, byName: map[string]*bundleFacts{}, deprecated: map[Deprecation]bool{}}
			v.packages[name] = p
			v.order = append(v.order, p)
		}
		return p
	}
	for _, x := range v.c.Packages {
		if p := get(x.Name); p.blob == nil {
			p.blob = x
		}
	}
	for _, x := range v.c.Channels {
		p := get(x.Package)
		p.channels = append(p.channels, x)
	}
	for _, x := range v.c.Bundles {
		p := get(x.Package)
		p.bundles = append(p.bundles, x)
		if p.byName[x.Name] == nil {
			p.byName[x.Name] = &bundleFacts{Bundle: x}
		}
	}
	for _, x := range v.c.Deprecations {
		p := get(x.Package)
		p.messages = append(p.messages, x)
	}
	slices.SortFunc(v.order, func(a, b *pkg) int { return cmp.Compare(a.name, b.name) })
}

// pkg checks one package and all that belongs to it.
func (v *validator) pkg(p *pkg) {
	v.packageBlob(p)
	for _, x := range p.bundles {
		f := p.byName[x.Name]
		if f.Bundle != x {
			f = &bundleFacts{Bundle: x} // a duplicate
		}
		v.bundle(p, f)
	}
	v.versions(p)
	v.deprecations(p)
	for _, x := range p.channels {
		v.channel(p, x)
	}
	v.channelsTogether(p)
	v.bridges(p)
}
