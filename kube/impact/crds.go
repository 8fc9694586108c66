package impact

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/crdsafety"
)

// resultsByName are the results of the safety check, sorted by name.
type resultsByName []*crdsafety.Result

// A crd is a CRD of a bundle.
type crd struct {
	*content
	at place
}

// A content is what a CRD contains.
type content struct {
	*apiextensionsv1.CustomResourceDefinition
	text []byte // the CRD as JSON
	sum  [sha256.Size]byte
	// legacy is true for an API version other than v1, in which schemas are in a different place.
	legacy bool
	// plain returns the CRD without its versions, and the schemas of the versions without
	// documentation. They must not be modified.
	plain func() (*plain, error)
}

// newContent returns the content of a CRD. Equal CRDs of bundles have equal texts, because
// what they hold as JSON was encoded with sorted keys.
func newContent(x *apiextensionsv1.CustomResourceDefinition) (*content, error) {
	text, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	return &content{
		CustomResourceDefinition: x,
		text:                     text,
		sum:                      sha256.Sum256(text),
		legacy:                   x.APIVersion != apiextensionsv1.SchemeGroupVersion.String(),
		plain:                    sync.OnceValues(func() (*plain, error) { return plainOf(text) }),
	}, nil
}

// installedContent returns the content of a CRD on the cluster, without what OLM sets.
func installedContent(x *apiextensionsv1.CustomResourceDefinition) (*content, error) {
	manifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x)
	if err != nil {
		return nil, err
	}
	manifest["apiVersion"], manifest["kind"] = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition" // clients leave them out
	unstructured.RemoveNestedField(manifest, "spec", "conversion", "webhook")
	if x, err = crdsafety.Decode(manifest); err != nil {
		return nil, err
	}
	return newContent(x)
}

// maxContents is the size of the CRDs that a Cache keeps, as JSON. In memory they
// take several times as much.
const maxContents = 4 << 20

// crdsOf returns the CRDs of a bundle by name, as OLM installs them: with their conversion
// webhooks.
func (c *Cache) crdsOf(b Bundle) (map[string]*crd, error) {
	out := map[string]*crd{}
	for i := range b.CRDs {
		m := &b.CRDs[i]
		converted := slices.ContainsFunc(b.CSV().Spec.WebhookDefinitions, func(w v1alpha1.WebhookDescription) bool {
			return w.Type == v1alpha1.ConversionWebhook && slices.Contains(w.ConversionCRDs, m.Object.Name)
		})
		limit := maxContents
		if m.Digest() == "" {
			limit = 0 // nothing identifies it
		}
		d, err := c.contents.Get(contentKey{m.Digest(), converted}, limit, func() (*content, int, error) {
			x := m.Object // a copy, of which only what is set here is not shared
			x.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
			if converted {
				x.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
			}
			d, err := newContent(&x)
			if err != nil {
				return nil, 0, err
			}
			return d, max(1, len(d.text)), nil
		})
		if err != nil {
			return nil, err
		}
		out[m.Object.Name] = &crd{d, place{Pos: m.Pos}}
	}
	return out, nil
}

