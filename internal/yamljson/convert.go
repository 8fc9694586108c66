package yamljson

import (
	"slices"
	"sync"
)

// Options configure a conversion. A nil *Options is the zero value, which skips nothing and accepts repeated keys.
type Options struct {
	// SkipValue reports whether to skip the value of a property of type typ. Convert then writes null instead and
	// finds the end of the value by indentation. Properties are the items of the sequence under the top-level key
	// "properties" that are block mappings with a key "type" and, directly before or anywhere after it, a key "value".
	// SkipValue is not called for types that need escapes in JSON. Skipped text is not checked: errors in it, and
	// constructs that would be left to Slow, go unnoticed. A value is never cut short: if indentation does not show
	// where it ends, it is converted instead. SkipValue must not retain typ. Slow ignores SkipValue.
	SkipValue func(typ []byte) bool

	// Marks, if not nil, receives a mark for each key and each item of a block collection in document order, except
	// for items whose dash is alone on its line. Slow ignores Marks.
	Marks *[]Mark

	// Strict makes Slow report a key that occurs twice in a mapping. Otherwise the last one wins. Convert leaves
	// repeated keys to Slow in either case.
	Strict bool

	// Expansion is the number of bytes of JSON that aliases may add. Slow subtracts what the aliases of a document
	// add, so that several documents can share a limit. If it is nil, each document has [DefaultExpansion]. Convert
	// leaves aliases to Slow.
	Expansion *int64

	// Nodes is the maximum number of keys, values and items in a document that Slow reads. The default is
	// [DefaultNodes].
	Nodes int64
}

// A Mark is where a key or an item begins.
type Mark struct {
	JSON int // offset in the JSON form
	YAML int // offset in the document
}

// maxDepth limits nesting in Convert. Slow has separate limits.
const maxDepth = 1000

// maxKey is the length in bytes of the longest key that Convert reads. The full parser requires the colon within 1024
// characters.
const maxKey = 1000

// maxKept is the largest capacity of a key set that is reused for the next document.
const maxKept = 1 << 12

// Convert appends the JSON form of the YAML document doc to dst and returns the extended buffer and true. If doc is
// outside of the subset, it returns dst unchanged and false, although it may have written to dst's spare capacity. The
// memory of dst and doc must not overlap. A document without content, such as one that has only comments, is null.
func Convert(dst, doc []byte, opts *Options) (out []byte, ok bool) {
	c := converters.Get().(*converter)
	defer converters.Put(c)
	*c = converter{
		doc:     slices.Clip(doc),
		stack:   append(c.stack[:0], frame{kind: documentFrame, indent: -1}),
		keys:    c.keys[:0],
		pending: true,
	}
	room := len(doc) + len(doc)/8
	if opts != nil && opts.SkipValue != nil {
		c.skip = opts.SkipValue
		room /= 8
	}
	if opts != nil {
		c.marks = opts.Marks
	}
	c.base = len(dst)
	c.dst = slices.Grow(dst, room+64)
	ok = c.convert()
	out = c.dst
	c.doc, c.dst, c.skip, c.marks = nil, nil, nil, nil // reuse only the stack and the keys
	if cap(c.keys) > maxKept {
		c.keys = nil
	}
	if !ok {
		return dst, false
	}
	return out, true
}

// converters holds stacks for reuse.
var converters = sync.Pool{New: func() any { return new(converter) }}

// A converter is the state of one conversion. Its methods return false if the document is outside of the subset.
type converter struct {
	dst, doc []byte
	p        int // position in doc
	line     int // start of its line
	stack    []frame
	keys     keySet
	skip     func(typ []byte) bool // or nil
	marks    *[]Mark               // or nil
	base     int                   // where the JSON form begins in dst
	pending  bool                  // the innermost frame needs a value
	inProps  bool                  // the last key of the top-level mapping was "properties"
}

// A frame is an open collection, or the document. Its indent is the column of its keys or dashes.
type frame struct {
	indent     int
	keys       int    // where its keys begin in the key set
	seen       uint64 // a bit for each key, to detect new keys quickly
	kind       frameKind
	filled     bool // has an element
	properties bool // is the sequence under the top-level key "properties"
	property   bool // is a mapping in the sequence "properties"
	typed      bool // is a property whose type has been read
	unwanted   bool // and whose value is to be skipped
}

type frameKind uint8

const (
	documentFrame   frameKind = iota
	mapFrame                  // block mapping
	seqFrame                  // block sequence with a separate column
	indentlessFrame           // block sequence at the column of the enclosing mapping
)

func (c *converter) convert() bool {
	for {
		var ok bool
		if c.line, c.p, ok = nextContent(c.doc, c.line, c.p); !ok {
			return false
		}
		if c.p == len(c.doc) {
			break
		}
		if !c.content() {
			return false
		}
	}
	for len(c.stack) > 1 {
		if !c.close() {
			return false
		}
	}
	c.null()
	return true
}

