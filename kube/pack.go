package kube

import (
	"encoding/json"
	"fmt"
	"unique"

	"github.com/klauspost/compress/s2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Pack returns a function that removes what [Strip] removes, and compresses the objects of the
// kinds that a [Cluster] reads, except for CatalogSources. Use it as cache.Options.DefaultTransform
// to save most of the memory of a cache. Of the compressed objects, others who read from
// the cache get only the name, UID, version, generation, labels, and time of deletion, in events;
// the methods Get and List of the cache return an error.
func Pack() toolscache.TransformFunc {
	p := packer{s2.MakeDict([]byte(typical), nil), map[groupKind]metav1.TypeMeta{}}
	for _, k := range kinds() {
		if k.group() != kindCatalogSource.group() { // package content reads these
			var t metav1.TypeMeta
			t.SetGroupVersionKind(k.gvk)
			p.types[k.group()] = t
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
type packer struct {
	dict  *s2.Dict
	types map[groupKind]metav1.TypeMeta // of the objects to pack
}

// A packed object is one of an informer's cache. It takes about a tenth of the memory of an
// unstructured object.
type packed struct {
	metav1.TypeMeta
	metav1.ObjectMeta // without what neither events nor indexes need
	dict              *s2.Dict
	own               string                // metadata and status, as a compressed JSON object
	shared            unique.Handle[string] // the other members: those of an operator are the same in all its namespaces
}

var _ client.Object = (*packed)(nil)

// DeepCopyObject returns a copy. What it shares with the original is never modified.
func (p *packed) DeepCopyObject() runtime.Object { return new(*p) }

func (p packer) transform(o any) (any, error) {
	o, err := Strip(o)
	u, ok := o.(*unstructured.Unstructured)
	if err != nil || !ok {
		return o, err
	}
	key := keyOf(u)
	t, ok := p.types[groupKind{key.Group, key.Kind}]
	if !ok {
		return o, nil
	}
	out := &packed{TypeMeta: t, dict: p.dict, ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Generation: u.GetGeneration(),
		Labels: u.GetLabels(), DeletionTimestamp: u.GetDeletionTimestamp(), ManagedFields: u.GetManagedFields(),
	}}
	u.SetManagedFields(nil)
	own, shared := map[string]any{}, map[string]any{}
	for name, v := range u.Object {
		switch name {
		case "metadata", "status":
			own[name] = v
		default:
			shared[name] = v
		}
	}
	if out.own, err = p.pack(own); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	text, err := p.pack(shared)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	out.shared = unique.Make(text)
	return out, nil
}

func (p packer) pack(v map[string]any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return string(p.dict.Encode(nil, text)), nil
}

// text returns the object as JSON.
func (p *packed) text() ([]byte, error) {
	own, err := p.dict.Decode(nil, []byte(p.own))
	if err != nil {
		return nil, err
	}
	shared, err := p.dict.Decode(nil, []byte(p.shared.Value()))
	if err != nil || len(own) == len("{}") {
		return shared, err
	}
	own[len(own)-1] = ',' // the other has the kind, so it is not empty
	return append(own, shared[1:]...), nil
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
