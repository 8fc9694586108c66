package yamljson

import "slices"

// Options are the choices of a conversion. A nil *Options is the zero value: nothing is skipped, and repeated keys are
// not errors.
type Options struct {
	// SkipValue reports whether the value of a property of type typ is not wanted. Convert then writes null in its
	// place and passes over its lines by their indentation alone. Properties are the items of the sequence under the
	// top-level key "properties" that are block mappings with a key "type" and, after it or directly before it, a key
	// "value". Types that need escapes in JSON are not asked for.
	//
	// What is skipped is not checked: text inside it that would be an error, or that would send the document to Slow,
	// goes unseen. Its end is found by indentation, as the YAML specification has it; a quoted scalar continued on lines
	// that are not indented, which the specification forbids and sigs.k8s.io/yaml admits, ends the value too early.
	//
	// SkipValue must not keep typ. Slow does not use it.
	SkipValue func(typ []byte) bool

	// Strict makes Slow report a key that occurs twice in a mapping. Otherwise the last one counts. Convert leaves
	// both cases to Slow.
	Strict bool
}

// maxDepth limits nesting in Convert. Slow has limits of its own.
const maxDepth = 1000

// maxKey is the longest key in bytes that Convert reads. The full parser wants the colon within 1024 characters.
const maxKey = 1000

type frameKind uint8

const (
	rootFrame       frameKind = iota
	mapFrame                  // block mapping
	seqFrame                  // block sequence with a column of its own
	indentlessFrame           // block sequence at the column of the mapping around it
)

// A frame is an open collection. Its indent is the column of its keys or dashes.
type frame struct {
	indent     int
	keys       int // where its keys begin in the key set
	kind       frameKind
	filled     bool // has an element
	properties bool // is the sequence under the top-level key "properties"
	property   bool // is a mapping in that sequence
	typed      bool // is a property whose type was seen
	unwanted   bool // and SkipValue said yes to it
}

// Convert appends the JSON form of the YAML document doc to dst and returns the extended buffer and true. When doc
// is outside of the subset it returns dst unchanged and false. It may have written to dst's spare capacity by then.
//
// A document without content, of comments perhaps, is null.
func Convert(dst, doc []byte, opts *Options) (out []byte, ok bool) {
	var skip func([]byte) bool
	if opts != nil {
		skip = opts.SkipValue
	}
	if skip == nil {
		out = slices.Grow(dst, len(doc)+len(doc)/8+64)
	} else {
		out = slices.Grow(dst, len(doc)/8+64)
	}
	if out, ok = convert(out, doc, skip); !ok {
		return dst, false
	}
	return out, true
}

