package fbc

import (
	"context"
	"encoding/json"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/yamlout"
)

// canonical returns the tree of a blob with its keys in a fixed order (A12): first the
// known keys of the schema, as people usually write them, then all others by name. Lists
// keep their order, and numbers their notation.
func (c *Catalog) canonical(ctx context.Context, b Blob) (*yamlout.Node, error) {
	m := b.Common()
	if m.Raw == nil && m.from.source == nil {
		return order(encode(b)), nil
	}
	raw, err := c.Raw(ctx, b)
	if err != nil {
		return nil, err
	}
	n, err := yamlout.Parse(raw)
	if err != nil {
		return nil, err
	}
	return order(n), nil
}

func order(n *yamlout.Node) *yamlout.Node {
	n.OrderAll()
	n.Order("schema", "package", "name", "defaultChannel", "image", "description", "icon", "entries", "properties", "relatedImages")
	each := func(key string, first ...string) {
		if list := n.Get(key); list != nil {
			for _, e := range list.Elems {
				e.Order(first...)
				if r := e.Get("reference"); r != nil {
					r.Order("schema", "name")
				}
			}
		}
	}
	each("entries", "name", "replaces", "skips", "skipRange", "reference", "message")
	each("properties", "type", "value")
	each("relatedImages", "name", "image")
	return n
}

// encode returns the tree of a blob that a program created.
func encode(b Blob) *yamlout.Node {
	m := b.Common()
	n := yamlout.Object()
	text := func(n *yamlout.Node, key, s string) {
		if s != "" {
			n.Set(key, yamlout.String(s))
		}
	}
	text(n, "schema", m.Schema)
	if m.Package != "" && m.Schema != SchemaPackage {
		text(n, "package", m.Package)
	}
	text(n, "name", m.Name)
	switch b := b.(type) {
	case *Package:
		text(n, "schema", SchemaPackage)
		text(n, "defaultChannel", b.DefaultChannel)
	case *Channel:
		text(n, "schema", SchemaChannel)
		list := yamlout.List()
		for _, e := range b.Entries {
			list.Elems = append(list.Elems, encodeEntry(e))
		}
		n.Set("entries", list)
	case *Bundle:
		text(n, "schema", SchemaBundle)
		text(n, "image", b.Image)
		list := yamlout.List()
		for _, r := range b.RelatedImages {
			e := yamlout.Object(yamlout.Member{Key: "name", Value: yamlout.String(r.Name)}, yamlout.Member{Key: "image", Value: yamlout.String(r.Image)})
			list.Elems = append(list.Elems, e)
		}
		if len(list.Elems) > 0 {
			n.Set("relatedImages", list)
		}
	case *Deprecations:
		text(n, "schema", SchemaDeprecations)
		list := yamlout.List()
		for _, d := range b.Entries {
			list.Elems = append(list.Elems, encodeDeprecation(d))
		}
		n.Set("entries", list)
	}
	if len(m.Properties) > 0 {
		list := yamlout.List()
		for _, p := range m.Properties {
			list.Elems = append(list.Elems, encodeProperty(p))
		}
		n.Set("properties", list)
	}
	return n
}

func encodeProperty(p prop) *yamlout.Node {
	value, err := yamlout.Parse(p.Value)
	if err != nil {
		value = &yamlout.Node{Kind: 'n'}
	}
	return yamlout.Object(yamlout.Member{Key: "type", Value: yamlout.String(p.Type)}, yamlout.Member{Key: "value", Value: value})
}

func encodeEntry(e Entry) *yamlout.Node {
	n := yamlout.Object(yamlout.Member{Key: "name", Value: yamlout.String(e.Name)})
	if e.Replaces != "" {
		n.Set("replaces", yamlout.String(e.Replaces))
	}
	if len(e.Skips) > 0 {
		n.Set("skips", texts(e.Skips))
	}
	if e.SkipRange != "" {
		n.Set("skipRange", yamlout.String(e.SkipRange))
	}
	return n
}

func encodeDeprecation(d Deprecation) *yamlout.Node {
	ref := yamlout.Object(yamlout.Member{Key: "schema", Value: yamlout.String(d.Schema)})
	if d.Name != "" {
		ref.Set("name", yamlout.String(d.Name))
	}
	return yamlout.Object(yamlout.Member{Key: "reference", Value: ref}, yamlout.Member{Key: "message", Value: yamlout.String(d.Message)})
}

func texts(list []string) *yamlout.Node {
	n := yamlout.List()
	for _, s := range list {
		n.Elems = append(n.Elems, yamlout.String(s))
	}
	return n
}

// whole returns the blob, which a program created or changed, with its JSON.
func whole(n *yamlout.Node, at Pos) (Blob, error) {
	text := json.RawMessage(order(n).AppendJSON(nil))
	limits := (*Limits)(nil).WithDefaults()
	b, faults, fatal := newDecoder(&source{limits: &limits}, true).blob(context.Background(), at.File, decode.Document{Text: text, Line: at.Line})
	if fatal {
		return nil, faults
	}
	return b, nil
}
