package fbc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/chain"
	"github.com/olmkit/olmkit/internal/yamlout"
)

// The edits in this file are those that maintainers make by hand. Each returns a new
// catalog that shares all blobs but the changed one, and keeps unknown fields. An edit
// validates only what it changes: call [Validate] on the result.

// Promote adds a bundle of the package to a channel, and creates the channel if it does
// not exist. An entry without replaces, skips and skipRange replaces the head of the
// channel, so the channel still has one head.
func (c *Catalog) Promote(ctx context.Context, pkg, channel string, e Entry) (*Catalog, error) {
	if !slices.ContainsFunc(c.Bundles, func(b *Bundle) bool { return b.Package == pkg && b.Name == e.Name }) {
		return nil, fmt.Errorf("package %q has no bundle %q", pkg, e.Name)
	}
	ch := c.channel(pkg, channel)
	if ch == nil {
		if !slices.ContainsFunc(c.Packages, func(p *Package) bool { return p.Name == pkg }) {
			return nil, fmt.Errorf("the catalog has no package %q", pkg)
		}
		made := &Channel{Meta: Meta{Schema: SchemaChannel, Package: pkg, Name: channel}, Entries: []Entry{e}}
		b, err := whole(encode(made), Pos{})
		if err != nil {
			return nil, err
		}
		out := *c
		out.Channels = append(slices.Clip(out.Channels), b.(*Channel))
		return &out, nil
	}
	if ch.entry(e.Name) >= 0 {
		return nil, fmt.Errorf("channel %q of package %q already has an entry %q", channel, pkg, e.Name)
	}
	if e.Replaces == "" && len(e.Skips) == 0 && e.SkipRange == "" && len(ch.Entries) > 0 {
		heads := ch.heads()
		if len(heads) != 1 {
			return nil, fmt.Errorf("channel %q of package %q has %d heads; set what %q replaces", channel, pkg, len(heads), e.Name)
		}
		e.Replaces = heads[0]
	}
	return c.change(ctx, ch, func(n *yamlout.Node) error {
		list := n.Get("entries")
		if list == nil || list.Kind != '[' {
			list = yamlout.List()
			n.Set("entries", list)
		}
		list.Elems = append(list.Elems, encodeEntry(e))
		return nil
	})
}

// SetDefaultChannel makes a channel of the package its default.
func (c *Catalog) SetDefaultChannel(ctx context.Context, pkg, channel string) (*Catalog, error) {
	i := slices.IndexFunc(c.Packages, func(p *Package) bool { return p.Name == pkg })
	if i < 0 {
		return nil, fmt.Errorf("the catalog has no package %q", pkg)
	}
	if c.channel(pkg, channel) == nil {
		return nil, fmt.Errorf("package %q has no channel %q", pkg, channel)
	}
	return c.change(ctx, c.Packages[i], func(n *yamlout.Node) error {
		n.Set("defaultChannel", yamlout.String(channel))
		return nil
	})
}

// EditEntry changes the edges of an entry: edit sets Replaces, Skips and SkipRange.
// Repeated names in Skips are dropped. The name of an entry cannot change.
func (c *Catalog) EditEntry(ctx context.Context, pkg, channel, entry string, edit func(*Entry)) (*Catalog, error) {
	ch := c.channel(pkg, channel)
	if ch == nil {
		return nil, fmt.Errorf("package %q has no channel %q", pkg, channel)
	}
	i := ch.entry(entry)
	if i < 0 {
		return nil, fmt.Errorf("channel %q of package %q has no entry %q", channel, pkg, entry)
	}
	old := ch.Entries[i]
	e := old
	e.Skips = slices.Clone(old.Skips)
	edit(&e)
	e.Skips = unique(e.Skips)
	if err := checkEdges(old, e); err != nil {
		return nil, err
	}
	return c.change(ctx, ch, func(n *yamlout.Node) error {
		n = n.Get("entries").Elems[i]
		if e.Replaces != old.Replaces {
			set(n, "replaces", e.Replaces)
		}
		if !slices.Equal(e.Skips, old.Skips) {
			var skips *yamlout.Node
			if len(e.Skips) > 0 {
				skips = texts(e.Skips)
			}
			n.Set("skips", skips)
		}
		if e.SkipRange != old.SkipRange {
			set(n, "skipRange", e.SkipRange)
		}
		return nil
	})
}

// checkEdges returns an error if an edit changed the name of an entry, or gave it an edge
// to itself, an empty name to skip or a new invalid range.
func checkEdges(old, e Entry) error {
	switch {
	case e.Name != old.Name:
		return fmt.Errorf("entry %q cannot be renamed to %q; add another entry", old.Name, e.Name)
	case e.Replaces == e.Name:
		return fmt.Errorf("entry %q cannot replace itself", e.Name)
	case slices.Contains(e.Skips, e.Name):
		return fmt.Errorf("entry %q cannot skip itself", e.Name)
	case slices.Contains(e.Skips, ""):
		return errors.New("a name to skip is empty")
	case e.SkipRange == "" || e.SkipRange == old.SkipRange:
		return nil
	}
	_, err := constraints.ParseRange(e.SkipRange)
	return err
}

