package fbc

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/yamlout"
	"github.com/olmkit/olmkit/property"
)

// The annotations of a bundle.
const (
	annotationPackage  = "operators.operatorframework.io.bundle.package.v1"
	annotationChannels = "operators.operatorframework.io.bundle.channels.v1"
	annotationDefault  = "operators.operatorframework.io.bundle.channel.default.v1"
)

// render makes the blob of what was read.
func (r *dirReader) render() *BundleDir {
	if r.csv.Node == nil || r.annotations.Node == nil {
		return nil
	}
	csv := r.csv.Node
	b := &Bundle{Image: r.opts.Image}
	b.Schema, b.Name, b.Package = SchemaBundle, text(csv, "metadata", "name"), text(r.annotations.Node, annotationPackage)
	if b.Name == "" {
		r.fault(CodeRequired, r.csv.at, "/metadata/name", errors.New("is missing or empty; it is the name of the bundle"))
	}
	if b.Package == "" {
		r.fault(CodeRequired, r.annotations.at, "/annotations/"+annotationPackage, errors.New("is missing or empty; it says which package the bundle belongs to"))
	}
	b.Properties = r.properties(b.Package)
	b.RelatedImages = r.images()
	dir := &BundleDir{
		Bundle:         b,
		Entry:          Entry{Name: b.Name, Replaces: text(csv, "spec", "replaces"), SkipRange: text(csv, "metadata", "annotations", "olm.skipRange")},
		DefaultChannel: text(r.annotations.Node, annotationDefault),
		Description:    text(csv, "spec", "description"),
	}
	for _, s := range elems(csv, "spec", "skips") {
		dir.Entry.Skips = append(dir.Entry.Skips, s.Text)
	}
	for name := range strings.SplitSeq(text(r.annotations.Node, annotationChannels), ",") {
		if name = strings.TrimSpace(name); name != "" {
			dir.Channels = append(dir.Channels, name)
		}
	}
	if icons := elems(csv, "spec", "icon"); len(icons) > 0 {
		dir.Icon = &Icon{text(icons[0], "base64data"), text(icons[0], "mediatype")}
	}
	return dir
}

