package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/olmkit/olmkit/internal/visible"
)

// A yamlShape is the form of a YAML value: a list, a mapping, a truth value, or otherwise text.
type yamlShape struct {
	truth  bool
	items  *yamlShape
	fields map[string]*yamlShape
	open   bool // the mapping may have other fields
}

var (
	yamlText = &yamlShape{}
	yamlBool = &yamlShape{truth: true}
)

func yamlList(items *yamlShape) *yamlShape { return &yamlShape{items: items} }

// check returns an error if a node does not have the shape. Path is its JSON pointer. A
// missing value is fine.
func (s *yamlShape) check(n *yaml.Node, path string) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	want, kind := "a single value", yaml.ScalarNode
	switch {
	case s.items != nil:
		want, kind = "a list", yaml.SequenceNode
	case s.fields != nil:
		want, kind = "a mapping of fields", yaml.MappingNode
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil
	case n.Kind != kind && path == "":
		return errors.New("is not " + want)
	case n.Kind != kind:
		return fmt.Errorf("line %d: %s is not %s", n.Line, path, want)
	case s.truth:
		var b bool
		if n.Decode(&b) != nil {
			return fmt.Errorf("line %d: %s is %s; write true or false", n.Line, path, visible.Line(n.Value))
		}
	case kind == yaml.SequenceNode:
		for i, x := range n.Content {
			if err := s.items.check(x, fmt.Sprintf("%s/%d", path, i)); err != nil {
				return err
			}
		}
	case kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, known := s.fields[key.Value]
			switch {
			case known:
				if err := field.check(n.Content[i+1], path+"/"+key.Value); err != nil {
					return err
				}
			case !s.open:
				return fmt.Errorf("line %d: %s has no field %s; its fields are %s", key.Line, path, visible.Line(key.Value), strings.Join(slices.Sorted(maps.Keys(s.fields)), ", "))
			}
		}
	}
	return nil
}
