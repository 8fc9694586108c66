package shrink

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// A model is a problem in an editable form, with its catalogs split into blobs.
type model struct {
	p    resolver.Problem
	cats [][]blob // of each catalog
}

// A blob is a blob of an inlined catalog.
type blob struct {
	Schema         string              `json:"schema"`
	Package        string              `json:"package,omitempty"`
	Name           string              `json:"name,omitempty"`
	DefaultChannel string              `json:"defaultChannel,omitempty"`
	Image          string              `json:"image,omitempty"`
	Properties     []property.Property `json:"properties,omitempty"`
	Entries        []entry             `json:"entries,omitempty"`
}

// An entry is an entry of a channel, or of deprecations, which have only a reference.
type entry struct {
	Name      string         `json:"name,omitempty"`
	Replaces  string         `json:"replaces,omitempty"`
	Skips     []string       `json:"skips,omitempty"`
	SkipRange string         `json:"skipRange,omitempty"`
	Reference jsontext.Value `json:"reference,omitzero"`
	Message   string         `json:"message,omitempty"`
}

// pkg returns the package that the blob belongs to.
func (b *blob) pkg() string {
	if b.Schema == "olm.package" {
		return b.Name
	}
	return b.Package
}

func newModel(p resolver.Problem) (*model, error) {
	m := &model{p: p, cats: make([][]blob, len(p.Catalogs))}
	for i, c := range p.Catalogs {
		if c.FBC == nil {
			continue
		}
		for line := range strings.Lines(*c.FBC) {
			var b blob
			if err := json.Unmarshal([]byte(line), &b); err != nil {
				return nil, err
			}
			m.cats[i] = append(m.cats[i], b)
		}
	}
	return m, nil
}

// problem rebuilds the problem and loads it.
func (m *model) problem(ctx context.Context) (resolver.Problem, error) {
	p := m.p
	p.Catalogs = slices.Clone(p.Catalogs)
	for i := range p.Catalogs {
		if p.Catalogs[i].FBC == nil {
			continue
		}
		var b bytes.Buffer
		for _, x := range m.cats[i] {
			text, err := json.Marshal(x, json.Deterministic(true))
			if err != nil {
				return p, err
			}
			b.Write(text)
			b.WriteByte('\n')
		}
		text := b.String()
		p.Catalogs[i].FBC, p.Catalogs[i].Graph = &text, nil
	}
	return p, p.Open(ctx, nil)
}

// clone returns a copy that shares nothing that the levels modify.
func (m *model) clone() *model {
	c := &model{p: m.p, cats: make([][]blob, len(m.cats))}
	c.p.Subscriptions = slices.Clone(m.p.Subscriptions)
	c.p.Installed = slices.Clone(m.p.Installed)
	c.p.Policies = slices.Clone(m.p.Policies)
	c.p.Catalogs = slices.Clone(m.p.Catalogs)
	for i := range c.p.Installed {
		c.p.Installed[i].Properties = slices.Clone(m.p.Installed[i].Properties)
	}
	for i, list := range m.cats {
		c.cats[i] = slices.Clone(list)
		for j := range c.cats[i] {
			b := &c.cats[i][j]
			b.Properties, b.Entries = slices.Clone(b.Properties), slices.Clone(b.Entries)
		}
	}
	return c
}

// size counts everything that can be removed.
func (m *model) size() int {
	n := 0
	for _, l := range levels {
		n += l.count(m)
	}
	return n
}