// content converts the first text of a line, at p, which is not part of a scalar that began on an earlier line. Its
// column determines which collections end here.
func (c *converter) content() bool {
	col := c.p - c.line
	if col == 0 && documentMarker(c.doc[c.p:]) {
		return false
	}
	top := c.top()
	for col < top.indent {
		if !c.close() {
			return false
		}
		top = c.top()
	}
	if col > top.indent {
		return c.pending && c.node()
	}
	if dash(c.doc, c.p) {
		switch {
		case top.kind != mapFrame:
			c.null()
		case c.pending:
			c.open(indentlessFrame, '[')
		default:
			return false
		}
		return c.item()
	}
	c.null()
	switch top.kind {
	case seqFrame:
		return false
	case indentlessFrame:
		c.close()
	}
	colon, simple := keyEnd(c.doc, c.p)
	return colon >= 0 && c.key(colon, simple)
}

// node converts the node at p, which begins a collection or is a scalar.
func (c *converter) node() bool {
	if dash(c.doc, c.p) {
		return c.open(seqFrame, '[') && c.item()
	}
	if colon, simple := keyEnd(c.doc, c.p); colon >= 0 {
		return c.open(mapFrame, '{') && c.key(colon, simple)
	}
	// A document that is a scalar is left to Slow.
	return len(c.stack) > 1 && c.value()
}

// item converts the sequence item whose dash is at p.
func (c *converter) item() bool {
	c.comma()
	c.pending = true
	c.p = skipSpaces(c.doc, c.p+1)
	if c.p == len(c.doc) || c.doc[c.p] == '\n' || c.doc[c.p] == '#' {
		return c.endLine()
	}
	c.mark()
	return c.node()
}

// mark records that the key or item at p begins.
func (c *converter) mark() {
	if c.marks != nil {
		*c.marks = append(*c.marks, Mark{JSON: len(c.dst) - c.base, YAML: c.p})
	}
}

// key converts the key at p, and its value if that begins on the same line.
func (c *converter) key(colon int, simple bool) bool {
	c.comma()
	c.mark()
	start := len(c.dst) + 1
	var ok bool
	if c.dst, ok = appendKey(c.dst, c.doc, c.p, colon, simple); !ok {
		return false
	}
	name := c.dst[start : len(c.dst)-1]
	if simple {
		name = c.doc[c.p:colon] // the same, but known to be a key
	}
	if c.keys, ok = c.keys.add(c.top(), hash(name)); !ok {
		return false
	}
	c.dst = append(c.dst, ':')
	c.pending = true

	isType := false
	if c.skip != nil {
		if len(c.stack) == 2 {
			c.inProps = string(name) == "properties"
		} else if c.top().property {
			isType = string(name) == "type"
			if string(name) == "value" && c.skipValue(colon) {
				return true
			}
		}
	}
	c.p = skipSpaces(c.doc, colon+1)
	if c.p == len(c.doc) || c.doc[c.p] == '\n' || c.doc[c.p] == '#' {
		return c.endLine()
	}
	start = len(c.dst)
	if !c.value() {
		return false
	}
	if isType {
		if typ, ok := plainText(c.dst[start:]); ok {
			c.setType(typ)
		}
	}
	return true
}

// value converts the scalar or flow collection at p. Afterwards there are only spaces between line and p.
func (c *converter) value() (ok bool) {
	c.pending = false
	switch c.doc[c.p] {
	case '"':
		c.dst, c.p, ok = appendDouble(c.dst, c.doc, c.p)
	case '\'':
		c.dst, c.p, ok = appendSingle(c.dst, c.doc, c.p)
	case '[', '{':
		c.dst, c.p, ok = appendFlow(c.dst, c.doc, c.p)
	case '|', '>':
		c.dst, c.p, ok = appendBlock(c.dst, c.doc, c.p, c.top().indent)
		c.line = c.p
		return ok
	default:
		c.dst, c.line, c.p, ok = appendPlain(c.dst, c.doc, c.p, c.top().indent)
		return ok
	}
	return ok && c.endLine()
}

func (c *converter) endLine() (ok bool) {
	c.p, ok = endLine(c.doc, c.p)
	c.line = c.p
	return ok
}

func (c *converter) top() *frame { return &c.stack[len(c.stack)-1] }

// open begins a collection whose first element is at p.
func (c *converter) open(kind frameKind, bracket byte) bool {
	if len(c.stack) > maxDepth {
		return false
	}
	f := frame{kind: kind, indent: c.p - c.line, keys: len(c.keys)}
	if kind == mapFrame {
		f.property = c.top().properties
	} else {
		f.properties = c.inProps && len(c.stack) == 2
	}
	c.stack = append(c.stack, f)
	c.dst = append(c.dst, bracket)
	return true
}

// close ends the innermost collection.
func (c *converter) close() (ok bool) {
	c.null()
	f := c.top()
	c.stack = c.stack[:len(c.stack)-1]
	if f.kind != mapFrame {
		c.dst = append(c.dst, ']')
		return true
	}
	c.dst = append(c.dst, '}')
	c.keys, ok = c.keys.drop(f)
	return ok
}

// comma writes the separator before an element of the innermost collection, unless it is the first.
func (c *converter) comma() {
	if f := c.top(); f.filled {
		c.dst = append(c.dst, ',')
	} else {
		f.filled = true
	}
}

// null writes null for a missing value.
func (c *converter) null() {
	if c.pending {
		c.dst = append(c.dst, "null"...)
		c.pending = false
	}
}
