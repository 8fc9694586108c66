package registryv1

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	yamlv3 "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/fbc"
)

// Dropped returns a problem for each field that is silently dropped ([K239]): a field that its object
// cannot have, and all but the last of fields with one name. It knows the fields of CSVs, of
// CRDs and of native kinds.
//
// [K239]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k239
func (b *Bundle) Dropped() []Problem {
	d := &dropped{}
	csv := b.csv()
	d.document(csv.tree, csv.Pos, reflect.TypeFor[v1alpha1.ClusterServiceVersion]())
	for i := range b.CRDs {
		if b.CRDs[i].Object.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
			continue // see K212
		}
		d.document(b.CRDs[i].tree, b.CRDs[i].Pos, reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
	}
	for i := range b.Others {
		m := &b.Others[i]
		d.document(m.tree, m.Pos, nativeType(m.Object.GroupVersionKind()))
	}
	return d.found
}

// nativeType returns the Go type of a native kind that a bundle may have, or nil.
func nativeType(gvk schema.GroupVersionKind) reflect.Type {
	switch gvk {
	case corev1.SchemeGroupVersion.WithKind("ConfigMap"):
		return reflect.TypeFor[corev1.ConfigMap]()
	case corev1.SchemeGroupVersion.WithKind("Secret"):
		return reflect.TypeFor[corev1.Secret]()
	case corev1.SchemeGroupVersion.WithKind("Service"):
		return reflect.TypeFor[corev1.Service]()
	case corev1.SchemeGroupVersion.WithKind("ServiceAccount"):
		return reflect.TypeFor[corev1.ServiceAccount]()
	case networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"):
		return reflect.TypeFor[networkingv1.NetworkPolicy]()
	case policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"):
		return reflect.TypeFor[policyv1.PodDisruptionBudget]()
	case rbacv1.SchemeGroupVersion.WithKind("Role"):
		return reflect.TypeFor[rbacv1.Role]()
	case rbacv1.SchemeGroupVersion.WithKind("ClusterRole"):
		return reflect.TypeFor[rbacv1.ClusterRole]()
	case rbacv1.SchemeGroupVersion.WithKind("RoleBinding"):
		return reflect.TypeFor[rbacv1.RoleBinding]()
	case rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"):
		return reflect.TypeFor[rbacv1.ClusterRoleBinding]()
	case schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"):
		return reflect.TypeFor[schedulingv1.PriorityClass]()
	}
	return nil
}

type dropped struct {
	at    fbc.Pos
	first int // the number of lines before the document
	left  int // how many problems of the document are still reported
	found []Problem
}

// document checks a document. Its type is nil if it is unknown.
func (d *dropped) document(tree func() *yamlv3.Node, at fbc.Pos, t reflect.Type) {
	if tree == nil {
		return
	}
	root := tree()
	if root == nil {
		return
	}
	d.at, d.first, d.left = at, at.Line-root.Content[0].Line, maxFieldErrors
	d.node(root.Content[0], t, nil)
}

func (d *dropped) report(key *yamlv3.Node, path []any, text string) {
	if d.left--; d.left < 0 {
		return
	}
	d.found = append(d.found, ours("dropped", key.Value, fbc.Pos{File: d.at.File, Line: d.first + key.Line}, text, pathText(path)))
}

// node checks a value, which has a type if that is known. Aliases are not followed.
func (d *dropped) node(n *yamlv3.Node, t reflect.Type, path []any) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil
	}
	switch n.Kind {
	case yamlv3.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			at := append(path[:len(path):len(path)], key.Value)
			if key.Tag == "!!merge" {
				continue
			}
			if seen[key.Value] {
				d.report(key, at, "%s is repeated, and only the last one counts; remove the others")
			}
			seen[key.Value] = true
			next, known := fieldType(t, key.Value)
			if !known {
				d.report(key, at, "%s is not a field, and is dropped; correct its name or its place")
				continue
			}
			d.node(n.Content[i+1], next, at)
		}
	case yamlv3.SequenceNode:
		if t != nil && t.Kind() == reflect.Slice {
			t = t.Elem()
		} else {
			t = nil
		}
		for i, item := range n.Content {
			d.node(item, t, append(path[:len(path):len(path)], i))
		}
	}
}

// fieldType returns the type of the field that a type has, or nil if it is unknown. Known is false if
// the type has no such field.
func fieldType(t reflect.Type, name string) (field reflect.Type, known bool) {
	switch {
	case t == nil:
		return nil, true
	case t.Kind() == reflect.Map:
		return t.Elem(), true
	case t.Kind() != reflect.Struct:
		return nil, true // its type is wrong
	}
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && (tag == "" || strings.Contains(options, "inline")) {
			if inner, ok := fieldType(f.Type, name); ok {
				return inner, true
			}
		} else if tag == name {
			return f.Type, true
		}
	}
	return nil, false
}
