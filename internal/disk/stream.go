package disk

import (
	"context"
	"io"
	"os"
)

// A Stream reads a file of any kind, such as a pipe, until a context ends. Read then returns the cause. A pending Read
// of the file is abandoned.
type Stream struct {
	r     io.Reader
	close func() error

	ctx  context.Context // ends reading
	done chan read
	busy bool
	buf  []byte
	rest read // the result of the last read of r
}

type read struct {
	text []byte
	err  error
}

// NewStream returns a Stream of an open file, such as standard input. Close does not close that file.
func NewStream(ctx context.Context, r io.Reader) *Stream {
	return &Stream{r: r, close: func() error { return nil }, ctx: ctx, done: make(chan read, 1)}
}

// OpenStream opens a file that the user of the program named. Opening a pipe waits until it has a writer.
func OpenStream(ctx context.Context, name string) (*Stream, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened)
	go func() {
		f, err := os.Open(name) // waits for a writer
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			f.Close()
		}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		s := NewStream(ctx, o.f)
		s.close = o.f.Close
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Until sets the context that ends later Reads.
func (s *Stream) Until(ctx context.Context) { s.ctx = ctx }

// Close closes the file.
func (s *Stream) Close() error { return s.close() }

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if len(s.rest.text) == 0 && s.rest.err == nil {
		if s.ctx.Err() != nil {
			return 0, context.Cause(s.ctx)
		}
		if !s.busy {
			if s.buf == nil {
				s.buf = make([]byte, 64<<10)
			}
			s.busy = true
			go func() {
				n, err := s.r.Read(s.buf)
				s.done <- read{s.buf[:n], err}
			}()
		}
		select {
		case s.rest = <-s.done:
			s.busy = false
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		}
	}
	n := copy(p, s.rest.text)
	if s.rest.text = s.rest.text[n:]; len(s.rest.text) > 0 {
		return n, nil
	}
	return n, s.rest.err
}
