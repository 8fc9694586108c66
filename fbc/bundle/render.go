package bundle

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/internal/yamlout"
	"github.com/olmkit/olmkit/property"
)

// The annotations of a bundle.
const (
	annotationPackage  = "operators.operatorframework.io.bundle.package.v1"
	annotationChannels = "operators.operatorframework.io.bundle.channels.v1"
	annotationDefault  = "operators.operatorframework.io.bundle.channel.default.v1"
)

// render returns the contents of the directory (A14), or nil if the CSV or the annotations
// are missing.
func (r *reader) render() *Dir {
	if r.csv.Node == nil || r.annotations.Node == nil {
		return nil
	}
	csv := r.csv.Node
	b := &fbc.Bundle{Image: r.opts.Image}
	b.Schema, b.Name, b.Package = fbc.SchemaBundle, csv.TextAt("metadata", "name"), r.annotations.TextAt(annotationPackage)
	if b.Name == "" {
		r.fault(codes.Required, r.csv.at, "/metadata/name", errors.New("is missing or empty; set it to the name of the bundle"))
	}
	if b.Package == "" {
		r.fault(codes.Required, r.annotations.at, "/annotations/"+annotationPackage, errors.New("is missing or empty; set it to the package of the bundle"))
	}
	b.Properties = r.properties(b.Package)
	b.RelatedImages = r.images()
	dir := &Dir{
		Bundle:         b,
		Entry:          fbc.Entry{Name: b.Name, Replaces: csv.TextAt("spec", "replaces"), SkipRange: csv.TextAt("metadata", "annotations", "olm.skipRange")},
		DefaultChannel: r.annotations.TextAt(annotationDefault),
		Description:    csv.TextAt("spec", "description"),
	}
	for _, s := range csv.ElemsAt("spec", "skips") {
		dir.Entry.Skips = append(dir.Entry.Skips, s.Text)
	}
	for name := range strings.SplitSeq(r.annotations.TextAt(annotationChannels), ",") {
		if name = strings.TrimSpace(name); name != "" {
			dir.Channels = append(dir.Channels, name)
		}
	}
	if icons := csv.ElemsAt("spec", "icon"); len(icons) > 0 {
		dir.Icon = &Icon{icons[0].TextAt("base64data"), icons[0].TextAt("mediatype")}
	}
	return dir
}

// properties returns the properties of the bundle from all sources (A14).
func (r *reader) properties(pkg string) []property.Property {
	var all []property.Property
	for _, l := range r.lists {
		all = append(all, r.listed(l, "properties", func(p property.Property) (property.Property, error) { return p, nil })...)
		all = append(all, r.listed(l, "dependencies", required)...)
	}
	if raw := r.csv.TextAt("metadata", "annotations", "olm.properties"); raw != "" {
		list, err := property.ParseList([]byte(raw))
		if err != nil {
			r.fault(codes.PropertyValue, r.csv.at, "/metadata/annotations/olm.properties", err)
		}
		all = append(all, list...)
	}
	if !slices.ContainsFunc(all, func(p property.Property) bool { return p.Type == property.TypePackage }) {
		all = append(all, r.packageOf(pkg))
	}
	all = append(all, r.apis()...)
	slices.SortStableFunc(all, func(a, b property.Property) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(string(a.Value), string(b.Value)))
	})
	all = slices.CompactFunc(all, property.Property.Equal)
	return append(all, r.data()...)
}

// packageOf returns the olm.package property from the CSV.
func (r *reader) packageOf(pkg string) property.Property {
	text := r.csv.TextAt("spec", "version")
	if _, err := semver.Parse(text); err != nil {
		r.fault(codes.Version, r.csv.at, "/spec/version", fmt.Errorf("version %w", version.Error(text, err)))
	}
	return property.New(property.TypePackage, property.Package{PackageName: pkg, Version: text, Release: r.csv.TextAt("spec", "release")})
}

// listed reads a list of {type, value} or of {property: {type, value}}. Both shapes are
// documented.
func (r *reader) listed(o object, key string, convert func(property.Property) (property.Property, error)) []property.Property {
	list := o.Get(key)
	if list == nil || list.Kind == 'n' {
		return nil
	}
	if list.Kind != '[' {
		r.fault(codes.Type, o.at, "/"+key, fmt.Errorf("must be a list, found %s", jsonkind.Name(list.Kind)))
		return nil
	}
	var out []property.Property
	for i, e := range list.Elems {
		path := fmt.Sprintf("/%s/%d", key, i)
		if nested := e.Get("property"); nested != nil {
			e, path = nested, path+"/property"
		}
		value := e.Get("value")
		switch {
		case e.TextAt("type") == "":
			r.fault(codes.Property, o.at, path+"/type", errors.New("is missing or empty; a property needs a type"))
			continue
		case value == nil || value.Kind == 'n':
			r.fault(codes.Property, o.at, path+"/value", errors.New("is missing or null; a property needs a value"))
			continue
		}
		value.OrderAll()
		p, err := convert(normal(property.Property{Type: e.TextAt("type"), Value: value.AppendJSON(nil)}))
		if err != nil {
			r.fault(codes.PropertyValue, o.at, path+"/value", err)
			continue
		}
		out = append(out, p)
	}
	return out
}

// normal puts the keys of known values in OLM's order, so that equal values have equal
// texts.
func normal(p property.Property) property.Property {
	switch p.Type {
	case property.TypeGVK:
		if g, err := property.Parse[property.GVK](p); err == nil {
			return property.New(property.TypeGVK, g)
		}
	case property.TypePackage:
		if x, err := property.Parse[property.Package](p); err == nil {
			return property.New(property.TypePackage, x)
		}
	}
	return p
}

