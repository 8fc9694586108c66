package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/olmkit/olmkit/internal/visible"
)

// requests answers the documents of --problem.
type requests[T any] struct {
	// kind is what messages call a document.
	kind string
	id   func(*T) string
	// answer answers a document, within --timeout.
	answer func(context.Context, *T) (any, error)
	// failed returns what to print instead of an answer if a document cannot be answered, or nil
	// for nothing. It reports whether to print the error, too.
	failed func(*T, error) (a any, report bool)
}

// stream answers the documents of a file in order. It continues after a document that
// cannot be answered.
func (q *requests[T]) stream(ctx context.Context, e *env, file string, out *printer) error {
	in, err := e.input(ctx, file)
	if err != nil {
		return fmt.Errorf("--problem: %w", err)
	}
	defer in.Close()
	n, bad := 0, false
	for doc, err := range documents[T](in) {
		n++
		name := label(q.kind, q.id(&doc), n)
		var a any
		if err == nil {
			one, cancel := e.within(ctx)
			a, err = q.answer(one, &doc)
			err = timedOut(one, err)
			cancel()
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			var report bool
			if a, report = q.failed(&doc, err); report {
				bad = true
				visible.Fprintf(e.stderr, "olmkit: %s: %s: %s\n", file, name, bare(err))
			}
		}
		if a == nil {
			continue
		}
		if err := q.print(out, a, name, n); err != nil {
			return err
		}
	}
	switch {
	case n == 0:
		return nothingIn(file, q.kind+" documents")
	case bad:
		return errReported
	}
	return nil
}

func (q *requests[T]) print(out *printer, a any, name string, n int) error {
	text, ok := a.(printable)
	if !ok || out.format != formatText {
		return out.encode(a)
	}
	if err := heading(out.w, name, n); err != nil {
		return err
	}
	return text.text(out.w)
}

// label returns a name for a document in a stream: its id or its number.
func label(kind, id string, n int) string {
	if id != "" {
		return fmt.Sprintf("%s %q", kind, id)
	}
	return fmt.Sprintf("%s %d", kind, n)
}

// heading prints the line between the answers of a stream.
func heading(w io.Writer, name string, n int) error {
	gap := "\n"
	if n == 1 {
		gap = ""
	}
	_, err := visible.Fprintf(w, "%s# %s\n", visible.Block(gap), name)
	return err
}
