package decode

import (
	"bytes"
	"context"
	"io"

	"github.com/olmkit/olmkit/internal/jsonscan"
)

// BOM is the byte order mark that some editors put before UTF-8 text.
const BOM = "\xef\xbb\xbf"

// A Batch is documents, usually of one file or of several small ones, that share a buffer.
type Batch struct {
	Docs  []Document
	buf   []byte // empty, with the capacity of the buffer
	free  []byte // the part of the buffer that is not used, empty
	spans []PropertySpan
}

// Reset empties the batch, whose memory is then reused.
func (b *Batch) Reset() { b.Docs, b.free, b.spans = b.Docs[:0], b.buf, b.spans[:0] }

// allocate replaces the buffer.
func (b *Batch) allocate(size int) []byte {
	b.buf = make([]byte, 0, size)
	return b.buf
}

// Fits reports whether the rest of the buffer has room for a file of the given size, and for
// noticing that the file is longer. An unknown size is 0.
func (b *Batch) Fits(size int64) bool { return size > 0 && size < int64(cap(b.free)) }

// A Splitter cuts files into documents without decoding them (A3). JSON documents end
// where their outermost brace closes. YAML documents end at a line that begins with
// "---" or "...". One file may hold both. A Splitter reads on demand, so the largest
// document bounds its memory.
type Splitter struct {
	ctx     context.Context // stops the reading of long documents
	r       io.Reader
	limits  Limits
	scanner scanner
	chunk   int    // the size of a new buffer
	rest    []byte // what was read and not yet returned
	off     int64  // offset of rest in the file
	line    int    // line of rest
	eof     bool
	guess   bool
	size    int64 // bytes read so far of the file
	total   int64 // bytes read so far of all files
}

// The buffers of batches have BatchSize bytes at first. Larger ones make a load faster, so
// they grow up to maxBatchSize, as long as all of them stay small next to what was read.
const (
	BatchSize    = 16 << 10
	maxBatchSize = 128 << 10
)

// maxEmptyReads is how many reads in a row may return neither data nor an error. One more
// is an error.
const maxEmptyReads = 100

// NewSplitter returns a splitter whose first buffer has the given size.
func NewSplitter(ctx context.Context, limits Limits, chunk int) *Splitter {
	return &Splitter{ctx: ctx, limits: limits, scanner: scanner{depth: limits.Depth}, chunk: chunk}
}

// Line returns the line of the first text that was not returned.
func (s *Splitter) Line() int { return s.line }

// Offset returns the offset of the first text that was not returned, in bytes.
func (s *Splitter) Offset() int64 { return s.off }

// Size returns the number of bytes that were read of the file.
func (s *Splitter) Size() int64 { return s.size }

// Done reports whether the end of the file was read.
func (s *Splitter) Done() bool { return s.eof }

// Begin starts another file. If guess is set, the splitter does not look for the ends of JSON
// documents, which takes most of its time: it assumes that each line that begins with a brace
// begins a document. A guess is wrong if [Reader.Wrong] reports so for a document; then the
// file must be split again from that document on.
func (s *Splitter) Begin(r io.Reader, guess bool) {
	s.r, s.guess = r, guess
	s.rest, s.off, s.line, s.eof, s.size = s.rest[:0], 0, 1, false, 0
}

