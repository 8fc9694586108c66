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
	file  string
	index int   // of the file
	start int64 // the offset of what the batch, with the space before it, begins with
	decode.Batch
	result
	reuse *reuse        // nil when the blobs are kept
	done  chan struct{} // has an item when there is a result
}

// A result is a decoded batch.
type result struct {
	blobs    []Blob
	faults   Diagnostics // these prevent the load
	findings Diagnostics // these do not
	bytes    int64
	last     bool // the last batch of its file
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
					guess.file, guess.before = j.index, guess.before+documents
					j.bytes, j.last = guess.offset-j.start, false
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
	// A job goes to the workers and, in order, to the sink.
	jobs, ordered chan<- *job
}

// job returns an idle job, or nil if the context has ended.
func (r *reader) job(ctx context.Context, index int, file string) *job {
	select {
	case j := <-r.idle:
		j.file, j.index, j.result = file, index, result{blobs: dropped(j.blobs)}
		if j.reuse != nil {
			j.reuse.again()
		}
		return j
	case <-ctx.Done():
		return nil
	}
}

// read sends the batches of one file, from a place on; it reports whether to go on.
func (r *reader) read(ctx context.Context, index int, f file, from wrongGuess) bool {
	j := r.job(ctx, index, f.name)
	if j == nil {
		return false
	}
	in, err := r.open(f.name)
	if err != nil {
		r.end(j, 0, codes.Unreadable, 0, regular.Cause(err))
		return true
	}
	defer in.Close()
	s := r.splitter
	// After a wrong guess, the file is read again. What cannot seek may be a stream, which has no
	// second beginning.
	_, seeks := in.(io.Seeker)
	if s.Begin(in, r.guess && seeks); from.offset > 0 {
		if err := s.Resume(in, from.offset, from.line); err != nil {
			r.end(j, 0, codes.Unreadable, from.line, regular.Cause(err))
			return true
		}
	}
	reported := from.offset // bytes in the results so far
	for {
		j.start = reported
		b, err := s.Next(j.Batch)
		var limit *decode.LimitError
		switch {
		case err == io.EOF:
			r.end(j, s.Size()-reported, "", 0, nil)
			return true
		case errors.As(err, &limit) && limit.Limit == "DocumentSize" && s.Guesses():
			r.wrong(j, s.Offset(), s.Line())
			return false
		case errors.As(err, &limit):
			r.end(j, s.Size()-reported, codes.Limit, s.Line(), limitError(limit))
			return true
		case err != nil:
			r.end(j, s.Size()-reported, codes.Unreadable, s.Line(), fmt.Errorf("reading stopped after %d bytes: %w", s.Size(), regular.Cause(err)))
			return true
		}
		j.Batch = b
		r.documents += int64(len(b.Docs))
		if r.documents > r.limits.Documents && s.Guesses() {
			r.wrong(j, b.Docs[0].Offset, b.Docs[0].Line)
			return false
		}
		over, line := r.documents-r.limits.Documents, 0
		if over > 0 {
			within := int64(len(b.Docs)) - over
			line, j.Docs = b.Docs[within].Line, b.Docs[:within]
		}
		j.bytes = s.Offset() - reported
		reported = s.Offset()
		if s.Done() && over <= 0 {
			j.bytes, j.last = j.bytes+s.Size()-reported, true
			r.send(j)
			return true
		}
		r.send(j)
		if j = r.job(ctx, index, f.name); j == nil {
			return false
		}
		if over > 0 {
			r.end(j, 0, codes.Limit, line, &LimitError{Limit: "Documents", What: "number of documents", Max: r.limits.Documents})
			return false
		}
	}
}

// send sends a job to be decoded.
func (r *reader) send(j *job) {
	r.ordered <- j
	r.jobs <- j
}

// end sends a job with nothing to decode, for the end of a file and its fault, if any.
func (r *reader) end(j *job, bytes int64, code Code, line int, err error) {
	j.last, j.bytes, j.Docs = true, bytes, j.Docs[:0]
	if err != nil {
		j.faults = Diagnostics{{Code: code, Pos: Pos{File: j.file, Line: line}, Err: err}}
	}
	j.done <- struct{}{}
	r.ordered <- j
}

// wrong sends a job for a place from which on guesses do not work.
func (r *reader) wrong(j *job, offset int64, line int) {
	j.Docs = j.Docs[:0]
	j.result.wrong = &wrongGuess{offset: offset, line: line}
	j.done <- struct{}{}
	r.ordered <- j
}

// decode fills the job's result from its batch.
func (d *decoder) decode(ctx context.Context, j *job) {
	d.reused(j.reuse)
	for i, doc := range j.Docs {
		if ctx.Err() != nil {
			return
		}
		d.reader.Room = d.limits.Expansion
		b, faults, fatal := d.blob(ctx, j.file, doc)
		if d.reader.Wrong() {
			j.wrong = &wrongGuess{offset: doc.Offset, line: doc.Line, before: int64(i)}
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
			j.expanded = append(j.expanded, expansion{mark{len(j.faults), len(j.blobs), len(j.findings)}, Pos{j.file, doc.Line}, added})
		}
	}
}
