package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/resolver/document"
)

// An input is a file that is not a catalog, or standard input.
type input struct {
	*disk.Stream
	env   *env
	ctx   context.Context
	ready bool // a regular file, whose reads do not block
	// left is how many more bytes may be read for the next document, if there is a limit.
	left  int64
	limit *fbc.LimitError
}

// input opens a file that is not a catalog, or standard input for "-". Waiting for a pipe to
// open ends after --timeout. Reading ends with ctx.
func (e *env) input(ctx context.Context, file string) (*input, error) {
	in := &input{env: e, ctx: ctx}
	if file == stdinPath {
		in.Stream = disk.NewStream(ctx, e.stdin)
		return in, nil
	}
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name a file, or - for standard input", display(file))
	}
	in.ready = err == nil && info.Mode().IsRegular()
	wait, cancel := in.wait()
	defer cancel()
	in.Stream, err = disk.OpenStream(wait, file)
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist; name a file, or - for standard input", display(file))
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s: %w", display(file), at.Err)
	case err != nil:
		return nil, timedOut(wait, err)
	}
	in.Until(ctx)
	return in, nil
}

// wait returns a context for a read. If the read may block, the context ends after --timeout.
func (in *input) wait() (context.Context, context.CancelFunc) {
	if in.ready {
		return context.WithCancel(in.ctx)
	}
	return in.env.within(in.ctx)
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if in.limit != nil && in.left <= 0 {
		return 0, in.limit
	}
	n, err := in.Stream.Read(p)
	in.left -= int64(n)
	return n, err
}

// cause returns the limit's error if err was caused by the limit on bytes. Otherwise it
// returns err.
func (in *input) cause(err error) error {
	if in.limit != nil && errors.Is(err, in.limit) {
		return in.limit
	}
	return err
}

// readAhead is the maximum number of bytes that a decoder reads beyond a document.
const readAhead = 128 << 10

// documents yields the documents of an input. For each document, the timeout starts again, and
// so does the limit on its bytes, Limits.DocumentSize.
func documents[T any](in *input) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		wait, cancel := in.next()
		defer func() { cancel() }()
		for v, err := range document.Read[T](in, documentKinds()...) {
			err = in.cause(timedOut(wait, err))
			cancel()
			if !yield(v, err) {
				return
			}
			wait, cancel = in.next()
		}
	}
}

// next starts the timeout for the next document.
func (in *input) next() (context.Context, context.CancelFunc) {
	ctx, cancel := in.wait()
	in.Until(ctx)
	in.bound()
	return ctx, cancel
}

// bound limits what is read for the next document.
func (in *input) bound() {
	in.limit = &fbc.LimitError{Limit: "DocumentSize", What: "document", Max: in.env.limits.load.WithDefaults().DocumentSize}
	in.left = min(in.limit.Max, math.MaxInt64-readAhead) + readAhead
}

// nothingIn returns the error for a file without documents.
func nothingIn(file, what string) error {
	if file == stdinPath {
		return fmt.Errorf("standard input is empty; pipe %s in, or name a file", what)
	}
	return fmt.Errorf("%s: holds no %s", file, what)
}
