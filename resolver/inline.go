package resolver

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/near"
	"github.com/olmkit/olmkit/property"
)

// Inline returns the problem with each catalog as text, reduced to the packages that the
// problem could reach. The answer is the same, except for line numbers in explanations. All
// catalogs must be loaded; those of the result are loaded. The error is a
// [*document.Error] or the context's.
func (p *Problem) Inline(ctx context.Context) (_ Problem, err error) {
	defer unread(p.Catalogs, &err)
	u, err := newUniverse(ctx, p)
	if err != nil {
		return Problem{}, err
	}
	pkgs, err := u.packagesReached(ctx)
	if err != nil {
		return Problem{}, err
	}
	out := *p
	out.Catalogs = slices.Clone(p.Catalogs)
	for i := range out.Catalogs {
		c := &out.Catalogs[i]
		c.Dir = ""
		if c.Unhealthy != "" || !p.sees(c.ID()) {
			c.FBC, c.Graph, c.Digest = nil, nil, ""
			continue
		}
		text, err := writeCatalog(ctx, c.Graph, pkgs, p.OperatorGroup != nil || p.Options.Cluster.KubeVersion != "")
		if err != nil {
			return Problem{}, err
		}
		c.FBC = &text
		c.Graph, c.Digest = nil, ""
	}
	if err := out.Open(ctx, nil); err != nil {
		return Problem{}, err
	}
	return out, nil
}

// Refer returns the problem with each catalog as a directory and a content hash, by which a
// replay detects changes. Catalogs without a directory are returned unchanged.
func (p *Problem) Refer() Problem {
	out := *p
	out.Catalogs = slices.Clone(p.Catalogs)
	for i := range out.Catalogs {
		if c := &out.Catalogs[i]; c.Graph != nil && c.Dir != "" {
			c.Digest = c.Graph.Digest()
		}
	}
	return out
}

// packagesReached returns the names of all packages that can matter for a choice or for a
// change that an explanation proposes.
func (u *universe) packagesReached(ctx context.Context) (map[string]bool, error) {
	pkgs := map[string]bool{}
	var queue []string
	add := func(name string) {
		if name != "" && !pkgs[name] {
			pkgs[name] = true
			queue = append(queue, name)
		}
	}
	leaves := map[int]bool{}
	need := func(x constraints.Expr) {
		for part := range constraints.Walk(x) {
			if compound(part) || leaves[u.exprs.number(part)] {
				continue
			}
			leaves[u.exprs.number(part)] = true
			if q, ok := part.(*constraints.Package); ok {
				add(q.Name)
			}
			for _, c := range u.cats {
				for b := range reach(bundlePostings{c.Graph}, part) {
					if u.test(ctx, part, b) {
						add(b.Package().Name())
					}
				}
				if q, ok := part.(*constraints.GVK); ok {
					u.addVersions(c, q, add)
				}
			}
		}
	}
	for _, s := range u.subs {
		add(s.Package)
		in, _ := u.sourcesFor(s)
		if !slices.ContainsFunc(in, func(c *source) bool { _, ok := c.Graph.Package(s.Package); return ok }) {
			names, crowded := nearPackages(in, s.Package, near.Crowd)
			if !crowded {
				names = names[:min(len(names), maxNearest)]
			}
			for _, name := range names {
				add(name) // an explanation mentions it, or that there are many
			}
		}
	}
	for _, in := range u.installed {
		for _, p := range in.pkgs {
			add(p)
		}
		for _, r := range in.requires {
			need(r.Expr)
		}
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, c := range u.cats {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if p, ok := c.Graph.Package(name); ok {
				for b := range p.Bundles() {
					for r := range b.Requirements() {
						need(r.Expr)
					}
				}
			}
		}
	}
	return pkgs, u.err
}

// addVersions adds the packages that provide other versions of an API, which
// explanations mention.
func (u *universe) addVersions(c *source, x *constraints.GVK, add func(string)) {
	for g := range c.Graph.APIs() {
		if g.Group == x.GVK.Group && g.Kind == x.GVK.Kind {
			for b := range c.Graph.Providers(g) {
				add(b.Package().Name())
			}
		}
	}
}