// unique returns the names without repetitions, in order of first appearance.
func unique(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// RemoveEntry removes an entry from a channel. The bundle itself stays in the catalog.
func (c *Catalog) RemoveEntry(ctx context.Context, pkg, channel, entry string) (*Catalog, error) {
	ch := c.channel(pkg, channel)
	if ch == nil || ch.entry(entry) < 0 {
		return nil, fmt.Errorf("channel %q of package %q has no entry %q", channel, pkg, entry)
	}
	return c.change(ctx, ch, func(n *yamlout.Node) error {
		i := ch.entry(entry)
		list := n.Get("entries")
		list.Elems = slices.Delete(list.Elems, i, i+1)
		return nil
	})
}

// Deprecate adds a deprecation to the package, or replaces the one with the same
// reference. An empty message removes it.
func (c *Catalog) Deprecate(ctx context.Context, pkg string, d Deprecation) (*Catalog, error) {
	if err := c.checkDeprecation(pkg, d); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.Deprecations, func(x *Deprecations) bool { return x.Package == pkg })
	if i < 0 {
		if d.Message == "" {
			return c, nil
		}
		made := &Deprecations{Meta: Meta{Schema: SchemaDeprecations, Package: pkg}, Entries: []Deprecation{d}}
		b, err := whole(encode(made), Pos{})
		if err != nil {
			return nil, err
		}
		out := *c
		out.Deprecations = append(slices.Clip(out.Deprecations), b.(*Deprecations))
		return &out, nil
	}
	old := c.Deprecations[i]
	return c.change(ctx, old, func(n *yamlout.Node) error {
		list := n.Get("entries")
		if list == nil || list.Kind != '[' {
			list = yamlout.List()
			n.Set("entries", list)
		}
		at := slices.IndexFunc(old.Entries, func(x Deprecation) bool { return x.Schema == d.Schema && x.Name == d.Name })
		switch {
		case at >= 0 && d.Message == "":
			list.Elems = slices.Delete(list.Elems, at, at+1)
		case at >= 0:
			list.Elems[at].Set("message", yamlout.String(d.Message))
		case d.Message != "":
			list.Elems = append(list.Elems, encodeDeprecation(d))
		}
		return nil
	})
}

// checkDeprecation returns an error if the reference does not exist.
func (c *Catalog) checkDeprecation(pkg string, d Deprecation) error {
	p := pkgOf(c, pkg)
	if p.blob == nil {
		return fmt.Errorf("the catalog has no package %q", pkg)
	}
	return p.checkReference(d)
}

// pkgOf returns the named package with the fields that checkReference reads.
func pkgOf(c *Catalog, name string) *pkg {
	p := &pkg{name: name, byName: map[string]*bundleFacts{}}
	for _, x := range c.Packages {
		if x.Name == name {
			p.blob = x
		}
	}
	for _, x := range c.Channels {
		if x.Package == name {
			p.channels = append(p.channels, x)
		}
	}
	for _, x := range c.Bundles {
		if x.Package == name {
			p.byName[x.Name] = &bundleFacts{Bundle: x}
		}
	}
	return p
}

func set(n *yamlout.Node, key, text string) {
	if text == "" {
		n.Set(key, nil)
		return
	}
	n.Set(key, yamlout.String(text))
}

func (c *Catalog) channel(pkg, name string) *Channel {
	i := slices.IndexFunc(c.Channels, func(ch *Channel) bool { return ch.Package == pkg && ch.Name == name })
	if i < 0 {
		return nil
	}
	return c.Channels[i]
}

// entry returns the index of an entry, or -1.
func (ch *Channel) entry(name string) int {
	return slices.IndexFunc(ch.Entries, func(e Entry) bool { return e.Name == name })
}

// heads returns the names of the entries that nothing replaces or skips.
func (ch *Channel) heads() []string {
	l := line{Channel: ch, at: map[string]int{}}
	for i, e := range ch.Entries {
		l.at[e.Name] = i
	}
	var names []string
	for _, k := range chain.Of(l.links()).Heads {
		names = append(names, ch.Entries[k].Name)
	}
	return names
}

// change returns a catalog with one blob edited. The blob keeps its position.
func (c *Catalog) change(ctx context.Context, b Blob, edit func(*yamlout.Node) error) (*Catalog, error) {
	n, err := c.canonical(ctx, b)
	if err != nil {
		return nil, err
	}
	if err := edit(n); err != nil {
		return nil, err
	}
	made, err := whole(n, b.Common().Pos)
	if err != nil {
		return nil, err
	}
	out := *c
	switch b := b.(type) {
	case *Package:
		out.Packages = replaced(c.Packages, b, made.(*Package))
	case *Channel:
		out.Channels = replaced(c.Channels, b, made.(*Channel))
	case *Deprecations:
		out.Deprecations = replaced(c.Deprecations, b, made.(*Deprecations))
	}
	return &out, nil
}

func replaced[T comparable](list []T, old, made T) []T {
	out := slices.Clone(list)
	out[slices.Index(out, old)] = made
	return out
}
