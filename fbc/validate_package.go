package fbc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/property"
)

// packageBlob checks that a package is complete (A5).
func (v *validator) packageBlob(p *pkg) {
	if p.name == "" {
		return // the load reports it
	}
	if p.blob == nil {
		m := p.first()
		v.report(codes.NoPackage, m, "/package", fmt.Errorf("package %q has no %s blob", p.name, SchemaPackage))
		return
	}
	m := &p.blob.Meta
	if err := checkPackageName(p.name); err != nil {
		v.report(codes.PackageName, m, "/name", err)
	}
	v.types(m)
	switch {
	case len(p.channels) == 0 && len(p.bundles) == 0:
		v.report(codes.EmptyPackage, m, "", errors.New("the package has no channels and no bundles; add at least one of each"))
	case len(p.channels) == 0:
		v.report(codes.EmptyPackage, m, "", errors.New("the package has no channels; add at least one"))
	case len(p.bundles) == 0:
		v.report(codes.EmptyPackage, m, "", errors.New("the package has no bundles; add at least one"))
	}
	switch def := p.blob.DefaultChannel; {
	case def == "" && !v.reported(m, "/defaultChannel"):
		v.report(codes.Required, m, "/defaultChannel", errors.New("is missing or empty; name the channel for users who choose none"))
	case def != "" && len(p.channels) > 0 && p.channel(def) == nil:
		v.report(codes.DefaultChannel, m, "/defaultChannel", fmt.Errorf("channel %q does not exist; the package has %s", def, quoted(p.channelNames())))
	}
}

// first returns the first blob by position.
func (p *pkg) first() *Meta {
	var all []*Meta
	for _, x := range p.channels {
		all = append(all, &x.Meta)
	}
	for _, x := range p.bundles {
		all = append(all, &x.Meta)
	}
	for _, x := range p.messages {
		all = append(all, &x.Meta)
	}
	return slices.MinFunc(all, func(a, b *Meta) int { return a.Pos.Compare(b.Pos) })
}

func (p *pkg) channel(name string) *Channel {
	i := slices.IndexFunc(p.channels, func(c *Channel) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return p.channels[i]
}

func (p *pkg) channelNames() []string {
	var names []string
	for _, c := range p.channels {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkPackageName accepts DNS labels, as opm does: at most 63 lower-case letters,
// digits and '-'.
func checkPackageName(name string) error {
	if len(name) > 63 {
		return fmt.Errorf("package name %.40q… has %d characters; at most 63 are allowed", name, len(name))
	}
	ok := !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-")
	for _, c := range []byte(name) {
		ok = ok && (c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z')
	}
	if !ok {
		return fmt.Errorf("package name %q is invalid; use lower-case letters, digits and '-', and begin and end with a letter or digit", name)
	}
	return nil
}

// reservedPrefix is the prefix of types of properties and of schemas that only OLM may
// define.
const reservedPrefix = "olm."

// types warns of properties with a reserved type that OLM does not define (A4).
func (v *validator) types(m *Meta) {
	for i, p := range m.Properties {
		if strings.HasPrefix(p.Type, reservedPrefix) && !property.IsKnown(p.Type) {
			v.report(codes.UnknownProperty, m, fmt.Sprintf("/properties/%d/type", i), fmt.Errorf("type %q has the reserved prefix %q, but OLM does not define it", p.Type, reservedPrefix))
		}
	}
}

// other checks a blob of an unknown schema (A4).
func (v *validator) other(o *Other) {
	switch {
	case v.reported(&o.Meta, "/schema"):
	case templateKind(o.Schema) != "": // in blobs that no load made
		v.report(codes.Template, &o.Meta, "/schema", &TemplateError{Kind: templateKind(o.Schema), InCatalog: true})
	case strings.HasPrefix(o.Schema, reservedPrefix):
		v.report(codes.UnknownSchema, &o.Meta, "/schema", fmt.Errorf("schema %q has the reserved prefix %q, but OLM does not define it", o.Schema, reservedPrefix))
	}
	v.types(&o.Meta)
}

// quoted returns names for a message: "a", "b" and 3 more.
func quoted(names []string) string {
	const most = 10
	out := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		out = append(out, fmt.Sprintf("%q", n))
	}
	s := strings.Join(out, ", ")
	if n := len(names) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return cmp.Or(s, "none")
}