// convert is the parser: a loop over the lines of doc with a stack of open collections. The labels are the states
// within a line, where a node, a sequence item, a key or a value begins.
func convert(dst, doc []byte, skip func([]byte) bool) ([]byte, bool) {
	var (
		frames  [16]frame
		hashes  [64]uint64
		stack   = append(frames[:0], frame{kind: rootFrame, indent: -1})
		keys    = keySet(hashes[:0])
		pending = true // the innermost collection (or the document) awaits a value
		inProps bool   // the last key of the top-level mapping was "properties"

		p, line, col int // position, start of its line, and the difference
		ok           bool
	)
	for next := 0; ; {
		line, p, ok = nextContent(doc, next)
		if !ok {
			return nil, false
		}
		if p == len(doc) {
			break
		}
		col = p - line
		if col == 0 && documentMarker(doc[p:]) {
			return nil, false
		}

		top := &stack[len(stack)-1]
		for col < top.indent {
			if pending {
				dst = append(dst, "null"...)
				pending = false
			}
			if dst, keys, ok = closeFrame(dst, keys, top); !ok {
				return nil, false
			}
			stack = stack[:len(stack)-1]
			top = &stack[len(stack)-1]
		}
		if col > top.indent {
			if !pending {
				return nil, false
			}
			pending = false
			goto node
		}
		if pending {
			pending = false
			if top.kind == mapFrame && dash(doc, p) {
				stack = append(stack, frame{
					kind:       indentlessFrame,
					indent:     col,
					keys:       len(keys),
					properties: inProps && len(stack) == 2,
				})
				dst = append(dst, '[')
				goto item
			}
			dst = append(dst, "null"...)
		}
		switch top.kind {
		case mapFrame:
			goto key
		case seqFrame:
			if dash(doc, p) {
				goto item
			}
			return nil, false
		default: // indentlessFrame
			if dash(doc, p) {
				goto item
			}
			dst = append(dst, ']')
			stack = stack[:len(stack)-1]
			goto key
		}

	node: // any node, at a column greater than that of the collection around it
		if len(stack) > maxDepth {
			return nil, false
		}
		if dash(doc, p) {
			stack = append(stack, frame{
				kind:       seqFrame,
				indent:     col,
				keys:       len(keys),
				properties: inProps && len(stack) == 2,
			})
			dst = append(dst, '[')
			goto item
		}
		if startsKey(doc, p) {
			stack = append(stack, frame{
				kind:     mapFrame,
				indent:   col,
				keys:     len(keys),
				property: stack[len(stack)-1].properties,
			})
			dst = append(dst, '{')
			goto key
		}
		if len(stack) == 1 {
			return nil, false // a document that is a scalar
		}
		if dst, next, ok = appendValue(dst, doc, p, stack[len(stack)-1].indent); !ok {
			return nil, false
		}
		continue

	item: // the dash of an item of the innermost collection
		{
			top := &stack[len(stack)-1]
			if top.filled {
				dst = append(dst, ',')
			}
			top.filled = true
			p = skipSpaces(doc, p+1)
			if p == len(doc) || doc[p] == '\n' || doc[p] == '#' {
				if next, ok = endLine(doc, p); !ok {
					return nil, false
				}
				pending = true
				continue
			}
			col = p - line
			goto node
		}

	key: // a key of the innermost collection, a mapping
		{
			top := &stack[len(stack)-1]
			if top.filled {
				dst = append(dst, ',')
			}
			top.filled = true
			start := len(dst) + 1
			if dst, p, ok = appendKey(dst, doc, p); !ok {
				return nil, false
			}
			name := dst[start : len(dst)-1]
			if keys, ok = keys.add(top.keys, name); !ok {
				return nil, false
			}
			dst = append(dst, ':')

			isType := false
			if skip != nil {
				if len(stack) == 2 {
					inProps = string(name) == "properties"
				} else if top.property {
					switch string(name) {
					case "type":
						isType = true
					case "value":
						if !top.typed {
							if typ := typeBelow(doc, p, top.indent); typ != nil {
								top.typed, top.unwanted = true, skip(typ)
							}
						}
						if top.unwanted {
							dst = append(dst, "null"...)
							next = endOfValue(doc, p, top.indent)
							continue
						}
					}
				}
			}

			p = skipSpaces(doc, p+1)
			if p == len(doc) || doc[p] == '\n' || doc[p] == '#' {
				if next, ok = endLine(doc, p); !ok {
					return nil, false
				}
				pending = true
				continue
			}
			if dash(doc, p) {
				return nil, false
			}
			start = len(dst)
			if dst, next, ok = appendValue(dst, doc, p, top.indent); !ok {
				return nil, false
			}
			if isType {
				if typ, ok := plainText(dst[start:]); ok {
					top.typed, top.unwanted = true, skip(typ)
				}
			}
		}
	}

	if pending {
		dst = append(dst, "null"...)
	}
	for i := len(stack) - 1; i > 0; i-- {
		if dst, keys, ok = closeFrame(dst, keys, &stack[i]); !ok {
			return nil, false
		}
	}
	return dst, true
}

func closeFrame(dst []byte, keys keySet, f *frame) ([]byte, keySet, bool) {
	if f.kind != mapFrame {
		return append(dst, ']'), keys, true
	}
	keys, ok := keys.drop(f.keys)
	return append(dst, '}'), keys, ok
}

// appendValue appends the scalar or flow collection at p and returns the start of a line at or before the next
// content. The collection around it has its elements at column indent.
func appendValue(dst, doc []byte, p, indent int) (out []byte, next int, ok bool) {
	switch c := doc[p]; c {
	case '"', '\'':
		if c == '"' {
			dst, p, ok = appendDouble(dst, doc, p)
		} else {
			dst, p, ok = appendSingle(dst, doc, p)
		}
	case '[', '{':
		dst, p, ok = appendFlow(dst, doc, p)
	case '|', '>':
		return appendBlock(dst, doc, p, indent)
	default:
		return appendPlain(dst, doc, p, indent)
	}
	if !ok {
		return dst, 0, false
	}
	next, ok = endLine(doc, p)
	return dst, next, ok
}

// plainText returns the text of a JSON string that has no escapes.
func plainText(json []byte) ([]byte, bool) {
	if len(json) < 2 || json[0] != '"' || slices.Contains(json, '\\') {
		return nil, false
	}
	return json[1 : len(json)-1], true
}
