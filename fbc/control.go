package fbc

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/property"
)

var errControl = errors.New("contains control characters; remove them")

// controlled reports whether a text contains control characters, which must not reach a
// terminal.
func controlled(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return strings.ContainsFunc(s[i:], unicode.IsControl)
		}
	}
	return false
}

// suspect reports whether the strings of a JSON text may contain control characters.
func suspect(text []byte) bool {
	for _, c := range text {
		if c == '\\' || c >= 0x7f {
			return true
		}
	}
	return false
}

// controls reports the names and versions of a blob that contain control characters (A16),
// and clears the blob's own schema, name and package if they do.
func (d *decoder) controls(b Blob) {
	m := b.Common()
	check := func(path string, s *string) {
		if controlled(*s) {
			d.fault(codes.ControlCharacter, path, errControl)
			*s = ""
		}
	}
	check("/schema", &m.Schema)
	check("/name", &m.Name)
	if m.Schema == SchemaPackage {
		m.Package = m.Name
	}
	check("/package", &m.Package)
	for i, p := range m.Properties {
		path := func(key string) string { return fmt.Sprintf("/properties/%d/%s", i, key) }
		if controlled(p.Type) {
			d.fault(codes.ControlCharacter, path("type"), errControl)
		}
		if p.Type != property.TypePackage || !suspect(p.Value) {
			continue
		}
		if x, err := property.Parse[property.Package](p); err == nil && (controlled(x.PackageName) || controlled(x.Version) || controlled(x.Release)) {
			d.fault(codes.ControlCharacter, path("value"), errControl)
		}
	}
	switch b := b.(type) {
	case *Package:
		check("/defaultChannel", &b.DefaultChannel)
	case *Bundle:
		check("/image", &b.Image)
	case *Channel:
		for i, e := range b.Entries {
			bad := controlled(e.Name) || controlled(e.Replaces) || controlled(e.SkipRange)
			for _, s := range e.Skips {
				bad = bad || controlled(s)
			}
			if bad {
				d.fault(codes.ControlCharacter, fmt.Sprintf("/entries/%d", i), errControl)
			}
		}
	case *Deprecations:
		for i, e := range b.Entries {
			if controlled(e.Schema) || controlled(e.Name) {
				d.fault(codes.ControlCharacter, fmt.Sprintf("/entries/%d/reference", i), errControl)
			}
		}
	}
	d.at.Schema, d.at.Name, d.at.Package = m.Schema, m.Name, m.Package
}