// crds compares the CRDs of the bundles (K226).
func (c *comparison) crds() ([]Change, error) {
	crds := func(b Bundle) (map[string]*crd, error) {
		return c.opts.Cache.bundleCRDs.Get(b.Bundle, maxRecent, func() (map[string]*crd, int, error) {
			crds, err := c.opts.Cache.crdsOf(b)
			return crds, 1, err
		})
	}
	old, err := crds(c.old)
	if err != nil {
		return nil, err
	}
	created, err := crds(c.new)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, name := range union(old, created) {
		a, b := old[name], created[name]
		object := "CustomResourceDefinition " + name
		installed := c.opts.Cluster.crd(name)
		switch {
		case b == nil:
			out = append(out, safe(Removed, object, "CRD %s is not in the new bundle; see the changes to objects", name))
			continue
		case a == nil && installed == nil:
			out = append(out, safe(Added, object, "CRD %s is created, with versions %s", name, versions(b.CustomResourceDefinition)))
			continue
		case a == nil:
			a = &crd{content: &content{CustomResourceDefinition: installed}}
		}
		found, err := c.crd(object, a, b, installed)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// crd compares two versions of a CRD. Installed is the CRD on the cluster, or nil if that is
// not known.
func (c *comparison) crd(object string, old, created *crd, installed *apiextensionsv1.CustomResourceDefinition) ([]Change, error) {
	equal := old.sum == created.sum
	if equal && installed == nil {
		return nil, nil
	}
	if old.legacy || created.legacy {
		if equal {
			return nil, nil
		}
		return []Change{c.coded(codes.ImpactNotCompared, Changed, object, "", created.at, "CRD %s was not checked, because its API version is not apiextensions.k8s.io/v1 in both bundles", created.Name)}, nil
	}
	from := old
	if installed != nil {
		d, err := installedContent(installed)
		if err != nil {
			return nil, err
		}
		from = &crd{content: d}
	}
	out := c.versions(object, from, created)
	safety, err := c.opts.Cache.compareCRDs(c.ctx, from.content, created.content)
	switch {
	case errors.Is(err, crdsafety.ErrTooLarge):
		out = append(out, c.coded(codes.ImpactNotCompared, Changed, object, "", created.at, "CRD %s was not checked: %s", created.Name, crdsafety.ErrTooLarge))
		return out, nil
	case err != nil:
		return nil, err
	}
	if !equal {
		c.safety = append(c.safety, safety)
	}
	unsafe := false
	for _, f := range safety.Findings {
		if repeated(f, safety.Findings) {
			continue
		}
		ch, err := c.finding(object, created, f)
		if err != nil {
			return nil, err
		}
		unsafe = unsafe || ch.Verdict == Breaks
		out = append(out, ch)
	}
	if !unsafe && !c.opts.Classic && !c.opts.Unenforced && safety.Refused() {
		out = append(out, c.coded(codes.ImpactCRDRefused, Changed, object, "", created.at, "OLM v1 refuses the change to CRD %s, although all custom resources stay valid; \"olmkit crd-safety --as-upstream\" shows why", created.Name))
	}
	if equal && len(out) == 0 {
		return nil, nil // if resources violate it, this is not new
	}
	if !equal {
		fields, err := c.fields(object, from, created, safety.Findings)
		if err != nil {
			return nil, err
		}
		out = append(out, fields...)
	}
	more, err := c.opts.Cluster.resources(c.ctx, c, object, created)
	return append(out, more...), err
}

// finding returns a finding about a CRD as a change. Custom resources stay valid if a default changes, if
// a new required field has a default, or if only what server-side apply merges changes.
func (c *comparison) finding(object string, created *crd, f crdsafety.Finding) (Change, error) {
	shown := f
	shown.Version = strings.Replace(f.Version, between, " compared with ", 1)
	shown.Path = strings.TrimPrefix(f.Path, "^")
	ch := c.coded(codes.ImpactCRDUnsafe, Changed, object, f.Path, created.at, "CRD %s: %s", created.Name, shown)
	ch.subject = "CRD " + created.Name
	if shown.Version != "" {
		ch.subject += ": version " + shown.Version
	}
	switch f.Validation {
	case "storedVersionRemoval":
		ch.Message += ", which the API server refuses as long as status.storedVersions of the CRD has them"
	case "scope":
		ch = c.refused(ch, created.at)
	case "default":
		ch.Code, ch.Verdict = codes.ImpactCRDBehavior, Look
	case "x-kubernetes-map-type", "x-kubernetes-list-type", "x-kubernetes-list-map-keys":
		schema, err := created.schema(f)
		if err != nil {
			return ch, err
		}
		if effect := merging(f, schema); effect != "" {
			ch.Code, ch.Verdict = codes.ImpactCRDBehavior, Look
			ch.Message += ", so " + effect
		}
	case "required":
		schema, err := created.schema(f)
		if err != nil {
			return ch, err
		}
		properties, _ := schema["properties"].(map[string]any)
		var names []string
		if json.Unmarshal(f.New, &names) == nil && !slices.ContainsFunc(names, func(name string) bool {
			field, _ := properties[name].(map[string]any)
			return field["default"] == nil
		}) {
			ch.Code, ch.Verdict, ch.at = "", Safe, place{}
			ch.Message += ", which have defaults"
		}
	}
	ch.Old, ch.New = f.Old, f.New
	if shown.Path != "" {
		ch.effect = strings.TrimPrefix(ch.Message, ch.subject+": "+shown.Path+": ")
	}
	return ch, nil
}

// between is between the names of two versions in the finding about a difference between them.
const between = " -> "

// repeated reports whether another finding states the same: about the newer one of two versions, or about the
// type of a list that gets or loses keys.
func repeated(f crdsafety.Finding, all []crdsafety.Finding) bool {
	_, newer, ok := strings.Cut(f.Version, between)
	return slices.ContainsFunc(all, func(g crdsafety.Finding) bool {
		switch {
		case g.Path != f.Path:
			return false
		case ok:
			return g.Version == newer && g.Validation == f.Validation && bytes.Equal(g.New, f.New)
		}
		return f.Validation == "x-kubernetes-list-map-keys" && g.Validation == "x-kubernetes-list-type" && g.Version == f.Version
	})
}

// schema returns the schema that a finding is about.
func (x *crd) schema(f crdsafety.Finding) (map[string]any, error) {
	d, err := x.plain()
	if err != nil {
		return nil, err
	}
	return schemaAt("^", f.Path, d.schemas[f.Version]), nil
}

// merging returns how a finding changes what server-side apply merges, or "" if resources that were valid may
// violate the new schema: entries of a set, and the keys of the entries of a list of type map, are unique.
func merging(f crdsafety.Finding, schema map[string]any) string {
	switch f.Validation {
	case "x-kubernetes-map-type":
		if string(f.New) == `"atomic"` {
			return "server-side apply replaces the object as a whole, and its field managers conflict"
		}
		return "server-side apply merges the fields of the object, and keeps those that a field manager no longer applies"
	case "x-kubernetes-list-type":
		if kind := schema["x-kubernetes-list-type"]; kind != nil && kind != "atomic" {
			return ""
		}
		return "server-side apply replaces the list as a whole, and its field managers conflict"
	}
	var before, after []string
	if json.Unmarshal(f.Old, &before) != nil || json.Unmarshal(f.New, &after) != nil || slices.ContainsFunc(before, func(key string) bool { return !slices.Contains(after, key) }) {
		return "" // entries that differed only in such a key are duplicates
	}
	return "server-side apply identifies the entries of the list otherwise"
}

// versions returns how the versions of a CRD change.
func (c *comparison) versions(object string, old, created *crd) (out []Change) {
	after := map[string]*apiextensionsv1.CustomResourceDefinitionVersion{}
	for i := range created.Spec.Versions {
		after[created.Spec.Versions[i].Name] = &created.Spec.Versions[i]
	}
	before := map[string]bool{}
	was, is := storage(old.CustomResourceDefinition), storage(created.CustomResourceDefinition)
	known := len(old.Status.StoredVersions) > 0
	for _, v := range old.Spec.Versions {
		before[v.Name] = v.Served
		switch to := after[v.Name]; {
		case !v.Served:
		case to == nil:
			stored := ""
			if !known && v.Name != was {
				stored = "; the API server refuses this as long as status.storedVersions of the CRD has it"
			}
			out = append(out, c.coded(codes.ImpactCRDVersion, Removed, object, "", created.at, "CRD %s: version %s is removed, so clients and manifests that use it will fail%s", created.Name, v.Name, stored))
		case !to.Served:
			out = append(out, c.coded(codes.ImpactCRDVersion, Changed, object, "", created.at, "CRD %s: version %s is no longer served, so clients and manifests that use it will fail", created.Name, v.Name))
		default:
			out = append(out, c.version(object, created, &v, to)...)
		}
	}
	for _, v := range created.Spec.Versions {
		if v.Served && !before[v.Name] {
			out = append(out, safe(Added, object, "CRD %s: version %s is now served", created.Name, v.Name))
		}
	}
	if a, b := old.Spec.Names.Kind, created.Spec.Names.Kind; a != b {
		out = append(out, c.refused(safe(Changed, object, "CRD %s: its kind changes from %s to %s", created.Name, a, b), created.at))
	}
	if converts(old.CustomResourceDefinition) && !converts(created.CustomResourceDefinition) && len(created.Spec.Versions) > 1 {
		out = append(out, c.coded(codes.ImpactCRDUnsafe, Removed, object, "", created.at, "CRD %s: no webhook converts between its versions any more, so fields that not all versions have are lost", created.Name))
	}
	if was != is {
		out = append(out, c.coded(codes.ImpactCRDStorage, Changed, object, "", created.at, "CRD %s: resources are stored as version %s instead of %s", created.Name, is, was))
	}
	return out
}

// version compares a version that both CRDs serve, except for its schema.
func (c *comparison) version(object string, created *crd, old, to *apiextensionsv1.CustomResourceDefinitionVersion) (out []Change) {
	add := func(op Op, code fbc.Code, format string, args ...any) {
		text := fmt.Sprintf("CRD %s: version %s ", created.Name, old.Name) + fmt.Sprintf(format, args...)
		out = append(out, c.coded(code, op, object, "", created.at, "%s", text))
	}
	var was, is apiextensionsv1.CustomResourceSubresources
	if old.Subresources != nil {
		was = *old.Subresources
	}
	if to.Subresources != nil {
		is = *to.Subresources
	}
	if was.Status != nil && is.Status == nil {
		add(Removed, codes.ImpactCRDUnsafe, "no longer has the subresource status, so clients that update it will fail")
	}
	switch a, b := was.Scale, is.Scale; {
	case a != nil && b == nil:
		add(Removed, codes.ImpactCRDUnsafe, "no longer has the subresource scale, so autoscalers and other clients that use it will fail")
	case a != nil && (a.SpecReplicasPath != b.SpecReplicasPath || a.StatusReplicasPath != b.StatusReplicasPath || a.LabelSelectorPath != nil && !reflect.DeepEqual(a.LabelSelectorPath, b.LabelSelectorPath)):
		add(Changed, codes.ImpactCRDBehavior, "changes the paths of the subresource scale from %s to %s, so autoscalers use other fields", text(a), text(b))
	}
	for _, f := range old.SelectableFields {
		if !slices.Contains(to.SelectableFields, f) {
			add(Removed, codes.ImpactCRDUnsafe, "no longer has the selectable field %s, so clients that select by it will fail", f.JSONPath)
		}
	}
	if to.Deprecated && !old.Deprecated {
		add(Changed, "", "is now deprecated")
	}
	return out
}

func converts(x *apiextensionsv1.CustomResourceDefinition) bool {
	return x.Spec.Conversion != nil && x.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

func storage(x *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range x.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return "none"
}

func versions(x *apiextensionsv1.CustomResourceDefinition) string {
	var out []string
	for _, v := range x.Spec.Versions {
		if v.Served {
			out = append(out, v.Name)
		}
	}
	return strings.Join(out, ", ")
}

// fields returns the changes to the fields of a CRD, without documentation and without those
// at the places of findings.
func (c *comparison) fields(object string, old, created *crd, found []crdsafety.Finding) ([]Change, error) {
	before, err := old.plain()
	if err != nil {
		return nil, err
	}
	after, err := created.plain()
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, f := range diff("", before.rest, after.rest) {
		if f.path == ".spec.scope" || f.path == ".spec.names.kind" || f.path == ".spec.conversion.webhook" {
			continue // a finding, or what OLM sets
		}
		if _, rest, ok := strings.Cut(f.path, ".spec.versions["); ok {
			_, part, _ := strings.Cut(rest, "]")
			if part == "" || f.old != nil && (strings.HasPrefix(part, ".subresources") || strings.HasPrefix(part, ".selectableFields")) {
				continue // the function versions reports it
			}
		}
		out = append(out, fieldChange(object, "CRD "+created.Name, f, false))
	}
	reported := map[[3]string]bool{}
	for _, x := range found {
		reported[[3]string{x.Version, x.Path, x.Validation}] = true
	}
	for _, version := range union(before.schemas, after.schemas) {
		if before.schemas[version] == nil || after.schemas[version] == nil {
			continue // a version that is added or removed
		}
		for _, f := range diffSchema("^", before.schemas[version], after.schemas[version]) {
			if reported[[3]string{version, f.path, f.keyword}] || reported[[3]string{version, f.path, "existingFieldRemoval"}] {
				continue
			}
			out = append(out, fieldChange(object, "CRD "+created.Name+": version "+version, f, false))
		}
	}
	return out, nil
}

// A plain is a CRD without its versions, and the schemas of the versions without documentation.
type plain struct {
	rest    map[string]any
	schemas map[string]map[string]any
}

// plainOf decodes a CRD.
func plainOf(text []byte) (*plain, error) {
	var o unstructured.Unstructured
	if err := json.Unmarshal(text, &o.Object); err != nil {
		return nil, err
	}
	removeDefaults(&o)
	schemas := map[string]map[string]any{}
	spec, _ := o.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		schema, _ := version["schema"].(map[string]any)
		schemas[name], _ = schema["openAPIV3Schema"].(map[string]any)
		delete(version, "schema")
		for _, k := range []string{"served", "storage", "deprecated"} { // see the function versions
			delete(version, k)
		}
	}
	delete(o.Object, "metadata")
	return &plain{o.Object, schemas}, nil
}
