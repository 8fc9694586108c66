package fbc

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"runtime"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
)

// LoadOptions adjust a load. A nil *LoadOptions means all defaults.
type LoadOptions struct {
	// KeepAll keeps and checks every blob whole, for tools that write catalogs. By
	// default a load keeps what resolution needs: no icons, descriptions, related
	// images or heavy property values (see [property.IsHeavy]). It skips heavy values,
	// which makes it fast, without checking their size or, in YAML, their syntax. To
	// check all of a catalog, use KeepAll or [Check].
	KeepAll bool
	// Limits bound the cost of hostile input.
	Limits *Limits
	// Concurrency is the number of goroutines that decode. Default GOMAXPROCS. It
	// does not affect the result.
	Concurrency int
	// AllowEmpty accepts a catalog without blobs. By default that is an error,
	// because the directory is usually wrong.
	AllowEmpty bool
	// RefuseTemplates makes each template among the blobs an error with a
	// [TemplateError] instead of a finding. It is for tools that write catalogs:
	// the packages of a template would be missing from their output.
	RefuseTemplates bool
	// Visit, if set, is called with each blob in the order of the catalog, from the
	// goroutine that called Load. The returned catalog then has only findings, and
	// the load keeps no blobs. Visit must not keep a blob after it returns, except
	// for its strings. Errors may follow blobs: use what Visit collected only if
	// Load returns no error.
	Visit func(Blob)
	// HeavyValues gives the blobs that Visit sees the values of heavy properties, too. The
	// load checks the syntax of these values then, in YAML as well. Visit must not keep or
	// modify them. KeepAll makes this option unnecessary.
	HeavyValues bool
	// Progress, if set, is called from time to time and once at the end, from the
	// goroutine that called Load.
	Progress func(Progress)

	checkAll bool // check what KeepAll checks, without keeping it
	chunk    int  // for tests: the size of the buffers
}

// Progress is how far a load has come.
type Progress struct {
	Files, FilesTotal int
	// Bytes read, of BytesTotal. The total is 0 if the file system does not report
	// the sizes of files.
	Bytes, BytesTotal int64
}

// Load reads the catalog below the root of fsys: every regular file, whatever its name,
// that no ignore file excludes. It skips the remains of an interrupted write
// with a finding. Blobs are in the order of their paths and, within a
// file, in file order.
//
// The error is a [Diagnostics] with the faults of all files in order of position, or
// the context's error. A load with more faults than Limits.Diagnostics stops; its last
// fault reports that. A blob of an unknown schema is not a fault. If the error is nil,
// the catalog is usable but not necessarily valid: see [Validate].
//
// When the context ends, Load returns at once, even if a call to the file system hangs.
// That call is abandoned.
func Load(ctx context.Context, fsys fs.FS, opts *LoadOptions) (*Catalog, error) {
	return loaded(loadAll(ctx, tree(fsys), opts))
}

// LoadReader reads a stream of documents as Load reads a file. The name stands for the
// file in positions. What is not kept cannot be read again, except from memory, that is
// from a [bytes.Reader] or [strings.Reader]: the caller must not modify its text while
// the catalog is in use. When the context ends, r may stay in use until its Read returns.
func LoadReader(ctx context.Context, r io.Reader, name string, opts *LoadOptions) (*Catalog, error) {
	return loaded(loadAll(ctx, stream(r, name), opts))
}

// loaded returns the catalog or, if there are faults, the faults as an error.
func loaded(cat *Catalog, faults Diagnostics, err error) (*Catalog, error) {
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return cat, nil
}

// An origin is where the text of a catalog comes from.
type origin struct {
	files func(ctx context.Context, limits *Limits) listing
	open  func(name string) (io.ReadCloser, error)
	again bool // whether open works more than once
}

// listed walks the tree, and stops when the context ends.
func listed(ctx context.Context, from origin, limits *Limits) (listing, error) {
	found := make(chan listing, 1)
	go func() { found <- from.files(ctx, limits) }()
	select {
	case list := <-found:
		if ctx.Err() != nil {
			return listing{}, context.Cause(ctx) // the list may not be whole
		}
		return list, nil
	case <-ctx.Done():
		return listing{}, context.Cause(ctx)
	}
}

func tree(fsys fs.FS) origin {
	return origin{
		files: func(ctx context.Context, limits *Limits) listing { return listFiles(ctx, fsys, limits) },
		open:  func(name string) (io.ReadCloser, error) { return fsys.Open(name) },
		again: true,
	}
}

func one(f file) func(context.Context, *Limits) listing {
	return func(context.Context, *Limits) listing { return listing{files: []file{f}} }
}