// required converts a dependency to the property that requires it.
func required(p property.Property) (property.Property, error) {
	switch p.Type {
	case property.TypePackage:
		x, err := property.Parse[property.Package](p)
		if err != nil {
			return p, err
		}
		return property.New(property.TypePackageRequired, property.PackageRequired{PackageName: x.PackageName, VersionRange: x.Version}), nil
	case property.TypeGVK:
		g, err := property.Parse[property.GVK](p)
		if err != nil {
			return p, err
		}
		return property.New(property.TypeGVKRequired, g), nil
	}
	return p, nil
}

// apis returns the properties of the APIs that the CSV owns and requires, and that the
// custom resource definitions among the manifests provide.
func (r *reader) apis() []property.Property {
	spec := r.csv.At("spec")
	var out []property.Property
	crd := func(list, typ string, defined map[string]bool) {
		for i, e := range spec.ElemsAt("customresourcedefinitions", list) {
			name := e.TextAt("name")
			_, group, ok := strings.Cut(name, ".")
			at := fmt.Sprintf("/spec/customresourcedefinitions/%s/%d/name", list, i)
			switch {
			case !ok:
				r.fault(codes.API, r.csv.at, at, fmt.Errorf("%q is not the name of a custom resource definition; write plural.group", name))
			case defined != nil && !defined[name]:
				r.fault(codes.API, r.csv.at, at, fmt.Errorf("the bundle owns %q but manifests/ has no CustomResourceDefinition of that name; add it", name))
			default:
				out = append(out, property.New(typ, property.GVK{Group: group, Version: e.TextAt("version"), Kind: e.TextAt("kind")}))
			}
		}
	}
	defined := map[string]bool{}
	for _, o := range r.objects {
		if o.TextAt("kind") != "CustomResourceDefinition" {
			continue
		}
		defined[o.TextAt("metadata", "name")] = true
		gvk := property.GVK{Group: o.TextAt("spec", "group"), Kind: o.TextAt("spec", "names", "kind")}
		versions := o.ElemsAt("spec", "versions")
		for _, v := range versions {
			gvk.Version = v.TextAt("name")
			out = append(out, property.New(property.TypeGVK, gvk))
		}
		if v := o.TextAt("spec", "version"); v != "" { // of apiextensions v1beta1
			gvk.Version = v
			out = append(out, property.New(property.TypeGVK, gvk))
		}
	}
	crd("owned", property.TypeGVK, defined)
	crd("required", property.TypeGVKRequired, nil)
	for list, typ := range map[string]string{"owned": property.TypeGVK, "required": property.TypeGVKRequired} {
		for _, e := range spec.ElemsAt("apiservicedefinitions", list) {
			out = append(out, property.New(typ, property.GVK{Group: e.TextAt("group"), Version: e.TextAt("version"), Kind: e.TextAt("kind")}))
		}
	}
	return out // sorted by the caller
}

// images returns the related images: those that the CSV lists, the bundle image, and the
// images of its deployments.
func (r *reader) images() []fbc.RelatedImage {
	var out []fbc.RelatedImage
	seen := map[string]bool{}
	add := func(image fbc.RelatedImage) {
		if image.Image != "" && !seen[image.Image] {
			out = append(out, image)
		}
		seen[image.Image] = true
	}
	for _, e := range r.csv.ElemsAt("spec", "relatedImages") {
		image := fbc.RelatedImage{Name: e.TextAt("name"), Image: e.TextAt("image")}
		out = append(out, image)
		seen[image.Image] = true
	}
	add(fbc.RelatedImage{Image: r.opts.Image})
	var more []string
	for _, d := range r.csv.ElemsAt("spec", "install", "spec", "deployments") {
		pod := d.At("spec", "template", "spec")
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range pod.ElemsAt(list) {
				more = append(more, c.TextAt("image"))
			}
		}
	}
	slices.Sort(more)
	for _, image := range more {
		add(fbc.RelatedImage{Image: image})
	}
	return out
}

// data returns the requested heavy properties.
func (r *reader) data() []property.Property {
	switch r.opts.Data {
	case CSVMetadata:
		return []property.Property{{Type: property.TypeCSVMetadata, Value: csvMetadata(r.csv.Node)}}
	case Objects:
		var out []property.Property
		for _, o := range r.objects {
			o.OrderAll()
			value := yamlout.Object(yamlout.Member{Key: "data", Value: yamlout.String(base64.StdEncoding.EncodeToString(o.AppendJSON(nil)))})
			out = append(out, property.Property{Type: property.TypeBundleObject, Value: value.AppendJSON(nil)})
		}
		return out
	}
	return nil
}

// csvMetadata returns the parts of a CSV that user interfaces show, as the value of
// olm.csv.metadata.
func csvMetadata(csv *yamlout.Node) json.RawMessage {
	n := yamlout.Object()
	take := func(key string, from *yamlout.Node, empty bool) {
		switch {
		case from != nil && from.Kind != 'n' && (from.Kind != '{' || len(from.Members) > 0) && (from.Kind != '[' || len(from.Elems) > 0) && (from.Kind != '"' || from.Text != ""):
			n.Set(key, from)
		case empty:
			n.Set(key, yamlout.Object())
		}
	}
	spec := csv.At("spec")
	take("annotations", csv.At("metadata", "annotations"), false)
	take("apiServiceDefinitions", spec.At("apiservicedefinitions"), true)
	take("crdDescriptions", spec.At("customresourcedefinitions"), true)
	take("labels", csv.At("metadata", "labels"), false)
	take("provider", spec.At("provider"), true)
	for _, key := range []string{"description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion", "nativeAPIs"} {
		take(key, spec.At(key), false)
	}
	n.OrderAll()
	return n.AppendJSON(nil)
}
