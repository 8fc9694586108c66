package disk

import (
	"context"
	"io"
	"os"
)

// OpenStream opens a file of any kind that whoever starts the program named, such as a
// pipe, and reads it until the context ends.
func OpenStream(ctx context.Context, name string) (io.ReadCloser, error) {
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
		return struct {
			io.Reader
			io.Closer
		}{Until(ctx, o.f), o.f}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Until returns a reader of r whose Read returns when the context ends, with its cause.
// A Read of r that does not return by itself is left behind.
func Until(ctx context.Context, r io.Reader) io.Reader {
	return &until{ctx: ctx, r: r, done: make(chan read, 1)}
}

type until struct {
	ctx  context.Context
	r    io.Reader
	done chan read
	busy bool
	buf  []byte
	rest read // of the last read of r
}

type read struct {
	text []byte
	err  error
}

func (u *until) Read(p []byte) (int, error) {
	if len(u.rest.text) == 0 && u.rest.err == nil {
		if u.ctx.Err() != nil {
			return 0, context.Cause(u.ctx)
		}
		if !u.busy {
			if u.buf == nil {
				u.buf = make([]byte, 64<<10)
			}
			u.busy = true
			go func() {
				n, err := u.r.Read(u.buf)
				u.done <- read{u.buf[:n], err}
			}()
		}
		select {
		case u.rest = <-u.done:
			u.busy = false
		case <-u.ctx.Done():
			return 0, context.Cause(u.ctx)
		}
	}
	n := copy(p, u.rest.text)
	if u.rest.text = u.rest.text[n:]; len(u.rest.text) > 0 {
		return n, nil
	}
	return n, u.rest.err
}
