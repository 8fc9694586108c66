package fbc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/regular"
)

// A pipeline reads files in order on one goroutine, decodes batches of their
// documents on several, and hands the results over in order.
type pipeline struct {
	limits  *Limits
	source  *source
	keepAll bool
	check   bool // check everything, but keep only what keepAll says, and what is wrong
	heavy   bool // the sink sees the values of heavy properties
	reuse   bool // the sink keeps no blob
	workers int
	// guess is whether workers check where JSON documents end, instead of the reader. This
	// needs files that can be read again.
	guess bool
	chunk int
	open  func(name string) (io.ReadCloser, error)
}

// A job is a batch and, once that is decoded, its result. Its memory is reused.
type job struct {
	decode.Batch
	parts []part
	result
	reuse *reuse        // nil when the blobs are kept
	done  chan struct{} // has an item when there is a result
}

// A part is what a batch holds of one file.
type part struct {
	name  string // of the file
	index int    // of the file
	end   int    // the index of the document after its last one
	start int64  // the offset in the file of what it begins with
	bytes int64  // its size, with the space before and after documents
	last  bool   // it ends with the file
}

// A result is a decoded batch.
type result struct {
	blobs    []Blob
	faults   Diagnostics // these prevent the load
	findings Diagnostics // these do not
	bytes    int64
	files    int // the number of files that end in the batch
	wrong    *wrongGuess
	fatal    []mark
	expanded []expansion
}

// A wrongGuess is a document for which the reader guessed wrong where documents begin. The
// documents before it in the batch count.
type wrongGuess struct {
	file   int // its index
	offset int64
	line   int
	before int64 // the number of documents before it
}

// An expansion is a document that aliases have made larger.
type expansion struct {
	mark
	at    Pos
	added int64 // bytes
}

// expand subtracts the bytes that aliases have added to the documents from room. If a
// document exceeds the room, expand returns it and drops the documents after it.
func (r *result) expand(room *int64) *expansion {
	for i := range r.expanded {
		x := &r.expanded[i]
		if x.faults > len(r.faults) || x.blobs > len(r.blobs) || x.findings > len(r.findings) {
			break // cut off
		}
		if *room -= x.added; *room < 0 {
			r.upTo(x.mark)
			return x
		}
	}
	return nil
}

func (r *result) upTo(m mark) {
	r.faults, r.blobs, r.findings = r.faults[:m.faults], r.blobs[:m.blobs], r.findings[:m.findings]
}

// A mark is the number of faults, blobs and findings that a result has up to and including
// a certain document.
type mark struct{ faults, blobs, findings int }

// cut finds the first document with which the number of faults exceeds left, drops the
// documents after it, and reports whether there is such a document. The place where a load
// stops thus does not depend on the batches.
func (r *result) cut(left int) bool {
	for _, m := range r.fatal {
		if m.faults > left {
			r.upTo(m)
			return true
		}
	}
	return len(r.faults) > left // with faults of the file as a whole
}

// run calls sink with the results in order, on the calling goroutine, until sink returns
// false. After a wrong guess it starts again at that place, without guesses.
func (p *pipeline) run(ctx context.Context, files []file, sink func(*result) (more bool)) error {
	var from wrongGuess
	for {
		wrong, err := p.pass(ctx, files, from, sink)
		if wrong == nil || err != nil {
			return err
		}
		from, p.guess = *wrong, false
	}
}

