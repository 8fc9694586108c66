package yamljson

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	yamlv3 "go.yaml.in/yaml/v3"
)

// A few bytes of YAML can expand to any amount of JSON: an alias repeats the content of its anchor, which may contain
// further aliases. In addition, a parser's nodes take much more memory than the one or two bytes of text that they
// represent. Both are limited before anything is built: nodes by counting the bytes that can begin one, and aliases in
// the tree of go.yaml.in/yaml/v3, which does not expand them. Tag directives, which can expand as well, are refused.

// DefaultExpansion is the number of bytes that the aliases of a document may add by default.
const DefaultExpansion = 64 << 20

// DefaultNodes is the default limit of nodes in a document. Parsers take up to 200 bytes for each.
const DefaultNodes = 2 << 20

// A Limit is a limit that a document can exceed.
type Limit string

const (
	Expansion Limit = "expansion" // the bytes of JSON that aliases add
	Nodes     Limit = "nodes"     // the number of keys, values and items
	Depth     Limit = "depth"     // the depth of nesting
)

// A LimitError is the error for a document that exceeds a limit (S1).
type LimitError struct {
	Kind Limit
	Max  int64
	Line int // the line, as in [Error]
}

// Error returns a message that names the limit. Callers that have another name for the limit wrap the error.
func (e *LimitError) Error() string {
	switch e.Kind {
	case Nodes:
		return fmt.Sprintf("the YAML has more than %d keys, values and list items; split the document", e.Max)
	case Depth:
		return fmt.Sprintf("the YAML is nested more than %d levels deep", e.Max)
	}
	return fmt.Sprintf("the aliases of the YAML expand to more than %d bytes; write fewer aliases, or split the document", e.Max)
}

// Sizes by which the output is estimated.
const (
	nodeSize  = 4       // the JSON around a value: quotes or brackets, a comma or a colon
	maxNumber = 24      // a number, a truth value or null
	maxEscape = 6       // a byte in a JSON string, at most
	maxSource = 32      // JSON bytes per byte of a document without aliases, at most
	freeNodes = 1 << 15 // an allowance for every document
)

// expansion returns the number of bytes of JSON that the aliases of a document add, or an error if that exceeds the
// limit or the document has too many nodes.
func expansion(ctx context.Context, doc []byte, limit, nodes int64) (int64, error) {
	if err := refuse(doc); err != nil {
		return 0, err
	}
	if err := fewNodes(doc, nodes); err != nil {
		return 0, err
	}
	if !mayRepeat(doc) {
		return 0, nil
	}
	root, err := tree(ctx, doc)
	if err != nil {
		return 0, err
	}
	c := counter{anchors: map[*yamlv3.Node]int64{}}
	total := c.count(root)
	if added := total - c.written; total < math.MaxInt64 && added <= limit {
		return added, nil
	}
	return 0, &LimitError{Kind: Expansion, Max: limit}
}

// Tree returns the first document of a text as a tree of at most [DefaultNodes] nodes, in which aliases are not
// expanded. It returns the same errors as [Slow].
func Tree(ctx context.Context, doc []byte) (*yamlv3.Node, error) {
	if err := refuse(doc); err != nil {
		return nil, err
	}
	if err := fewNodes(doc, DefaultNodes); err != nil {
		return nil, err
	}
	return tree(ctx, doc)
}

func tree(ctx context.Context, doc []byte) (root *yamlv3.Node, err error) {
	defer func() {
		if r := recover(); r != nil { // as in Slow
			root, err = nil, &Error{Err: fmt.Errorf("yaml: %v", r)}
		}
		if ctx.Err() != nil {
			root, err = nil, context.Cause(ctx)
		}
	}()
	root = &yamlv3.Node{}
	if err := yamlv3.NewDecoder(&reader{ctx, doc}).Decode(root); err != nil && err != io.EOF { // an empty document
		return nil, syntaxError(err)
	}
	return root, nil
}

// mayRepeat reports whether a document may have aliases.
func mayRepeat(doc []byte) bool {
	return bytes.IndexByte(doc, '&') >= 0 && bytes.IndexByte(doc, '*') >= 0
}

// A counter counts the bytes of a tree as JSON.
type counter struct {
	anchors map[*yamlv3.Node]int64 // with aliases expanded
	written int64                  // of all nodes counted so far, without expanding aliases
}

func (c *counter) count(n *yamlv3.Node) int64 {
	size := nodeSize + textSize(n.Value)
	if n.Kind == yamlv3.AliasNode {
		c.written += nodeSize
		// An anchor precedes its aliases. An anchor that contains an alias of itself is an error and has no size yet.
		return plus(nodeSize, c.anchors[n.Alias])
	}
	c.written += size
	for _, x := range n.Content {
		size = plus(size, c.count(x))
	}
	if n.Anchor != "" {
		c.anchors[n] = size
	}
	return size
}

// textSize returns the length of a text in a JSON string.
func textSize(s string) int64 {
	n := int64(len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			n++
		case c < 0x20:
			n += maxEscape - 1
		}
	}
	return n
}

// plus adds sizes and saturates on overflow.
func plus(sizes ...int64) int64 {
	var sum int64
	for _, n := range sizes {
		if sum > math.MaxInt64-n {
			return math.MaxInt64
		}
		sum += n
	}
	return sum
}
