package visible

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A Writer escapes unprintable characters as in [Line], except newlines. Use
// Line for external text before it becomes part of a line. JSON keeps its
// meaning.
type Writer struct {
	w    io.Writer
	keep func() []string
	rest []byte // an incomplete rune or kept sequence
}

// NewWriter returns a Writer to w. The sequences that keep returns are written
// unchanged. Keep may be nil.
func NewWriter(w io.Writer, keep func() []string) *Writer { return &Writer{w: w, keep: keep} }

// Write writes p, except for an incomplete rune at its end, which waits for the
// next call.
func (w *Writer) Write(p []byte) (int, error) { return len(p), w.write(p, false) }

// Flush writes any pending bytes.
func (w *Writer) Flush() error { return w.write(nil, true) }

func (w *Writer) write(p []byte, last bool) error {
	s := string(w.rest) + string(p)
	w.rest = w.rest[:0]
	var kept []string
	if w.keep != nil {
		kept = w.keep()
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		n, whole := sequence(s, kept)
		switch {
		case n > 0 && whole:
			out, s = append(out, s[:n]...), s[n:]
			continue
		case !last && (n > 0 || !utf8.FullRuneInString(s)):
			w.rest, s = append(w.rest, s...), ""
			continue
		}
		if s[0] == '\n' {
			out, s = append(out, '\n'), s[1:]
			continue
		}
		_, n = utf8.DecodeRuneInString(s)
		out, s = appendVisible(out, s[:n]), s[n:]
	}
	if len(out) == 0 {
		return nil
	}
	_, err := w.w.Write(out)
	return err
}

// sequence returns the length of the kept sequence at the beginning of s, and
// whether it is complete.
func sequence(s string, kept []string) (n int, whole bool) {
	for _, k := range kept {
		switch {
		case strings.HasPrefix(s, k):
			return len(k), true
		case strings.HasPrefix(k, s):
			n = len(s)
		}
	}
	return n, false
}
