package kube

import (
	"encoding/json"
	"fmt"
	"unique"

	"github.com/klauspost/compress/s2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
)

// Pack returns a function that removes what [Strip] removes, and compresses the objects of the
// kinds that a [Cluster] reads, except for CatalogSources. Use it as cache.Options.DefaultTransform
// to save most of the memory of a cache. Of the compressed objects, others who read from
// the cache get only the name, UID, version, generation, labels, and time of deletion, in events;
// the methods Get and List of the cache return an error.
func Pack() toolscache.TransformFunc {
	p, dict := packer{}, s2.MakeDict([]byte(typical), nil)
	for _, k := range kinds() {
		if k.group() != kindCatalogSource.group() { // package content reads these
			of := &packing{dict: dict}
			of.SetGroupVersionKind(k.gvk)
			p[k.group()] = of
		}
	}
	return p.transform
}

// typical has what most objects have in common, the most frequent last. It is the dictionary of the compression.
const typical = `"status":{"conditions":[{"lastTransitionTime":"2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z","message":"install strategy completed with no errors","phase":"Succeeded","reason":"InstallSucceeded","status":"True","type":"Available"}],"observedGeneration":1,"replicas":1,"state":"AtLatestKnown","currentCSV":"","installedCSV":"","installplan":{"apiVersion":"operators.coreos.com/v1alpha1","kind":"InstallPlan","name":"install-","uuid":""},` +
	`"subjects":[{"kind":"ServiceAccount","name":"","namespace":""}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":""},"rules":[{"apiGroups":[""],"resources":[""],"verbs":["create","delete","get","list","patch","update","watch"]}],"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1"` +
	`{"metadata":{"annotations":{"olm.operatorGroup":"","olm.operatorNamespace":"","olm.targetNamespaces":"","operatorframework.io/properties":""},"creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["operators.coreos.com/csv-cleanup"],"generation":1,` +
	`"labels":{"olm.managed":"true","olm.owner":"","olm.owner.kind":"ClusterServiceVersion","olm.owner.namespace":"","operators.coreos.com/":""},"name":"","namespace":"",` +
	`"ownerReferences":[{"apiVersion":"operators.coreos.com/v1alpha1","blockOwnerDeletion":false,"controller":false,"kind":"ClusterServiceVersion","name":"","uid":""}],"resourceVersion":"","uid":""},`

// A packer packs objects.
type packer map[groupKind]*packing // by kind

// A packing has what the packed objects of a kind have in common.
type packing struct {
	metav1.TypeMeta
	dict *s2.Dict
}

// A packed object is one of an informer's cache. Objects of the same operator in other namespaces
// share nearly all of its text. It implements only what events and indexes need of client.Object.
type packed struct {
	unsupported
	*packing
	template
	clustered  bool // it has no namespace, and that of the template is the one it is for
	generation int64
	deleted    *metav1.Time
	olm        *metav1.ManagedFieldsEntry // what Strip leaves
	labels     unique.Handle[string]      // a template of a JSON object
	parts      [3]unique.Handle[string]   // compressed templates of JSON objects: the metadata, the status, and the other members
	values     string                     // of the labels and the parts, in turn
}

var _ client.Object = (*packed)(nil)

// DeepCopyObject returns a copy. What it shares with the original is never modified.
func (p *packed) DeepCopyObject() runtime.Object { return new(*p) }

func (p *packed) GetObjectKind() schema.ObjectKind   { return new(p.TypeMeta) }
func (p *packed) GetName() string                    { return p.name }
func (p *packed) GetUID() types.UID                  { return p.uid }
func (p *packed) GetResourceVersion() string         { return p.version }
func (p *packed) GetGeneration() int64               { return p.generation }
func (p *packed) GetDeletionTimestamp() *metav1.Time { return p.deleted }

func (p *packed) GetNamespace() string {
	if p.clustered {
		return ""
	}
	return p.namespace
}

func (p *packed) GetManagedFields() []metav1.ManagedFieldsEntry {
	if p.olm == nil {
		return nil
	}
	return []metav1.ManagedFieldsEntry{*p.olm}
}

func (p *packed) GetLabels() map[string]string {
	var labels map[string]string
	text, _ := p.fill(nil, []byte(p.labels.Value()), []byte(p.values), 0)
	_ = json.Unmarshal(text, &labels) // it was made by Marshal
	return labels
}

func (p packer) transform(o any) (any, error) {
	o, err := Strip(o)
	u, ok := o.(*unstructured.Unstructured)
	if err != nil || !ok {
		return o, err
	}
	key := keyOf(u)
	of, ok := p[groupKind{key.Group, key.Kind}]
	if !ok {
		return o, nil
	}
	labels := u.GetLabels()
	out := &packed{
		packing: of, template: template{key.Name, key.Namespace, u.GetUID(), u.GetResourceVersion()}, generation: u.GetGeneration(),
		deleted: u.GetDeletionTimestamp(),
	}
	if out.namespace == "" {
		out.clustered, out.namespace = true, labels[ownerlabel.Namespace]
		if key.Kind == olm.KindOperator {
			out.namespace = namespaceOf(key.Name)
		}
	}
	if m := u.GetManagedFields(); len(m) > 0 {
		out.olm = &m[0]
	}
	u.SetManagedFields(nil)
	parts := [...]map[string]any{{}, {}, {}}
	for name, v := range u.Object {
		switch name {
		case "metadata":
			parts[0][name] = v
		case "status":
			parts[1][name] = v
		default:
			parts[2][name] = v
		}
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	text, values := extract(out.replace(text), nil)
	out.labels = unique.Make(string(text))
	for i, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if !out.isSpec(i) {
			text, values = extract(out.replace(text), values)
		}
		out.parts[i] = unique.Make(string(of.dict.Encode(nil, text)))
	}
	out.values = string(values)
	return out, nil
}

// isSpec reports whether a part is the spec of a CSV. It is not a template, so that CSVs can share what is decoded
// from it.
func (p *packed) isSpec(part int) bool {
	return part == 2 && p.Kind == olm.KindClusterServiceVersion
}

// text returns the object as JSON.
func (p *packed) text() ([]byte, error) {
	values := []byte(p.values)
	out, at := p.fill(nil, []byte(p.labels.Value()), values, 0)
	out = out[:0] // the labels are in the metadata, too
	for i, part := range p.parts {
		text, err := p.dict.Decode(nil, []byte(part.Value()))
		if err != nil {
			return nil, err
		}
		from := len(out)
		if p.isSpec(i) {
			out = append(out, text...)
		} else {
			out, at = p.fill(out, text, values, at)
		}
		switch {
		case len(out) == from+len("{}"):
			out = out[:from]
		case from > 0:
			out[from-1], out[from] = ',', ' ' // in place of the braces
		}
	}
	return out, nil
}

// textOf returns an object of a cache as JSON.
func textOf(o client.Object) ([]byte, error) {
	switch o := o.(type) {
	case *packed:
		return o.text()
	case *unstructured.Unstructured:
		return o.MarshalJSON()
	}
	return nil, unexpected(o)
}

// unpacked returns an object of a cache in full.
func unpacked(o client.Object) (*unstructured.Unstructured, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u, nil
	}
	text, err := textOf(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(text)
}

func unexpected(o any) error { return fmt.Errorf("the cache holds a %T", o) }