// Resume starts in the middle of a file, at an offset and its line, and does not guess.
func (s *Splitter) Resume(r io.Reader, offset int64, line int) error {
	s.Begin(r, false)
	s.off, s.line, s.size = offset, line, offset
	if k, ok := r.(io.Seeker); ok {
		_, err := k.Seek(offset, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, r, offset)
	return err
}

// Guesses reports whether the splitter guesses where documents end.
func (s *Splitter) Guesses() bool { return s.guess }

// Next adds the next run of documents to the batch, or returns io.EOF after the last one. Any
// other error is a [LimitError], or that of the reader or the context; no call may follow it. A
// batch that is not empty must have room for the file: see [Batch.Fits].
func (s *Splitter) Next(b *Batch) error {
	if s.chunk < maxBatchSize && s.total > 64*int64(s.chunk) {
		s.chunk *= 2
	}
	buf, before := b.free, len(b.Docs)
	if size := max(s.chunk, len(s.rest)); before == 0 && cap(buf) < size {
		buf = b.allocate(size)
	}
	buf = append(buf, s.rest...)
	empty := 0
	for {
		if !s.eof && len(buf) < cap(buf) {
			if s.ctx.Err() != nil {
				return context.Cause(s.ctx)
			}
			n, err := s.r.Read(buf[len(buf):cap(buf)])
			if n > 0 {
				empty = 0
			} else if empty++; empty > maxEmptyReads && err == nil {
				return io.ErrNoProgress
			}
			buf = buf[:len(buf)+n]
			s.size += int64(n)
			s.total += int64(n)
			if s.size > s.limits.FileSize {
				return &LimitError{Limit: "FileSize", What: "file", Max: s.limits.FileSize}
			}
			switch err {
			case nil:
				if len(buf) < cap(buf) {
					continue
				}
			case io.EOF:
				s.eof = true
			default:
				return err
			}
		}
		s.scanner.spans = b.spans
		docs, end := s.carve(buf, b.Docs)
		if len(docs) > before || s.eof {
			// The batch keeps the buffer, so the rest moves to other memory.
			s.rest = append(s.rest[:0], buf[end:]...)
			if len(docs) == before {
				return io.EOF
			}
			b.Docs, b.free, b.spans = docs, buf[len(buf):], s.scanner.spans
			return nil
		}
		if int64(len(buf)) > s.limits.DocumentSize {
			return &LimitError{Limit: "DocumentSize", What: "document", Max: s.limits.DocumentSize}
		}
		size := max(2*cap(buf), s.chunk)
		if room := s.limits.DocumentSize - int64(len(buf)); room < int64(size-len(buf)-s.chunk) {
			size = len(buf) + int(room) + s.chunk // no more than needed to detect a document that is too long
		}
		buf = append(b.allocate(size), buf...)
	}
}

// carve cuts the complete documents off the front of data, adds them to docs and
// returns how much of data they and the space between them took.
func (s *Splitter) carve(data []byte, docs []Document) (_ []Document, used int) {
	pos := 0
	for {
		from, ok := skipBlank(data, pos, s.eof)
		if !ok {
			break
		}
		doc, to, ok := s.document(data, from)
		if !ok {
			break
		}
		s.line += bytes.Count(data[used:from], []byte("\n"))
		doc.Text, doc.Offset, doc.Line = data[from:to:to], s.off+int64(from-used), s.line
		docs = append(docs, doc)
		s.line += bytes.Count(data[from:to], []byte("\n"))
		s.off += int64(to - used)
		pos, used = to, to
	}
	if s.eof {
		used = len(data)
	}
	return docs, used
}

// skipBlank returns where the next document begins: after white space,
// comments, byte order marks and separator lines. It reports false when data
// ends first.
func skipBlank(data []byte, pos int, eof bool) (int, bool) {
	for pos < len(data) {
		switch c := data[pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			pos++
		case c == '#':
			n := bytes.IndexByte(data[pos:], '\n')
			if n < 0 {
				return 0, false
			}
			pos += n
		case (c == '-' || c == '.') && lineStart(data, pos):
			is, known := separator(data[pos:], eof)
			if !known {
				return 0, false
			}
			if !is {
				return pos, true
			}
			pos += 3
		case c == '{':
			return pos, true
		case c == BOM[0] && bytes.HasPrefix(data[pos:], []byte(BOM)):
			pos += len(BOM)
		case c == BOM[0] && !eof && len(data)-pos < len(BOM):
			return 0, false
		default:
			// YAML reads the indentation of its first line too.
			for pos > 0 && (data[pos-1] == ' ' || data[pos-1] == '\t') {
				pos--
			}
			return pos, true
		}
	}
	return 0, false
}

func lineStart(data []byte, pos int) bool {
	return pos == 0 || data[pos-1] == '\n' || bytes.HasSuffix(data[:pos], []byte(BOM))
}

// separator reports whether text begins with the word "---" or "...". known is false if
// that depends on data that was not read yet.
func separator(text []byte, eof bool) (is, known bool) {
	if len(text) < 4 && !eof {
		return false, false
	}
	if !bytes.HasPrefix(text, []byte("---")) && !bytes.HasPrefix(text, []byte("...")) {
		return false, true
	}
	if len(text) == 3 {
		return true, true
	}
	switch text[3] {
	case ' ', '\t', '\r', '\n':
		return true, true
	}
	return false, true
}

// document returns what is known of the document that begins at from, and where it ends. ok
// is false if that depends on data that was not read yet.
func (s *Splitter) document(data []byte, from int) (d Document, to int, ok bool) {
	if data[from] == '{' && s.guess {
		n := bytes.Index(data[from:], []byte("\n{"))
		if n < 0 && !s.eof {
			return d, 0, false
		}
		if n < 0 {
			n = len(data) - from
		}
		return Document{guessed: true}, from + len(bytes.TrimRight(data[from:from+n], " \t\r\n")), true
	}
	if data[from] == '{' {
		if d.fields, to, d.scanned = s.scanner.object(data, from); d.scanned {
			return d, to, true
		}
		if to == len(data) && !s.eof {
			return d, 0, false
		}
		to, verdict := jsonEnd(data, from, s.eof)
		switch verdict {
		case complete:
			return Document{}, to, true
		case incomplete:
			return Document{}, 0, false
		}
	}
	to, ok = yamlEnd(data, from, s.eof)
	return Document{}, to, ok
}

// yamlEnd returns the offset of the next separator line. The "---" that ends
// directives (%YAML 1.1) belongs to the document.
func yamlEnd(data []byte, from int, eof bool) (int, bool) {
	if data[from] == '%' {
		n := bytes.Index(data[from:], []byte("\n---"))
		if n < 0 {
			return len(data), eof
		}
		from += n + 4
	}
	for p := from; ; {
		n := bytes.IndexByte(data[p:], '\n')
		if n < 0 {
			break
		}
		if p += n + 1; p == len(data) {
			break
		}
		switch data[p] {
		case '-', '.':
			if is, known := separator(data[p:], eof); !known {
				return 0, false
			} else if is {
				return p, true
			}
		case BOM[0]:
			// A byte order mark begins a file, so this file consists of two that were
			// joined.
			if bytes.HasPrefix(data[p:], []byte(BOM)) {
				return p, true
			}
		}
	}
	return len(data), eof
}

type verdict int

const (
	complete   verdict = iota // the object closes
	incomplete                // more data is needed
	notJSON                   // a line break inside a string, or a separator inside the object
)

// outside marks the bytes that are significant outside the strings of a JSON document.
var outside = [256]bool{'{': true, '[': true, '}': true, ']': true, '-': true, '.': true, '#': true, '\'': true, '"': true}

// jsonEnd finds the brace that closes the object at from, ignoring braces in strings.
func jsonEnd(data []byte, from int, eof bool) (int, verdict) {
	depth := 0
	for i := from; i < len(data); i++ {
		if !outside[data[i]] {
			continue
		}
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, complete
			}
		case '-', '.':
			if lineStart(data, i) {
				if is, known := separator(data[i:], eof); is {
					return 0, notJSON
				} else if !known {
					return 0, incomplete
				}
			}
		case '#': // in YAML, a comment
			if c := data[i-1]; c == ' ' || c == '\t' || c == '\n' {
				n := bytes.IndexByte(data[i:], '\n')
				if n < 0 {
					n = len(data) - i
				}
				i += n - 1
			}
		case '\'': // in YAML, a string that may hold braces
			before := bytes.TrimRight(data[from:i], " \t\r\n")
			if !bytes.ContainsAny(before[len(before)-1:], "{[,:") {
				break
			}
			n := bytes.IndexByte(data[i+1:], '\'')
			if n < 0 && !eof && bytes.IndexByte(data[i:], '\n') < 0 {
				return 0, incomplete
			}
			if n < 0 || bytes.IndexByte(data[i+1:i+1+n], '\n') >= 0 {
				return 0, notJSON
			}
			i += n + 1
		case '"':
			for i = jsonscan.Special(data, i+1); i < len(data) && data[i] != '"'; i = jsonscan.Special(data, i) {
				switch data[i] {
				case '\n':
					return 0, notJSON
				case '\\':
					i++
				}
				i++
			}
			if i >= len(data) && !eof {
				return 0, incomplete
			}
		}
	}
	if eof {
		return 0, notJSON
	}
	return 0, incomplete
}

// escaped reports whether an odd number of backslashes precedes data[i].
func escaped(data []byte, i int) bool {
	n := 0
	for n < i && data[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