// A blobJSON is a blob as resolution sees it.
type blobJSON struct {
	Schema         string              `json:"schema"`
	Package        string              `json:"package,omitempty"`
	Name           string              `json:"name,omitempty"`
	DefaultChannel string              `json:"defaultChannel,omitempty"`
	Image          string              `json:"image,omitempty"`
	Properties     []property.Property `json:"properties,omitempty"`
	Entries        []any               `json:"entries,omitempty"`
}

type entryJSON struct {
	Name      string   `json:"name"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
}

type deprecationJSON struct {
	Reference struct {
		Schema string `json:"schema"`
		Name   string `json:"name,omitempty"`
	} `json:"reference"`
	Message string `json:"message"`
}

// writeCatalog writes packages of a catalog as JSON, one blob per line.
func writeCatalog(ctx context.Context, c *graph.Catalog, pkgs map[string]bool, modes bool) (string, error) {
	var b strings.Builder
	put := func(x blobJSON) error {
		text, err := json.Marshal(x, json.Deterministic(true))
		b.Write(text)
		b.WriteByte('\n')
		return err
	}
	for p := range c.Packages() {
		if !pkgs[p.Name()] {
			continue
		}
		for _, x := range packageBlobs(p) {
			if err := put(x); err != nil {
				return "", err
			}
		}
		for x := range p.Bundles() {
			blob := blobJSON{Schema: fbc.SchemaBundle, Package: p.Name(), Name: x.Name(), Image: x.Image()}
			for q := range x.Properties() {
				if !property.IsHeavy(q.Type) {
					blob.Properties = append(blob.Properties, q)
				}
			}
			if modes {
				if err := addModes(ctx, x, &blob); err != nil {
					return "", err
				}
			}
			if err := put(blob); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// packageBlobs returns the blobs of a package, without its bundles.
func packageBlobs(p graph.Package) []blobJSON {
	var out []blobJSON
	if p.Pos().IsValid() { // not only named by others
		out = append(out, blobJSON{Schema: fbc.SchemaPackage, Name: p.Name(), DefaultChannel: p.DefaultChannelName()})
	}
	var notes []any
	note := func(schema, name, message string, ok bool) {
		if ok {
			d := deprecationJSON{Message: message}
			d.Reference.Schema, d.Reference.Name = schema, name
			notes = append(notes, d)
		}
	}
	m, ok := p.Deprecation()
	note(fbc.SchemaPackage, "", m, ok)
	for ch := range p.Channels() {
		blob := blobJSON{Schema: fbc.SchemaChannel, Package: p.Name(), Name: ch.Name()}
		for e := range ch.Entries() {
			blob.Entries = append(blob.Entries, entryJSON{e.Name(), e.Replaces(), slices.Collect(e.Skips()), e.SkipRange()})
		}
		out = append(out, blob)
		m, ok := ch.Deprecation()
		note(fbc.SchemaChannel, ch.Name(), m, ok)
	}
	for b := range p.Bundles() {
		m, ok := b.Deprecation()
		note(fbc.SchemaBundle, b.Name(), m, ok)
	}
	if len(notes) > 0 {
		out = append(out, blobJSON{Schema: fbc.SchemaDeprecations, Package: p.Name(), Entries: notes})
	}
	return out
}

// addModes adds only the install modes and the minKubeVersion from the manifests of a bundle.
func addModes(ctx context.Context, x graph.Bundle, blob *blobJSON) error {
	list, stated, err := installModes(ctx, x)
	if err != nil {
		return err
	}
	least, err := x.MinKubeVersion(ctx)
	if err != nil && ctx.Err() != nil || !stated && least == "" {
		return context.Cause(ctx)
	}
	meta := map[string]any{}
	if stated {
		meta["installModes"] = list
	}
	if least != "" {
		meta["minKubeVersion"] = least
	}
	text, err := json.Marshal(meta, json.Deterministic(true))
	blob.Properties = append(blob.Properties, property.Property{Type: property.TypeCSVMetadata, Value: []byte(jsontext.Value(text))})
	return err
}
