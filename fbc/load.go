package fbc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"
)

// Keep says how much of a catalog stays in memory.
type Keep int

const (
	// KeepResolution keeps what resolution needs: no icons, descriptions,
	// related images or heavy property values.
	KeepResolution Keep = iota
	// KeepAll keeps every blob whole, for tools that write catalogs.
	KeepAll
)

// LoadOptions adjust a load. A nil *LoadOptions means all defaults.
type LoadOptions struct {
	// Keep says what stays in memory. Default KeepResolution.
	Keep Keep
	// Limits bound the cost of hostile input.
	Limits *Limits
	// Concurrency is how many goroutines decode. Default GOMAXPROCS. It never
	// shows in the result.
	Concurrency int
	// AllowEmpty accepts a catalog without any blob, which otherwise is an error:
	// mostly it is a wrong directory.
	AllowEmpty bool
	// Progress, when set, is called now and then from the goroutine that
	// called Load, and once at the end.
	Progress func(Progress)
}

// Progress tells how far a load has come.
type Progress struct {
	Files, FilesTotal int
	// Bytes read, of BytesTotal; the total is 0 where a file system does not
	// tell the size of files.
	Bytes, BytesTotal int64
}

// Load reads the catalog below the root of fsys: every regular file that the
// ignore files do not name, whatever its name (A1). Blobs come in path order
// and, within a file, in file order.
//
// The error is a [Diagnostics] with every fault of every file, in order of
// position, or the context's error. A blob that names an unknown schema is no
// fault. A nil error means that the catalog can be used, not that it is valid:
// that is [Validate]'s question.
func Load(ctx context.Context, fsys fs.FS, opts *LoadOptions) (*Catalog, error) {
	return load(ctx, fsys, opts, nil)
}

// LoadReader reads one stream of documents, as Load reads a file. The name
// stands for the file in positions. What is not kept cannot be read again.
func LoadReader(ctx context.Context, r io.Reader, name string, opts *LoadOptions) (*Catalog, error) {
	return load(ctx, nil, opts, func(file) (io.ReadCloser, error) { return io.NopCloser(r), nil }, file{name: name})
}

// LoadBytes reads documents from memory, as Load reads a file. The caller must
// not modify text while the catalog is in use.
func LoadBytes(ctx context.Context, text []byte, name string, opts *LoadOptions) (*Catalog, error) {
	f := file{name: name, size: int64(len(text))}
	return load(ctx, nil, opts, func(file) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, f)
}

// load runs the pipeline and collects. open is nil for files of fsys.
func load(ctx context.Context, fsys fs.FS, opts *LoadOptions, open func(file) (io.ReadCloser, error), files ...file) (*Catalog, error) {
	if opts == nil {
		opts = &LoadOptions{}
	}
	limits := opts.Limits.withDefaults()
	cat := &Catalog{fsys: fsys, limits: &limits}
	faults := faultList{max: int(limits.Diagnostics)}
	if open == nil {
		if fsys == nil {
			return nil, errors.New("fbc: Load needs a file system")
		}
		var found Diagnostics
		files, found = listFiles(ctx, fsys, &limits)
		faults.add(found...)
		open = func(f file) (io.ReadCloser, error) { return fsys.Open(f.name) }
	}
	p := pipeline{
		limits:  &limits,
		keep:    opts.Keep,
		workers: cmp.Or(opts.Concurrency, runtime.GOMAXPROCS(0)),
		open:    open,
	}
	total := Progress{FilesTotal: len(files)}
	for _, f := range files {
		total.BytesTotal += f.size
	}
	err := p.run(ctx, files, func(r *result) {
		for _, b := range r.blobs {
			cat.add(b)
		}
		faults.add(r.faults...)
		cat.Findings = append(cat.Findings, r.findings...)
		total.Bytes += r.bytes
		if r.last {
			total.Files++
		}
		if opts.Progress != nil {
			opts.Progress(total)
		}
	})
	if err != nil {
		return nil, err
	}
	faults.add(duplicates(cat)...)
	if cat.Len() == 0 && len(faults.list) == 0 && !opts.AllowEmpty {
		name := "."
		if len(files) == 1 {
			name = files[0].name
		}
		faults.add(&Diagnostic{Code: CodeEmpty, Pos: Pos{File: name}, Err: errEmpty})
	}
	if err := faults.err(); err != nil {
		return nil, err
	}
	return cat, nil
}

// A faultList keeps the first faults up to a maximum and counts the rest.
type faultList struct {
	list Diagnostics
	max  int
	cut  int
}

func (l *faultList) add(ds ...*Diagnostic) {
	n := min(len(ds), max(l.max-len(l.list), 0))
	l.list = append(l.list, ds[:n]...)
	l.cut += len(ds) - n
}

func (l *faultList) err() error {
	if len(l.list) == 0 {
		return nil
	}
	l.list.sort()
	if l.cut > 0 {
		l.list = append(l.list, &Diagnostic{Code: CodeLimit, Err: fmt.Errorf("%d more errors; raise Limits.Diagnostics to see them", l.cut)})
	}
	return l.list
}

// A pipeline reads files in order on one goroutine, decodes batches of their
// documents on several, and hands the results over in order.
type pipeline struct {
	limits  *Limits
	keep    Keep
	workers int
	open    func(file) (io.ReadCloser, error)
}

