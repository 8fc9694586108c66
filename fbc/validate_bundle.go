package fbc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/property"
)

// bundle checks a bundle, its images (A17, A19) and its properties (A8, A13), and records
// its version.
func (v *validator) bundle(p *pkg, f *bundleFacts) {
	m := &f.Meta
	inline := func(p prop) bool { return p.Type == property.TypeBundleObject }
	if f.Image == "" && !v.reported(m, "/image") && !slices.ContainsFunc(f.Properties, inline) {
		v.report(codes.Required, m, "/image", errors.New("is missing or empty; name the image of the bundle, or add its manifests as "+property.TypeBundleObject))
	} else if f.Image != "" {
		if err := imageref.Check(f.Image); err != nil {
			v.report(codes.Image, m, "/image", err)
		}
	}
	for i, r := range f.RelatedImages {
		path := func() string { return fmt.Sprintf("/relatedImages/%d/image", i) }
		if r.Image == "" {
			v.report(codes.RelatedImageEmpty, m, path(), errors.New("is missing or empty; mirrors of the catalog will miss the image"))
		} else if err := imageref.Check(r.Image); err != nil {
			v.report(codes.Image, m, path(), err)
		}
	}
	v.types(m)
	v.greatest(m)
	v.apisTwice(m)
	seen := 0
	for i, prop := range f.Properties {
		if prop.Value == nil || prop.Type == "" {
			continue // in the source, or reported by the load
		}
		path := fmt.Sprintf("/properties/%d/value", i)
		if v.reported(m, path) {
			continue
		}
		if prop.Type == property.TypePackage {
			if seen++; seen > 1 {
				v.report(codes.Version, m, path, fmt.Errorf("is a second %s property; a bundle has exactly one", property.TypePackage))
				continue
			}
			f.property = i
			v.packageProperty(f, path, prop)
			continue
		}
		v.property(m, path, prop)
	}
	if seen == 0 {
		v.report(codes.Version, m, "/properties", fmt.Errorf("has no %s property; a bundle has exactly one", property.TypePackage))
	}
	if len(p.channels) > 0 && f.Name != "" && !p.inChannel(f.Name) {
		v.report(codes.NotInChannel, m, "/name", fmt.Errorf("bundle %q is in no channel of package %q; add an entry for it, or remove the bundle", f.Name, p.name))
	}
}

// greatest warns of maximum OpenShift versions that readers may misread (C7).
func (v *validator) greatest(m *Meta) {
	first := -1
	for i, p := range m.Properties {
		if p.Type != property.TypeMaxOpenShiftVersion || p.Value == nil {
			continue
		}
		path := fmt.Sprintf("/properties/%d/value", i)
		if jsontext.Value(p.Value).Kind() == '0' {
			v.report(codes.MaxOpenShiftNumber, m, path, fmt.Errorf("%s is a number, and tools drop trailing zeros (4.20 becomes 4.2); put it in quotes", p.Value))
		}
		if first >= 0 {
			v.report(codes.MaxOpenShiftTwice, m, path, fmt.Errorf("is a second %s property, after property %d; keep one of them", property.TypeMaxOpenShiftVersion, first))
			continue
		}
		first = i
	}
}

// apisTwice warns of APIs that a bundle lists twice (H26).
func (v *validator) apisTwice(m *Meta) {
	first := map[property.GVK]int{}
	for i, p := range m.Properties {
		if p.Type != property.TypeGVK || p.Value == nil {
			continue
		}
		api, err := property.Parse[property.GVK](p)
		if err != nil {
			continue // reported with the other properties
		}
		if at, ok := first[api]; ok {
			v.report(codes.APITwice, m, fmt.Sprintf("/properties/%d/value", i), fmt.Errorf("provides %s, as property %d does; OLM counts two providers and never installs the bundle; remove one of them", api, at))
			continue
		}
		first[api] = i
	}
}

func (p *pkg) inChannel(bundle string) bool {
	if p.entries == nil {
		p.entries = map[string]bool{}
		for _, c := range p.channels {
			for _, e := range c.Entries {
				p.entries[e.Name] = true
			}
		}
	}
	return p.entries[bundle]
}

// packageProperty checks the property with the package and version of a bundle.
func (v *validator) packageProperty(f *bundleFacts, path string, prop property.Property) {
	m := &f.Meta
	value, err := property.Parse[property.Package](prop)
	if err != nil {
		v.reportProperty(codes.Version, m, path, err)
		return
	}
	if value.PackageName != m.Package {
		v.report(codes.PackageMismatch, m, path+"/packageName", fmt.Errorf("names package %q, but the bundle is in package %q; change one of them", value.PackageName, m.Package))
	}
	parsed, err := semver.Parse(value.Version)
	if err != nil {
		v.report(codes.Version, m, path+"/version", fmt.Errorf("version %w", version.Error(value.Version, err)))
		return
	}
	f.version, f.pkg = &parsed, value
	if value.Release == "" {
		return
	}
	if err := checkRelease(value.Release); err != nil {
		v.report(codes.Release, m, path+"/release", err)
	} else if err := checkReleased(m.Name, value, parsed); err != nil {
		v.report(codes.Release, m, path+"/release", err)
	}
}

