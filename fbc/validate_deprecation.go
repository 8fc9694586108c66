package fbc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/codes"
)

// deprecations checks the messages of a package (A9).
func (v *validator) deprecations(p *pkg) {
	for n, d := range p.messages {
		m := &d.Meta
		if n > 0 {
			v.report(codes.Duplicate, m, "", fmt.Errorf("package %q already has an %s blob at %s; merge the two", p.name, SchemaDeprecations, p.messages[0].Pos))
		}
		if d.Name != "" {
			v.report(codes.Deprecation, m, "/name", fmt.Errorf("%s must not have a name; its package identifies it", SchemaDeprecations))
		}
		v.types(m)
		for i, e := range d.Entries {
			path := fmt.Sprintf("/entries/%d", i)
			if e.Message == "" && !v.reported(m, path+"/message") {
				v.report(codes.Deprecation, m, path+"/message", errors.New("is missing or empty; write what users should do"))
			}
			if err := p.checkReference(e); err != nil {
				v.report(codes.Deprecation, m, path+"/reference", err)
				continue
			}
			key := Deprecation{Schema: e.Schema, Name: e.Name}
			if p.deprecated[key] {
				v.report(codes.Deprecation, m, path+"/reference", fmt.Errorf("%s is already deprecated; merge the two messages", reference(e)))
			}
			p.deprecated[key] = true
		}
	}
}

// checkReference checks the reference of a deprecation.
func (p *pkg) checkReference(e Deprecation) error {
	missing := false
	switch e.Schema {
	case SchemaPackage:
		if e.Name != "" {
			return fmt.Errorf("a reference to %s must not have a name, found %q; remove it", SchemaPackage, e.Name)
		}
		missing = p.blob == nil
	case SchemaChannel:
		missing = p.channel(e.Name) == nil
	case SchemaBundle:
		missing = p.byName[e.Name] == nil
	case "":
		return errors.New("the schema is missing; want " + SchemaPackage + ", " + SchemaChannel + " or " + SchemaBundle)
	default:
		return fmt.Errorf("schema %q cannot be deprecated; want %s, %s or %s", e.Schema, SchemaPackage, SchemaChannel, SchemaBundle)
	}
	switch {
	case missing && e.Name == "" && e.Schema != SchemaPackage:
		return fmt.Errorf("the name is missing; name the deprecated %s of the package", strings.TrimPrefix(e.Schema, "olm."))
	case missing:
		return fmt.Errorf("%s does not exist in package %q", reference(e), p.name)
	}
	return nil
}

func reference(e Deprecation) string {
	if e.Schema == SchemaPackage {
		return "the package"
	}
	return fmt.Sprintf("%s %q", strings.TrimPrefix(e.Schema, "olm."), e.Name)
}
