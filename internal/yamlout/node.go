package yamlout

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Node is a JSON value.
type Node struct {
	Kind    jsontext.Kind // one of n t f " 0 { [
	Raw     []byte        // of a number, or of a string that is no text
	Text    string        // of a string
	Members []Member      // of an object
	Elems   []*Node       // of a list
}

// A Member is a field of an object.
type Member struct {
	Key   string
	Value *Node
}

// Parse returns the tree of a JSON text. Of a key that is given twice, the last
// value counts. A string with half a surrogate pair, which is no text, is kept
// as it is written.
func Parse(text []byte) (*Node, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return parse(d)
}

func parse(d *jsontext.Decoder) (*Node, error) {
	n := &Node{Kind: d.PeekKind()}
	switch n.Kind {
	case '{':
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		at := map[string]int{}
		for d.PeekKind() == '"' {
			key, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			m := Member{Key: key.String()}
			if m.Value, err = parse(d); err != nil {
				return nil, err
			}
			if i, ok := at[m.Key]; ok {
				n.Members[i] = m
				continue
			}
			at[m.Key] = len(n.Members)
			n.Members = append(n.Members, m)
		}
		_, err := d.ReadToken()
		return n, err
	case '[':
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		for d.PeekKind() != ']' && d.PeekKind() != 0 {
			e, err := parse(d)
			if err != nil {
				return nil, err
			}
			n.Elems = append(n.Elems, e)
		}
		_, err := d.ReadToken()
		return n, err
	}
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	switch n.Kind {
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			n.Raw = v.Clone()
		}
		n.Text = string(text)
	case '0':
		n.Raw = v.Clone()
	}
	return n, nil
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

// Set gives a key of an object a value; a nil value removes the key.
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

// Order sorts the keys of an object: those listed first, in that order, and
// then the others by name.
func (n *Node) Order(first ...string) {
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(n.Members, func(a, b Member) int {
		if c := rank(a.Key) - rank(b.Key); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
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
		if n.Raw != nil {
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
	return string(n.Raw)
}
