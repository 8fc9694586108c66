package disk

import (
	"context"
	"io"
	"os"
)

// A Stream is a file of any kind, such as a pipe, that is read until a context ends. A
// Read then returns the cause; one of the file that does not return by itself is left
// behind.
type Stream struct {
	r     io.Reader
	close func() error

	ctx  context.Context // of the reading
	done chan read
	busy bool
	buf  []byte
	rest read // of the last read of r
}

type read struct {
	text []byte
	err  error
}

// NewStream returns a Stream of what is open already, such as standard input. Close does
// not close that.
func NewStream(ctx context.Context, r io.Reader) *Stream {
	return &Stream{r: r, close: func() error { return nil }, ctx: ctx, done: make(chan read, 1)}
}

// OpenStream opens a file that the user of the program named. A pipe is open when
// there is somebody who writes to it.
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

// Until has the Reads that follow end with another context.
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
