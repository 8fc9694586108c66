package yamlout

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Node is a JSON value.
type Node struct {
	Kind    jsontext.Kind // one of n, t, f, ", 0, { and [
	Raw     string        // of a number, or of a string that is not valid Unicode
	Text    string        // of a string
	Members []Member      // of an object
	Elems   []*Node       // of a list
}

// A Member is a field of an object.
type Member struct {
	Key   string
	Value *Node
}

// Parse returns the tree of a JSON text. If a key is repeated, the last value
// wins. A string with an unpaired surrogate is kept in its original notation.
func Parse(text []byte) (*Node, error) {
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if v := jsontext.Value(text); !v.IsValid(opts...) {
		v = v.Clone()
		return nil, v.Compact(opts...) // returns the error
	}
	p := parser{s: string(text)}
	return p.value(), nil
}

// A parser parses valid JSON. All texts of the tree share one copy of the
// input.
type parser struct {
	s    string
	i    int
	slab []Node
}

func (p *parser) node(k jsontext.Kind) *Node {
	if len(p.slab) == 0 {
		p.slab = make([]Node, 64)
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.Kind = k
	return n
}

func (p *parser) space() byte {
	for {
		switch c := p.s[p.i]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			p.i++
		default:
			return c
		}
	}
}

func (p *parser) value() *Node {
	switch c := p.space(); c {
	case '{':
		n := p.node('{')
		p.i++
		var at map[string]int // used if there are many keys
		for p.space() != '}' {
			key, raw := p.text()
			if raw != "" {
				// A key with an unpaired surrogate cannot be preserved.
				key = strings.ToValidUTF8(key, "\uFFFD")
			}
			m := Member{Key: key, Value: p.value()}
			i := -1
			if len(n.Members) < 16 {
				i = slices.IndexFunc(n.Members, func(o Member) bool { return o.Key == key })
			} else {
				if at == nil {
					at = map[string]int{}
					for i, o := range n.Members {
						at[o.Key] = i
					}
				}
				if j, ok := at[key]; ok {
					i = j
				}
			}
			if i >= 0 {
				n.Members[i] = m
				continue
			}
			if at != nil {
				at[key] = len(n.Members)
			}
			n.Members = append(n.Members, m)
		}
		p.i++
		return n
	case '[':
		n := p.node('[')
		p.i++
		for p.space() != ']' {
			n.Elems = append(n.Elems, p.value())
		}
		p.i++
		return n
	case '"':
		n := p.node('"')
		n.Text, n.Raw = p.text()
		return n
	case 't', 'f', 'n':
		p.i += 4
		if c == 'f' {
			p.i++
		}
		return p.node(jsontext.Kind(c))
	}
	n := p.node('0')
	from := p.i
	for p.i < len(p.s) && strings.IndexByte("+-.0123456789eE", p.s[p.i]) >= 0 {
		p.i++
	}
	n.Raw = p.s[from:p.i]
	return n
}

// text reads a string. raw is its original notation if it is not valid Unicode.
func (p *parser) text() (text, raw string) {
	p.space()
	from := p.i
	escaped := false
	for p.i++; p.s[p.i] != '"'; p.i++ {
		if p.s[p.i] == '\\' {
			escaped = true
			p.i++
		}
	}
	p.i++
	if !escaped {
		return p.s[from+1 : p.i-1], ""
	}
	out, err := jsontext.AppendUnquote(nil, p.s[from:p.i])
	if err != nil {
		raw = p.s[from:p.i]
	}
	return string(out), raw
}

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// At returns the value at the keys below the node, and nil if one of them is missing.
func (n *Node) At(keys ...string) *Node {
	for _, k := range keys {
		if n == nil {
			return nil
		}
		n = n.Get(k)
	}
	return n
}

// TextAt returns the string at the keys, and "" if there is none.
func (n *Node) TextAt(keys ...string) string {
	if n = n.At(keys...); n != nil && n.Kind == '"' {
		return n.Text
	}
	return ""
}

// ElemsAt returns the list at the keys, and nil if there is none.
func (n *Node) ElemsAt(keys ...string) []*Node {
	if n = n.At(keys...); n != nil && n.Kind == '[' {
		return n.Elems
	}
	return nil
}

// Set sets the value of a key in an object. A nil value removes the key.
func (n *Node) Set(key string, v *Node) {
	i := slices.IndexFunc(n.Members, func(m Member) bool { return m.Key == key })
	switch {
	case v == nil && i >= 0:
		n.Members = slices.Delete(n.Members, i, i+1)
	case v == nil:
	case i >= 0:
		n.Members[i].Value = v
	default:
		n.Members = append(n.Members, Member{key, v})
	}
}

// String returns the node of a text.
func String(s string) *Node { return &Node{Kind: '"', Text: strings.ToValidUTF8(s, "\uFFFD")} }

// List returns the node of a list.
func List(elems ...*Node) *Node { return &Node{Kind: '[', Elems: elems} }

// Object returns the node of an object.
func Object(members ...Member) *Node { return &Node{Kind: '{', Members: members} }

// Order sorts the keys of an object: the given keys first, in that order, and
// the others by name.
func (n *Node) Order(first ...string) {
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i
		}
		return len(first)
	}
	less := func(a, b Member) int {
		if len(first) > 0 {
			if c := rank(a.Key) - rank(b.Key); c != 0 {
				return c
			}
		}
		return strings.Compare(a.Key, b.Key)
	}
	if !slices.IsSortedFunc(n.Members, less) {
		slices.SortStableFunc(n.Members, less)
	}
}

// OrderAll sorts the keys of all objects in the tree by name.
func (n *Node) OrderAll() {
	n.Order()
	for _, m := range n.Members {
		m.Value.OrderAll()
	}
	for _, e := range n.Elems {
		e.OrderAll()
	}
}

// AppendJSON appends the tree as compact JSON.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case '{':
		b = append(b, '{')
		for i, m := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = jsontext.AppendQuote(b, m.Key)
			b = append(b, ':')
			b = m.Value.AppendJSON(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, e := range n.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.AppendJSON(b)
		}
		return append(b, ']')
	case '"':
		if n.Raw != "" {
			return append(b, n.Raw...)
		}
		b, _ = jsontext.AppendQuote(b, n.Text)
		return b
	}
	return append(b, n.literal()...)
}

// literal returns the text of a number, a boolean or null.
func (n *Node) literal() string {
	switch n.Kind {
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	return n.Raw
}
