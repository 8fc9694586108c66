package crdsafety

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ErrTooLarge is the error for a schema whose paths take more memory than those
// of any CRD that an API server accepts.
var ErrTooLarge = errors.New("schema too large: its paths take more than 64 MiB; flatten the nesting")

const maxPaths = 64 << 20

type schema = apiextensionsv1.JSONSchemaProps

// A node is a schema and the schemas nested in it.
type node struct {
	path   string
	whole  *schema // read-only
	nested []nested
	size   int // the number of nodes, this one included
	lists  int // how deep lists of alternatives are nested in each other
	sums   *sums
}

// sums identify a node and everything below it. Only nodes below a keyword
// other than properties and items have them.
type sums struct {
	documented digest // with documentation
	entry      digest // without that of the node itself (K60)
	plain      digest // without documentation
}

// A nested is a step from a schema to one nested in it. The key is a property
// name, an index or empty.
type nested struct {
	keyword, key string
	node         *node // nil if the key is the whole value
}

// sums identify the schema that the step leads to. They are zero if the step
// leads to no schema.
func (n nested) sums() sums {
	if n.node == nil {
		return sums{}
	}
	return *n.node.sums
}

// structural reports whether the step leads to fields of objects, which are
// compared at their own paths.
func (n nested) structural() bool { return n.keyword == "properties" || n.keyword == "items" }

// list returns 1 for an entry of a list of alternatives, and 0 otherwise.
func (n nested) list() int {
	switch n.keyword {
	case "allOf", "anyOf", "oneOf":
		return 1
	}
	return 0
}

// step returns the step as part of a path (K58).
func (n nested) step() string {
	switch {
	case n.keyword == "properties" && n.key == "":
		return "[]"
	case n.keyword == "properties":
		return "." + n.key
	case n.key == "":
		return "." + n.keyword
	default:
		return "." + n.keyword + "[" + n.key + "]"
	}
}

// A builder creates the nodes of one version's schema.
type builder struct {
	ctx   context.Context
	paths int // bytes of all paths
}

// root returns the node of a version's schema, or nil if the version has none.
func (b *builder) root(v *apiextensionsv1.CustomResourceDefinitionVersion) (*node, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	return b.node(v.Schema.OpenAPIV3Schema, "^", false)
}

// node returns the node of a schema.
func (b *builder) node(s *schema, path string, summed bool) (*node, error) {
	if b.ctx.Err() != nil {
		return nil, context.Cause(b.ctx)
	}
	if b.paths += len(path); b.paths > maxPaths {
		return nil, ErrTooLarge
	}
	n := &node{path: path, whole: s, size: 1}
	for step, child := range steps(s) {
		if child != nil {
			var err error
			if step.node, err = b.node(child, path+step.step(), summed || !step.structural()); err != nil {
				return nil, err
			}
			n.size += step.node.size
			n.lists = max(n.lists, step.node.lists+step.list())
		}
		n.nested = append(n.nested, step)
	}
	if !summed {
		return n, nil
	}
	var err error
	if n.sums, err = n.identify(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// own returns the schema without the schemas nested in it.
func (n *node) own() *schema {
	s := *n.whole
	s.Items, s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil, nil
	s.Properties, s.PatternProperties, s.Definitions, s.Dependencies = nil, nil, nil, nil
	s.AdditionalProperties, s.AdditionalItems = nil, nil
	return &s
}

// identify returns the sums of a node.
func (n *node) identify() (*sums, error) {
	own := n.own()
	documented, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	clearDocs(own)
	plain, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	withDocs := func(s sums) digest { return s.documented }
	return &sums{n.digest(documented, withDocs), n.digest(plain, withDocs), n.digest(plain, func(s sums) digest { return s.plain })}, nil
}

// clearDocs clears the keywords that only document the schema.
func clearDocs(s *schema) {
	s.Description, s.Title, s.Example, s.ExternalDocs = "", "", nil, nil
}

// steps yields the schemas nested in a schema, in a fixed order. Dependencies
// that list names, and boolean additionalProperties and additionalItems, have
// no schema: their value becomes the key.
func steps(s *schema) func(func(nested, *schema) bool) {
	return func(yield func(nested, *schema) bool) {
		list := func(keyword string, l []schema) bool {
			for i := range l {
				if !yield(nested{keyword: keyword, key: fmt.Sprint(i)}, &l[i]) {
					return false
				}
			}
			return true
		}
		named := func(keyword string, m map[string]schema) bool {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				child := m[name]
				if !yield(nested{keyword: keyword, key: name}, &child) {
					return false
				}
			}
			return true
		}
		orBool := func(keyword string, v *apiextensionsv1.JSONSchemaPropsOrBool) bool {
			switch {
			case v == nil:
				return true
			case v.Schema == nil:
				return yield(nested{keyword: keyword, key: fmt.Sprint(v.Allows)}, nil)
			default:
				return yield(nested{keyword: keyword}, v.Schema)
			}
		}
		if s.Items != nil {
			if s.Items.Schema != nil && !yield(nested{keyword: "items"}, s.Items.Schema) || !list("items", s.Items.JSONSchemas) {
				return
			}
		}
		if !list("allOf", s.AllOf) || !list("anyOf", s.AnyOf) || !list("oneOf", s.OneOf) ||
			s.Not != nil && !yield(nested{keyword: "not"}, s.Not) ||
			!named("properties", s.Properties) ||
			!orBool("additionalProperties", s.AdditionalProperties) ||
			!named("patternProperties", s.PatternProperties) ||
			!orBool("additionalItems", s.AdditionalItems) ||
			!named("definitions", s.Definitions) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
			d := s.Dependencies[name]
			step := nested{keyword: "dependencies", key: name}
			if d.Schema == nil {
				step.key += fmt.Sprintf(" %q", d.Property)
			}
			if !yield(step, d.Schema) {
				return
			}
		}
	}
}

// A digest is equal for equal schemas.
type digest [sha256.Size]byte

// digest returns the digest of a node's own keywords and of the sums of the
// schemas nested in it.
func (n *node) digest(own []byte, of func(sums) digest) digest {
	h := sha256.New()
	h.Write(own)
	for _, c := range n.nested {
		fmt.Fprintf(h, "\n%q %q ", c.keyword, c.key)
		sum := of(c.sums())
		h.Write(sum[:])
	}
	return digest(h.Sum(nil))
}

// index returns the nodes that the steps of n lead to.
func (n *node) index() map[[2]string]*node {
	out := make(map[[2]string]*node, len(n.nested))
	for _, c := range n.nested {
		out[[2]string{c.keyword, c.key}] = c.node
	}
	return out
}