// A job is a batch on its way to a result.
type job struct {
	file string
	batch
	result
	done chan struct{}
}

// A result is what became of a batch.
type result struct {
	blobs    []Blob
	faults   Diagnostics // prevent the load
	findings Diagnostics // do not
	bytes    int64
	last     bool // the last batch of its file
}

// run calls sink with the results in order, on the calling goroutine.
func (p *pipeline) run(ctx context.Context, files []file, sink func(*result)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// What is in flight bounds memory: each job holds one buffer.
	inFlight := 2*p.workers + 2
	jobs, ordered := make(chan *job, inFlight), make(chan *job, inFlight)
	buffers := sync.Pool{New: func() any { return new([]byte) }}

	var workers sync.WaitGroup
	for range p.workers {
		workers.Go(func() {
			var d *decoder
			for j := range jobs {
				if d == nil {
					d = newDecoder(p.limits, p.keep)
				}
				if ctx.Err() == nil {
					d.decode(ctx, j)
				}
				buf := j.buf
				j.batch = batch{}
				buffers.Put(&buf)
				close(j.done)
			}
		})
	}
	go func() {
		defer close(ordered)
		defer close(jobs)
		var documents int64
		for _, f := range files {
			if !p.read(ctx, f, &documents, &buffers, jobs, ordered) {
				return
			}
		}
	}()
	for j := range ordered {
		<-j.done
		if ctx.Err() == nil {
			sink(&j.result)
		}
	}
	workers.Wait()
	return context.Cause(ctx)
}

// read sends the batches of one file; it reports whether to go on.
func (p *pipeline) read(ctx context.Context, f file, documents *int64, buffers *sync.Pool, jobs, ordered chan<- *job) bool {
	// A job with nothing to decode carries the faults of the file, in order.
	finish := func(code Code, line int, err error) bool {
		j := &job{file: f.name, done: make(chan struct{})}
		j.last = true
		if err != nil {
			j.faults = Diagnostics{{Code: code, Pos: Pos{File: f.name, Line: line}, Err: err}}
		}
		close(j.done)
		select {
		case ordered <- j:
			return true
		case <-ctx.Done():
			return false
		}
	}
	r, err := p.open(f)
	if err != nil {
		return finish(CodeUnreadable, 0, err)
	}
	defer r.Close()
	s := newSplitter(r, p.limits)
	for {
		before := s.off
		b, err := s.next(*buffers.Get().(*[]byte))
		var limit *LimitError
		switch {
		case err == io.EOF:
			return finish("", 0, nil)
		case errors.As(err, &limit):
			return finish(CodeLimit, s.line, err)
		case err != nil:
			return finish(CodeUnreadable, s.line, err)
		}
		if *documents += int64(len(b.docs)); *documents > p.limits.Documents {
			finish(CodeLimit, s.line, &LimitError{Limit: "Documents", What: "number of documents", Max: p.limits.Documents})
			return false
		}
		j := &job{file: f.name, batch: b, done: make(chan struct{})}
		j.bytes = s.off - before
		for _, to := range []chan<- *job{ordered, jobs} {
			select {
			case to <- j:
			case <-ctx.Done():
				close(j.done)
				return false
			}
		}
	}
}

// decode fills the job's result from its batch.
func (d *decoder) decode(ctx context.Context, j *job) {
	for _, doc := range j.docs {
		if ctx.Err() != nil {
			return
		}
		b, faults := d.blob(j.file, doc)
		if b == nil {
			j.faults = append(j.faults, faults...)
			continue
		}
		j.blobs = append(j.blobs, b)
		j.findings = append(j.findings, faults...)
	}
}

// duplicates reports packages, channels of a package, bundles of a package and
// entries of a channel that appear twice, also across files (A10, A6), each
// with the place of the first.
func duplicates(c *Catalog) Diagnostics {
	var out Diagnostics
	type key struct{ schema, pkg, name string }
	seen := make(map[key]Pos, len(c.Packages)+len(c.Channels)+len(c.Bundles))
	check := func(m *Meta) {
		k := key{m.Schema, m.Package, m.Name}
		if at, ok := seen[k]; ok {
			out = append(out, &Diagnostic{Code: CodeDuplicate, Pos: m.Pos, Schema: m.Schema, Package: m.Package, Name: m.Name,
				Err: fmt.Errorf("is defined a second time, first at %s; keep one of them", at)})
			return
		}
		seen[k] = m.Pos
	}
	for _, p := range c.Packages {
		check(&p.Meta)
	}
	for _, ch := range c.Channels {
		check(&ch.Meta)
		entries := make(map[string]int, len(ch.Entries))
		for i, e := range ch.Entries {
			if first, ok := entries[e.Name]; ok {
				out = append(out, &Diagnostic{Code: CodeDuplicate, Pos: ch.Pos, Schema: ch.Schema, Package: ch.Package, Name: ch.Name,
					Path: fmt.Sprintf("/entries/%d", i), Err: fmt.Errorf("entry %q appears a second time, first as entry %d; merge the two", e.Name, first)})
				continue
			}
			entries[e.Name] = i
		}
	}
	for _, b := range c.Bundles {
		check(&b.Meta)
	}
	return out
}