// properties collects the properties from all their places.
func (r *dirReader) properties(pkg string) []property.Property {
	var all []property.Property
	for _, l := range r.lists {
		all = append(all, r.listed(l, "properties", func(p property.Property) (property.Property, error) { return p, nil })...)
		all = append(all, r.listed(l, "dependencies", required)...)
	}
	if raw := text(r.csv.Node, "metadata", "annotations", "olm.properties"); raw != "" {
		list, err := property.ParseList([]byte(raw))
		if err != nil {
			r.fault(CodeValue, r.csv.at, "/metadata/annotations/olm.properties", err)
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
func (r *dirReader) packageOf(pkg string) property.Property {
	version := text(r.csv.Node, "spec", "version")
	if _, err := semver.Parse(version); err != nil {
		r.fault(CodeVersion, r.csv.at, "/spec/version", fmt.Errorf("version %q is no semantic version such as 1.2.3: %s", version, strings.ToLower(err.Error())))
	}
	return property.NewPackage(property.Package{PackageName: pkg, Version: version, Release: text(r.csv.Node, "spec", "release")})
}

// listed reads a list of {type, value}, or of {property: {type, value}}: the
// documentation has both shapes.
func (r *dirReader) listed(o object, key string, convert func(property.Property) (property.Property, error)) []property.Property {
	list := o.Get(key)
	if list == nil || list.Kind == 'n' {
		return nil
	}
	if list.Kind != '[' {
		r.fault(CodeType, o.at, "/"+key, fmt.Errorf("must be a list, found %s", jsonkind.Name(list.Kind)))
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
		case text(e, "type") == "":
			r.fault(CodeProperty, o.at, path+"/type", errors.New("is missing or empty; a property needs a type"))
			continue
		case value == nil || value.Kind == 'n':
			r.fault(CodeProperty, o.at, path+"/value", errors.New("is missing or null; a property needs a value"))
			continue
		}
		value.OrderAll()
		p, err := convert(normal(property.Property{Type: text(e, "type"), Value: value.AppendJSON(nil)}))
		if err != nil {
			r.fault(CodeValue, o.at, path+"/value", err)
			continue
		}
		out = append(out, p)
	}
	return out
}

// normal gives known values the key order of OLM, so that equal ones are equal
// texts.
func normal(p property.Property) property.Property {
	switch p.Type {
	case property.TypeGVK:
		if g, err := property.ParseGVK(p.Value); err == nil {
			return property.NewGVK(g)
		}
	case property.TypePackage:
		if x, err := property.ParsePackage(p.Value); err == nil {
			return property.NewPackage(x)
		}
	}
	return p
}

// required turns a dependency into the property that asks for it.
func required(p property.Property) (property.Property, error) {
	switch p.Type {
	case property.TypePackage:
		x, err := property.ParsePackage(p.Value)
		if err != nil {
			return p, err
		}
		return property.NewPackageRequired(property.PackageRequired{PackageName: x.PackageName, VersionRange: x.Version}), nil
	case property.TypeGVK:
		g, err := property.ParseGVK(p.Value)
		if err != nil {
			return p, err
		}
		return property.NewGVKRequired(g), nil
	}
	return p, nil
}

// apis returns what the CSV owns and requires, and the custom resource
// definitions among the manifests provide.
func (r *dirReader) apis() []property.Property {
	spec := at(r.csv.Node, "spec")
	var out []property.Property
	crd := func(list string, build func(property.GVK) property.Property, defined map[string]bool) {
		for i, e := range elems(spec, "customresourcedefinitions", list) {
			name := text(e, "name")
			_, group, ok := strings.Cut(name, ".")
			at := fmt.Sprintf("/spec/customresourcedefinitions/%s/%d/name", list, i)
			switch {
			case !ok:
				r.fault(CodeAPI, r.csv.at, at, fmt.Errorf("%q is no name of a custom resource definition; want plural.group", name))
			case defined != nil && !defined[name]:
				r.fault(CodeAPI, r.csv.at, at, fmt.Errorf("the bundle owns %q and has no CustomResourceDefinition of that name in manifests/", name))
			default:
				out = append(out, build(property.GVK{Group: group, Version: text(e, "version"), Kind: text(e, "kind")}))
			}
		}
	}
	defined := map[string]bool{}
	for _, o := range r.objects {
		if text(o.Node, "kind") != "CustomResourceDefinition" {
			continue
		}
		defined[text(o.Node, "metadata", "name")] = true
		gvk := property.GVK{Group: text(o.Node, "spec", "group"), Kind: text(o.Node, "spec", "names", "kind")}
		versions := elems(o.Node, "spec", "versions")
		for _, v := range versions {
			gvk.Version = text(v, "name")
			out = append(out, property.NewGVK(gvk))
		}
		if v := text(o.Node, "spec", "version"); v != "" { // of apiextensions v1beta1
			gvk.Version = v
			out = append(out, property.NewGVK(gvk))
		}
	}
	crd("owned", property.NewGVK, defined)
	crd("required", property.NewGVKRequired, nil)
	for list, build := range map[string]func(property.GVK) property.Property{"owned": property.NewGVK, "required": property.NewGVKRequired} {
		for _, e := range elems(spec, "apiservicedefinitions", list) {
			out = append(out, build(property.GVK{Group: text(e, "group"), Version: text(e, "version"), Kind: text(e, "kind")}))
		}
	}
	return out // sorted by the caller
}

// images returns the related images: those that the CSV lists, the bundle, and
// those of its deployments.
func (r *dirReader) images() []RelatedImage {
	var out []RelatedImage
	seen := map[string]bool{}
	add := func(image RelatedImage) {
		if image.Image != "" && !seen[image.Image] {
			out = append(out, image)
		}
		seen[image.Image] = true
	}
	for _, e := range elems(r.csv.Node, "spec", "relatedImages") {
		image := RelatedImage{text(e, "name"), text(e, "image")}
		out = append(out, image)
		seen[image.Image] = true
	}
	add(RelatedImage{Image: r.opts.Image})
	var more []string
	for _, d := range elems(r.csv.Node, "spec", "install", "spec", "deployments") {
		pod := at(d, "spec", "template", "spec")
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range elems(pod, list) {
				more = append(more, text(c, "image"))
			}
		}
	}
	slices.Sort(more)
	for _, image := range more {
		add(RelatedImage{Image: image})
	}
	return out
}

// data returns the heavy properties that were asked for.
func (r *dirReader) data() []property.Property {
	switch r.opts.Data {
	case CSVMetadata:
		return []property.Property{{Type: property.TypeCSVMetadata, Value: csvMetadata(r.csv.Node)}}
	case BundleObjects:
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

// csvMetadata returns the parts of a CSV that user interfaces show, under the
// names of olm.csv.metadata.
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
	spec := at(csv, "spec")
	take("annotations", at(csv, "metadata", "annotations"), false)
	take("apiServiceDefinitions", at(spec, "apiservicedefinitions"), true)
	take("crdDescriptions", at(spec, "customresourcedefinitions"), true)
	take("labels", at(csv, "metadata", "labels"), false)
	take("provider", at(spec, "provider"), true)
	for _, key := range []string{"description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion", "nativeAPIs"} {
		take(key, at(spec, key), false)
	}
	n.OrderAll()
	return n.AppendJSON(nil)
}