func stream(r io.Reader, name string) origin {
	if m, ok := r.(memory); ok {
		start, size := m.Size()-int64(m.Len()), int64(m.Len())
		return origin{
			files: one(file{name, size}),
			open:  func(string) (io.ReadCloser, error) { return closer{io.NewSectionReader(m, start, size)}, nil },
			again: true,
		}
	}
	return origin{
		files: one(file{name: name}),
		open:  func(string) (io.ReadCloser, error) { return io.NopCloser(r), nil },
	}
}

// A memory is a bytes.Reader or a strings.Reader.
type memory interface {
	io.ReaderAt
	Len() int // the number of unread bytes
	Size() int64
}

// A closer makes text in memory an open file: Close has no effect, and the text can be read
// at any offset.
type closer struct{ *io.SectionReader }

func (closer) Close() error { return nil }

// loadAll runs the pipeline and collects its results. The catalog holds what could be
// read, whatever the faults.
func loadAll(ctx context.Context, from origin, opts *LoadOptions) (*Catalog, Diagnostics, error) {
	if opts == nil {
		opts = &LoadOptions{}
	}
	limits := opts.Limits.WithDefaults()
	cat := &Catalog{}
	src := &source{limits: &limits, seed: maphash.MakeSeed()}
	if from.again {
		src.open = from.open
	}
	list, err := listed(ctx, from, &limits)
	if err != nil {
		return nil, nil, err
	}
	if len(list.files) > 1 {
		src.tree = true
	}
	faults := faultList{max: int(limits.Diagnostics)}
	findings := faultList{max: int(limits.Diagnostics)}
	faults.add(list.faults...)
	findings.add(list.findings...)
	p := pipeline{
		limits:  &limits,
		keepAll: opts.KeepAll,
		check:   opts.checkAll,
		heavy:   opts.HeavyValues && opts.Visit != nil,
		source:  src,
		reuse:   opts.Visit != nil,
		workers: opts.Concurrency,
		chunk:   decode.BatchSize,
		open:    from.open,
	}
	if p.workers <= 0 {
		p.workers = runtime.GOMAXPROCS(0)
	}
	p.guess = p.workers > 1 && from.again
	if opts.chunk > 0 {
		p.chunk = opts.chunk
	}
	total := Progress{FilesTotal: len(list.files)}
	for _, f := range list.files {
		total.BytesTotal += f.size
	}
	progress := func() {
		if opts.Progress != nil {
			opts.Progress(total)
		}
	}
	visit, twice := opts.Visit, duplicates{}
	templates := templateList{faultList: faultList{max: int(limits.Diagnostics)}}
	room := limits.Expansion // what aliases may still add
	if visit == nil {
		visit = cat.add
	}
	sink := func(r *result) (more bool) {
		enough := r.cut(faults.max - len(faults.list))
		if x := r.expand(&room); x != nil {
			r.faults = append(r.faults, &Diagnostic{Code: codes.Limit, Severity: Error, Pos: x.at, Err: limitError(decode.ExpansionLimit(limits.ofDocuments()))})
			enough = true
		}
		for _, b := range r.blobs {
			twice.add(b, asIs)
			visit(b)
		}
		faults.add(r.faults...)
		findings.add(templates.take(r)...)
		total.Bytes += r.bytes
		total.Files += r.files
		progress()
		return !enough
	}
	if len(list.files) == 0 {
		progress()
	}
	if faults.cut == nil {
		if err := p.run(ctx, list.files, sink); err != nil {
			return nil, nil, err
		}
	}
	if faults.cut != nil { // what is missing may follow later
		templates.endFile()
		findings.addAll(&templates.faultList)
		cat.Findings = findings.capped()
		return cat, append(faults.sorted(), stopped(faults.cut.Pos, limits.Diagnostics)), nil
	}
	faults.add(twice.found()...)
	templates.end()
	switch empty := !templates.blobs && len(faults.list) == 0 && !opts.AllowEmpty; {
	case empty && len(templates.list) == 0:
		name := "."
		if len(list.files) == 1 {
			name = list.files[0].name
		}
		faults.add(&Diagnostic{Code: codes.Empty, Pos: Pos{File: name}, Err: errEmpty})
	case empty:
		faults.addAll(templates.as(codes.Empty))
	case opts.RefuseTemplates:
		faults.addAll(templates.as(codes.Template))
	default:
		findings.addAll(&templates.faultList)
	}
	cat.Findings = findings.capped()
	return cat, faults.capped(), nil
}

// stopped returns the last fault of a load that stopped at pos, because it had more than
// max faults.
func stopped(pos Pos, max int64) *Diagnostic {
	return &Diagnostic{Code: codes.Limit, Pos: pos, Err: &LimitError{Limit: "Diagnostics", What: "number of faults that prevent the load", Max: max}}
}

// wasStopped reports whether a load with these faults was stopped.
func wasStopped(faults Diagnostics) bool {
	limit := new(LimitError)
	return len(faults) > 0 && errors.As(faults[len(faults)-1].Err, &limit) && limit.Limit == "Diagnostics"
}
