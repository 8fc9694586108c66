package fbc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/internal/yamlout"
	"github.com/olmkit/olmkit/property"
)

// A Syntax is an output format for catalogs.
type Syntax int

const (
	// YAML writes a document for each blob, after a line "---".
	YAML Syntax = iota
	// JSON writes an indented object for each blob.
	JSON
	// JSONLines writes one blob per line.
	JSONLines
)

// WriteOptions adjust the output. A nil *WriteOptions means all defaults.
type WriteOptions struct {
	// Syntax is the output format. Default YAML.
	Syntax Syntax
}

// Write writes the catalog as one stream. The same blobs give the same bytes, whatever
// their order and layout. Packages are sorted by name, and each has its olm.package
// blob, channels by name, bundles by version and then name, deprecations, and other
// blobs. Blobs without a package come last. Keys have a fixed order. Loading the output
// gives an equal catalog, with unknown fields and blobs but without comments.
//
// Values that the load did not keep are read again from the source. A blob that YAML cannot
// express, such as one with the number 1e999 or 4.10, is written as JSON within the YAML
// stream, which is valid YAML.
func Write(ctx context.Context, w io.Writer, c *Catalog, opts *WriteOptions) error {
	if opts == nil {
		opts = &WriteOptions{}
	}
	sorted, err := c.sorted(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, b := range sorted {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := c.canonical(ctx, b)
		if err != nil {
			return err
		}
		text, err := render(ctx, n, opts.Syntax)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			m := b.Common()
			return fmt.Errorf("%s: writing %s %q: %w", m.Pos, m.Schema, m.Name, err)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return out.Flush()
}

// render writes one blob.
func render(ctx context.Context, n *yamlout.Node, syntax Syntax) ([]byte, error) {
	line := jsontext.Value(n.AppendJSON(nil))
	switch syntax {
	case JSONLines:
		return append(line, '\n'), nil
	case JSON:
		err := line.Indent(jsontext.WithIndent("    "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
		return append(line, '\n'), err
	}
	doc := []byte("---\n")
	for _, style := range []yamlout.Style{yamlout.Readable, yamlout.Quoted} {
		text := n.AppendYAML(doc, style)
		if same(ctx, text[len(doc):], line) {
			return text, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return append(append(doc, line...), '\n'), nil
}

// same reports whether a YAML document decodes to the given JSON, whose keys are in
// canonical order. Only such documents are written.
func same(ctx context.Context, doc, line []byte) bool {
	back, ok := yamljson.Convert(nil, doc, nil)
	if !ok {
		var err error
		if back, err = yamljson.Slow(ctx, doc, &yamljson.Options{Strict: true}); err != nil {
			return false
		}
	}
	if bytes.Equal(back, line) {
		return true // Convert keeps the order of keys
	}
	n, err := yamlout.Parse(back)
	return err == nil && bytes.Equal(order(n).AppendJSON(nil), line)
}

// The rank of a kind of blob within its package.
const (
	rankPackage = iota
	rankChannel
	rankBundle
	rankDeprecations
	rankOther
)

// A sortKey is the place of a blob in the output.
type sortKey struct {
	blob    Blob
	rank    int
	version semver.Version
	known   bool   // whether the version is known
	text    []byte // of other blobs, to distinguish those of one name
}

// sorted returns all blobs in the order of writing.
func (c *Catalog) sorted(ctx context.Context) ([]Blob, error) {
	keys := make([]sortKey, 0, c.Len())
	for _, x := range c.Packages {
		keys = append(keys, sortKey{blob: x, rank: rankPackage})
	}
	for _, x := range c.Channels {
		keys = append(keys, sortKey{blob: x, rank: rankChannel})
	}
	for _, x := range c.Bundles {
		k := sortKey{blob: x, rank: rankBundle}
		k.version, k.known = x.Version()
		keys = append(keys, k)
	}
	for _, x := range c.Deprecations {
		keys = append(keys, sortKey{blob: x, rank: rankDeprecations})
	}
	for _, x := range c.Others {
		n, err := c.canonical(ctx, x)
		if err != nil {
			return nil, err
		}
		keys = append(keys, sortKey{blob: x, rank: rankOther, text: n.AppendJSON(nil)})
	}
	slices.SortStableFunc(keys, func(a, b sortKey) int {
		x, y := a.blob.Common(), b.blob.Common()
		if (x.Package == "") != (y.Package == "") {
			return cmp.Compare(y.Package, x.Package) // blobs without a package come last
		}
		if c := cmp.Or(cmp.Compare(x.Package, y.Package), cmp.Compare(a.rank, b.rank)); c != 0 {
			return c
		}
		if a.known != b.known {
			return map[bool]int{true: -1, false: 1}[a.known]
		}
		return cmp.Or(a.version.Compare(b.version), cmp.Compare(x.Schema, y.Schema), cmp.Compare(x.Name, y.Name), bytes.Compare(a.text, b.text))
	})
	out := make([]Blob, len(keys))
	for i, k := range keys {
		out[i] = k.blob
	}
	return out, nil
}

// Version returns the version in the olm.package property, and false if the bundle has no
// valid one.
func (b *Bundle) Version() (semver.Version, bool) {
	for _, p := range b.Properties {
		if p.Type != property.TypePackage {
			continue
		}
		if v, err := property.Parse[property.Package](p); err == nil {
			if version, err := semver.Parse(v.Version); err == nil {
				return version, true
			}
		}
	}
	return semver.Version{}, false
}