// property checks the value of a known property. Others may have any value.
func (v *validator) property(m *Meta, path string, p property.Property) {
	var err error
	code := Code(codes.PropertyValue)
	switch p.Type {
	case property.TypeGVK:
		var gvk property.GVK
		if gvk, err = property.Parse[property.GVK](p); err == nil {
			if err := gvk.Validate(); err != nil {
				v.report(codes.APIName, m, path, oneLine(err))
			}
		}
		code = codes.API
	case property.TypeGVKRequired, property.TypePackageRequired, property.TypeConstraint, property.TypeLabelRequired:
		if v.ctx.Err() != nil {
			return // compiling takes a while
		}
		var x constraints.Expr
		if x, _, err = v.compiler.FromProperty(p); err == nil {
			for part := range constraints.Walk(x) {
				if g, ok := part.(*constraints.GVK); ok && g.GVK.Validate() != nil {
					v.report(codes.APIName, m, path, oneLine(g.GVK.Validate()))
				}
			}
			v.required(m, path, x)
		}
		code = codes.Constraint
	case property.TypeLabel:
		code = codes.API
		_, err = property.Parse[property.Label](p)
	case property.TypeMaxOpenShiftVersion:
		_, err = property.ParseMaxOpenShiftVersion(p.Value)
	case property.TypeKubeVersion:
		_, err = property.ParseKubeVersion(p.Value)
	case property.TypeCSVMetadata, property.TypeBundleObject:
		err = checkHeavy(p.Type, p.Value)
	default:
		if !jsontext.Value(p.Value).IsValid(jsontext.AllowInvalidUTF8(true)) {
			v.report(codes.RepeatedKey, m, path, decode.ErrRepeated)
		}
	}
	if err != nil {
		v.reportProperty(code, m, path, err)
	}
}

// reportProperty reports an error about a property's value, with the path from the
// error.
func (v *validator) reportProperty(code Code, m *Meta, path string, err error) {
	var (
		pe *property.Error
		ce *constraints.Error
	)
	switch {
	case errors.As(err, &ce):
		path, err = path+ce.Path, ce.Err
	case errors.As(err, &pe):
		path, err = path+pe.Path, pe.Err
	}
	v.report(code, m, path, err)
}

// oneLine joins the parts of an error on one line.
func oneLine(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// checkHeavy returns the fault of the value of a heavy property.
func checkHeavy(typ string, value json.RawMessage) error {
	if typ == property.TypeBundleObject {
		return checkBundleObject(value)
	}
	return checkCSVMetadata(value)
}

// checkCSVMetadata returns an error for a value that is not an object. Its contents are
// for user interfaces.
func checkCSVMetadata(raw json.RawMessage) error {
	if k := jsontext.Value(raw).Kind(); k != '{' {
		return fmt.Errorf("must be an object, found %s", jsonkind.Name(k))
	}
	return nil
}

// checkBundleObject accepts {"data": base64 of JSON} and the older form {"ref": a
// file}.
func checkBundleObject(raw json.RawMessage) error {
	var v struct {
		Data *string `json:"data"`
		Ref  *string `json:"ref"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("must be an object with base64 text as data: %w", err)
	}
	if v.Data == nil {
		return nil
	}
	if _, err := base64.StdEncoding.DecodeString(*v.Data); err != nil {
		return fmt.Errorf("data is not base64 text: %w", err)
	}
	return nil
}

// versions checks that versions are unique in a package (A8).
func (v *validator) versions(p *pkg) {
	type key struct{ version, release string }
	exact, core := map[key]*bundleFacts{}, map[key]*bundleFacts{}
	for _, x := range p.bundles {
		f := p.byName[x.Name]
		if f.Bundle != x || f.version == nil {
			continue
		}
		path := fmt.Sprintf("/properties/%d/value/version", f.property)
		k := key{f.version.String(), f.pkg.Release}
		if first, ok := exact[k]; ok {
			v.report(codes.SameVersion, &f.Meta, path, fmt.Errorf("bundle %[2]q at %[3]s has the same version %[1]q; change one of the versions, or add a release", f.pkg.Version, first.Name, first.Pos))
			continue
		}
		exact[k] = f
		plain := *f.version
		plain.Build = nil
		k.version = plain.String()
		if first, ok := core[k]; ok {
			v.report(codes.VersionBuild, &f.Meta, path, fmt.Errorf("version %q differs from version %q of bundle %q at %s only in build metadata, which does not count", f.pkg.Version, first.pkg.Version, first.Name, first.Pos))
			continue
		}
		core[k] = f
	}
}