// pass is run until the first wrong guess, which it returns.
func (p *pipeline) pass(caller context.Context, files []file, from wrongGuess, sink func(*result) (more bool)) (*wrongGuess, error) {
	ctx, cancel := context.WithCancel(caller)
	// The number of jobs bounds memory: each holds one buffer. A channel with room for all
	// jobs never blocks.
	inFlight := p.workers + 2
	jobs, ordered, idle := make(chan *job, inFlight), make(chan *job, inFlight), make(chan *job, inFlight)
	for range inFlight {
		j := &job{done: make(chan struct{}, 1)}
		if p.reuse {
			j.reuse = &reuse{}
		}
		idle <- j
	}

	var workers sync.WaitGroup
	for range p.workers {
		workers.Go(func() {
			var d *decoder
			for {
				select {
				case j, more := <-jobs:
					if !more {
						return
					}
					if d == nil {
						d = newDecoder(p.source, p.keepAll)
						if d.check, d.heavy = p.check, p.heavy; d.check || d.heavy {
							d.reader.KeepHeavy()
						}
					}
					d.decode(ctx, j)
					j.done <- struct{}{}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		defer close(ordered)
		defer close(jobs)
		r := reader{
			pipeline: p, idle: idle, jobs: jobs, ordered: ordered, documents: from.before,
			splitter: decode.NewSplitter(ctx, p.limits.ofDocuments(), p.chunk),
		}
		at := from
		for i := from.file; i < len(files); i++ {
			if !r.read(ctx, i, files[i], at) {
				return
			}
			at = wrongGuess{}
		}
		r.send()
	}()
	// When the context ends, the workers end first: nothing is decoded, and no memory
	// taken, after the call. A read that hangs must not hold up the caller, so the
	// goroutine of the reader ends only when that read returns.
	defer workers.Wait()
	defer cancel()
	enough, documents := false, from.before
	var wrong *wrongGuess
	for {
		select {
		case j, more := <-ordered:
			if !more {
				return wrong, context.Cause(caller)
			}
			if enough {
				continue // the goroutines end; the reader is free after that
			}
			select {
			case <-j.done:
				guess := j.wrong
				if guess != nil {
					guess.before += documents
				}
				documents += int64(len(j.Docs))
				if enough = !sink(&j.result); !enough && guess != nil {
					enough, wrong = true, guess
				}
				if enough {
					cancel()
				}
				idle <- j
			case <-caller.Done():
				return nil, context.Cause(caller)
			}
		case <-caller.Done():
			return nil, context.Cause(caller)
		}
	}
}

// A reader reads files and sends their batches.
type reader struct {
	*pipeline
	splitter  *decode.Splitter
	documents int64 // so far
	idle      <-chan *job
	current   *job // not yet sent, or nil
	// A job goes to the workers and, in order, to the sink.
	jobs, ordered chan<- *job
}

// job returns the current job, after an idle one has become it if necessary, or nil if the
// context has ended.
func (r *reader) job(ctx context.Context) *job {
	if r.current != nil {
		return r.current
	}
	select {
	case j := <-r.idle:
		j.Reset()
		j.parts, j.result = j.parts[:0], result{blobs: dropped(j.blobs)}
		if j.reuse != nil {
			j.reuse.again()
		}
		r.current = j
		return j
	case <-ctx.Done():
		return nil
	}
}

// read adds the batches of one file, from a place on, to jobs; it reports whether to go on.
func (r *reader) read(ctx context.Context, index int, f file, from wrongGuess) bool {
	if r.current != nil && !r.current.Fits(f.size) {
		r.send()
	}
	if r.job(ctx) == nil {
		return false
	}
	p := part{name: f.name, index: index, start: from.offset}
	in, err := r.open(f.name)
	if err != nil {
		return r.end(ctx, p, codes.Unreadable, 0, regular.Cause(err))
	}
	defer in.Close()
	s := r.splitter
	// After a wrong guess, the file is read again. What cannot seek may be a stream, which has no
	// second beginning.
	_, seeks := in.(io.Seeker)
	if s.Begin(in, r.guess && seeks); from.offset > 0 {
		if err := s.Resume(in, from.offset, from.line); err != nil {
			return r.end(ctx, p, codes.Unreadable, from.line, regular.Cause(err))
		}
	}
	for {
		j := r.job(ctx)
		if j == nil {
			return false
		}
		before := len(j.Docs)
		err := s.Next(&j.Batch)
		var limit *decode.LimitError
		if err != nil {
			p.bytes, p.last = s.Size()-p.start, true
		}
		switch {
		case err == io.EOF:
			j.add(p)
			return true
		case errors.As(err, &limit) && limit.Limit == "DocumentSize" && s.Guesses():
			r.wrong(ctx, p, s.Offset(), s.Line())
			return false
		case errors.As(err, &limit):
			return r.end(ctx, p, codes.Limit, s.Line(), limitError(limit))
		case err != nil:
			return r.end(ctx, p, codes.Unreadable, s.Line(), fmt.Errorf("reading stopped after %d bytes: %w", s.Size(), regular.Cause(err)))
		}
		docs := j.Docs[before:]
		r.documents += int64(len(docs))
		over := r.documents - r.limits.Documents
		if over > 0 && s.Guesses() {
			j.Docs = j.Docs[:before]
			r.wrong(ctx, p, docs[0].Offset, docs[0].Line)
			return false
		}
		p.bytes = s.Offset() - p.start
		if over > 0 {
			within := int64(len(docs)) - over
			j.Docs = j.Docs[:before+int(within)]
			j.add(p)
			p.bytes, p.last = 0, true
			r.end(ctx, p, codes.Limit, docs[within].Line, &LimitError{Limit: "Documents", What: "number of documents", Max: r.limits.Documents})
			return false
		}
		if s.Done() {
			p.bytes, p.last = s.Size()-p.start, true
			j.add(p)
			return true
		}
		j.add(p)
		p.start = s.Offset()
		r.send()
	}
}

// add adds a part whose documents are in the batch.
func (j *job) add(p part) {
	p.end = len(j.Docs)
	j.parts = append(j.parts, p)
}

// send sends the current job, if it has anything to decode.
func (r *reader) send() {
	if j := r.current; j != nil && len(j.parts) > 0 {
		r.ordered <- j
		r.jobs <- j
		r.current = nil
	}
}

// end sends the current job, and then the fault with which a file ends. It reports whether to go
// on.
func (r *reader) end(ctx context.Context, p part, code Code, line int, err error) bool {
	return r.result(ctx, result{bytes: p.bytes, files: 1, faults: Diagnostics{{Code: code, Pos: Pos{File: p.name, Line: line}, Err: err}}})
}

// wrong sends the current job, and then a place from which on guesses do not work.
func (r *reader) wrong(ctx context.Context, p part, offset int64, line int) {
	r.result(ctx, result{bytes: offset - p.start, wrong: &wrongGuess{file: p.index, offset: offset, line: line}})
}

// result sends the current job, and then one with nothing to decode. It returns false if the
// context has ended.
func (r *reader) result(ctx context.Context, x result) bool {
	r.send()
	j := r.job(ctx)
	if j == nil {
		return false
	}
	x.blobs, j.result = j.blobs, x
	j.done <- struct{}{}
	r.ordered <- j
	r.current = nil
	return true
}

// decode fills the job's result from its batch.
func (d *decoder) decode(ctx context.Context, j *job) {
	d.reused(j.reuse)
	i := 0
	for _, p := range j.parts {
		for ; i < p.end; i++ {
			doc := j.Docs[i]
			if ctx.Err() != nil {
				return
			}
			d.reader.Room = d.limits.Expansion
			b, faults, fatal := d.blob(ctx, p.name, doc)
			if d.reader.Wrong() {
				j.wrong = &wrongGuess{file: p.index, offset: doc.Offset, line: doc.Line, before: int64(i)}
				j.bytes += doc.Offset - p.start
				return
			}
			if b != nil {
				j.blobs = append(j.blobs, b)
			}
			if fatal {
				j.faults = append(j.faults, faults...)
				j.fatal = append(j.fatal, mark{len(j.faults), len(j.blobs), len(j.findings)})
				if int64(len(j.faults)) > d.limits.Diagnostics {
					return // no more is reported
				}
			} else {
				j.findings = append(j.findings, faults...)
			}
			if added := d.limits.Expansion - d.reader.Room; added > 0 {
				j.expanded = append(j.expanded, expansion{mark{len(j.faults), len(j.blobs), len(j.findings)}, Pos{p.name, doc.Line}, added})
			}
		}
		j.bytes += p.bytes
		if p.last {
			j.files++
		}
	}
}
