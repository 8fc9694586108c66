package subset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
)

// Blobs returns the blobs of the part as JSON. They are unchanged, except that entries of channels and deprecations
// that are not kept are removed, and the default channel is replaced if it is not kept. Packages are sorted by name;
// each has its package blob, channels by name, bundles by version and name, deprecations, then other blobs. Blobs that
// the load did not keep are read from the source of the catalog again.
func (s *Subset) Blobs(ctx context.Context) ([][]byte, error) {
	src, err := s.catalog.Blobs(ctx)
	if err != nil {
		return nil, fmt.Errorf("subset: the blobs of the catalog: %w", err)
	}
	var out [][]byte
	for _, p := range s.Packages {
		list, err := s.packageBlobs(ctx, src, &p)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// Catalog returns the part as a catalog with whole blobs.
func (s *Subset) Catalog(ctx context.Context) (*fbc.Catalog, error) {
	list, err := s.Blobs(ctx)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, v := range list {
		text.Write(v)
		text.WriteByte('\n')
	}
	return fbc.LoadReader(ctx, bytes.NewReader(text.Bytes()), "subset.json", &fbc.LoadOptions{KeepAll: true, AllowEmpty: true})
}

// Write writes the part as a file-based catalog; see [fbc.Write].
func (s *Subset) Write(ctx context.Context, w io.Writer, opts *fbc.WriteOptions) error {
	c, err := s.Catalog(ctx)
	if err != nil {
		return err
	}
	return fbc.Write(ctx, w, c, opts)
}

func (s *Subset) packageBlobs(ctx context.Context, src *fbc.Catalog, p *Package) ([][]byte, error) {
	var out [][]byte
	var failed error
	add := func(b fbc.Blob, edit func(key string, v jsontext.Value) (jsontext.Value, error)) {
		if failed != nil {
			return
		}
		raw, err := src.Raw(ctx, b)
		if err == nil && edit != nil {
			raw, err = editObject(raw, edit)
		}
		if err != nil {
			m := b.Common()
			failed = fmt.Errorf("subset: %s %q: %w", m.Schema, m.Name, err)
			return
		}
		out = append(out, raw)
	}
	for _, b := range src.Packages {
		if b.Name != p.Name {
			continue
		}
		add(b, func(key string, v jsontext.Value) (jsontext.Value, error) {
			if key == "defaultChannel" && b.DefaultChannel != p.DefaultChannel {
				return jsontext.AppendQuote(nil, p.DefaultChannel)
			}
			return v, nil
		})
		break
	}
	for _, ch := range p.Channels {
		for _, b := range src.Channels {
			if b.Package != p.Name || b.Name != ch.Name {
				continue
			}
			add(b, func(key string, v jsontext.Value) (jsontext.Value, error) {
				if key != "entries" {
					return v, nil
				}
				return filter(v, func(e entry) bool { return slices.Contains(ch.Entries, e.Name) })
			})
			break
		}
	}
	for _, x := range p.Bundles {
		for _, b := range src.Bundles {
			if b.Package == p.Name && b.Name == x.Name && b.Pos == x.handle.Pos() {
				add(b, nil)
				break
			}
		}
	}
	for _, b := range src.Deprecations {
		if b.Package != p.Name || !slices.ContainsFunc(b.Entries, func(d fbc.Deprecation) bool { return p.has(d.Schema, d.Name) }) {
			continue
		}
		add(b, func(key string, v jsontext.Value) (jsontext.Value, error) {
			if key != "entries" {
				return v, nil
			}
			return filter(v, func(e entry) bool { return p.has(e.Reference.Schema, e.Reference.Name) })
		})
	}
	for _, b := range src.Others {
		if b.Package == p.Name {
			add(b, nil)
		}
	}
	return out, failed
}

// has reports whether the part has the object that a deprecation refers to.
func (p *Package) has(schema, name string) bool {
	switch schema {
	case fbc.SchemaPackage:
		return true
	case fbc.SchemaChannel:
		return slices.ContainsFunc(p.Channels, func(ch Channel) bool { return ch.Name == name })
	case fbc.SchemaBundle:
		return slices.ContainsFunc(p.Bundles, func(b Bundle) bool { return b.Name == name })
	}
	return false
}

// An entry has the relevant fields of an entry of a channel or of deprecations.
type entry struct {
	Name      string `json:"name"`
	Reference struct {
		Schema string `json:"schema"`
		Name   string `json:"name"`
	} `json:"reference"`
}

// filter returns a JSON list without the elements that are not kept.
func filter(list jsontext.Value, keep func(entry) bool) (jsontext.Value, error) {
	var all []jsontext.Value
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, err
	}
	var kept []jsontext.Value
	for _, v := range all {
		var e entry
		if err := json.Unmarshal(v, &e); err != nil {
			return nil, err
		}
		if keep(e) {
			kept = append(kept, v)
		}
	}
	return json.Marshal(kept)
}

// editObject returns a JSON object with the values that edit returns.
func editObject(raw jsontext.Value, edit func(key string, v jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	var buf bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(raw)), jsontext.NewEncoder(&buf)
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return nil, err
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := t.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if v, err = edit(key, v.Clone()); err != nil {
			return nil, err
		}
		if err := enc.WriteToken(jsontext.String(key)); err != nil {
			return nil, err
		}
		if err := enc.WriteValue(v); err != nil {
			return nil, err
		}
	}
	if err := enc.WriteToken(jsontext.EndObject); err != nil {
		return nil, err
	}
	return jsontext.Value(bytes.TrimSpace(buf.Bytes())), nil
}
