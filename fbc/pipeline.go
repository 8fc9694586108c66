package fbc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A pipeline reads files in order on one goroutine, decodes batches of their
// documents on several, and hands the results over in order.
type pipeline struct {
	limits  *Limits
	source  *source
	keep    Keep
	workers int
	chunk   int
	open    func(name string) (io.ReadCloser, error)
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
	fatal    []mark
}

// A mark counts what a result holds up to and including a document that prevents
// the load.
type mark struct{ faults, blobs, findings int }

// cut drops what comes after the document with which the faults become more than
// left, and reports whether there is such a document. Where a load stops is thus
// a matter of documents, whatever the batches.
func (r *result) cut(left int) bool {
	for _, m := range r.fatal {
		if m.faults > left {
			r.faults, r.blobs, r.findings = r.faults[:m.faults], r.blobs[:m.blobs], r.findings[:m.findings]
			return true
		}
	}
	return len(r.faults) > left // those of the file as a whole
}

// run calls sink with the results in order, on the calling goroutine, until sink
// wants no more.
func (p *pipeline) run(caller context.Context, files []file, sink func(*result) (more bool)) error {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	// What is in flight bounds memory: each job holds one buffer.
	inFlight := 2*p.workers + 2
	jobs, ordered := make(chan *job, inFlight), make(chan *job, inFlight)
	buffers := make(chan []byte, inFlight)

	var workers sync.WaitGroup
	for range p.workers {
		workers.Go(func() {
			var d *decoder
			for j := range jobs {
				if d == nil {
					d = newDecoder(p.source, p.keep)
				}
				if ctx.Err() == nil {
					d.decode(ctx, j)
				}
				select {
				case buffers <- j.buf:
				default:
				}
				j.batch = batch{}
				close(j.done)
			}
		})
	}
	go func() {
		defer close(ordered)
		defer close(jobs)
		var documents int64
		for _, f := range files {
			if !p.read(ctx, f, &documents, buffers, jobs, ordered) {
				return
			}
		}
	}()
	// A read that hangs must not keep the caller after the context has ended:
	// the goroutines then end by themselves, whenever the read returns.
	enough := false
	for {
		select {
		case j, more := <-ordered:
			if !more {
				workers.Wait()
				return context.Cause(caller)
			}
			if enough {
				continue // the goroutines end; the reader is free after that
			}
			select {
			case <-j.done:
				if enough = !sink(&j.result); enough {
					cancel()
				}
			case <-caller.Done():
				return context.Cause(caller)
			}
		case <-caller.Done():
			return context.Cause(caller)
		}
	}
}

// read sends the batches of one file; it reports whether to go on.
func (p *pipeline) read(ctx context.Context, f file, documents *int64, buffers <-chan []byte, jobs, ordered chan<- *job) bool {
	var size, told int64 // bytes read, and those that the results told of
	// A job with nothing to decode carries the faults of the file, in order.
	finish := func(code Code, line int, err error) bool {
		j := &job{file: f.name, done: make(chan struct{})}
		j.last, j.bytes = true, size-told
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
	r, err := p.open(f.name)
	if err != nil {
		return finish(CodeUnreadable, 0, plainPath(err))
	}
	defer r.Close()
	s := newSplitter(ctx, r, p.limits)
	s.chunk = p.chunk
	for {
		if s.eof {
			return finish("", 0, nil)
		}
		var buf []byte
		select {
		case buf = <-buffers:
		default:
		}
		b, err := s.next(buf)
		size = s.size
		var limit *LimitError
		switch {
		case err == io.EOF:
			return finish("", 0, nil)
		case errors.As(err, &limit):
			return finish(CodeLimit, s.line, err)
		case err != nil:
			return finish(CodeUnreadable, s.line, fmt.Errorf("reading stopped after %d bytes: %w", s.size, plainPath(err)))
		}
		if *documents += int64(len(b.docs)); *documents > p.limits.Documents {
			finish(CodeLimit, s.line, &LimitError{Limit: "Documents", What: "number of documents", Max: p.limits.Documents})
			return false
		}
		j := &job{file: f.name, batch: b, done: make(chan struct{})}
		j.bytes = s.off - told
		told = s.off
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
		b, faults, fatal := d.blob(j.file, doc)
		if b != nil {
			j.blobs = append(j.blobs, b)
		}
		if fatal {
			j.faults = append(j.faults, faults...)
			j.fatal = append(j.fatal, mark{len(j.faults), len(j.blobs), len(j.findings)})
			if int64(len(j.faults)) > d.limits.Diagnostics {
				return // more is not told
			}
		} else {
			j.findings = append(j.findings, faults...)
		}
	}
}
