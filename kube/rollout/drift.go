package rollout

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// FieldOwner is the field manager of all writes to objects of revisions.
const FieldOwner = "olm.operatorframework.io"

// drifted returns whether others have changed or removed fields that the revision declares.
// Fields that nobody changed belong to FieldOwner, so the values are not compared: the API
// server may have stored them in another form. Fields that the revision does not declare are
// left alone.
func (w *world) drifted(r *Revision, desired, live *unstructured.Unstructured) bool { // K86
	if rv := w.snapshot.Applied[live.GetUID()]; rv != "" && rv == live.GetResourceVersion() {
		return false
	}
	var sets []fields
	for _, m := range live.GetManagedFields() {
		if m.Manager == FieldOwner && m.Subresource == "" && m.FieldsV1 != nil {
			var f fields
			if json.Unmarshal(m.FieldsV1.GetRawBytes(), &f) == nil {
				sets = append(sets, f)
			}
		}
	}
	meta := map[string]any{
		"ownerReferences": []any{map[string]any{"uid": string(w.controller(r).UID), "controller": true}},
	}
	for _, key := range []string{"labels", "annotations"} {
		if m, ok, _ := unstructured.NestedMap(desired.Object, "metadata", key); ok {
			meta[key] = m
		}
	}
	for key, v := range desired.Object {
		switch key {
		case "apiVersion", "kind", "status":
			continue
		case "metadata":
			v = meta
		}
		if !covered(sets, "f:"+key, v) {
			return true
		}
	}
	return false
}

// fields is a set of fields in the format FieldsV1. The key "." stands for the value itself,
// and a value without keys belongs to its manager as a whole.
type fields map[string]fields

// covered returns whether the value at a key of any of the sets belongs to its manager.
func covered(all []fields, key string, v any) bool {
	var under []fields
	for _, f := range all {
		if sub, ok := f[key]; ok {
			if len(sub) == 0 {
				return true
			}
			under = append(under, sub)
		}
	}
	if v == nil {
		return true
	}
	return len(under) > 0 && within(under, v)
}

func within(all []fields, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if !covered(all, "f:"+k, x) {
				return false
			}
		}
	case []any:
		for i, x := range v {
			if !entry(all, i, x) {
				return false
			}
		}
	}
	return true
}

// entry returns whether an entry of a list belongs to the manager. The sets show whether
// the API server distinguishes entries by keys, by their values or by position.
func entry(all []fields, i int, x any) bool {
	for _, f := range all {
		for k := range f {
			kind, text, _ := strings.Cut(k, ":")
			var id any
			if json.Unmarshal([]byte(text), &id) != nil {
				continue
			}
			switch kind {
			case "k":
				if !keyed(id, x) {
					continue
				}
			case "v":
				if !equal(id, x) {
					continue
				}
			case "i":
				if !equal(id, int64(i)) {
					continue
				}
			default:
				continue
			}
			if covered(all, k, x) {
				return true
			}
		}
	}
	return false
}

// keyed returns whether an entry has the keys of id. A key that it lacks has a default.
func keyed(id, x any) bool {
	keys, ok := id.(map[string]any)
	m, ok2 := x.(map[string]any)
	if !ok || !ok2 {
		return false
	}
	for k, v := range keys {
		if have, ok := m[k]; ok && !equal(v, have) {
			return false
		}
	}
	return true
}

// equal compares JSON values, whose numbers may be of different types.
func equal(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// migrated returns the object with the fields that FieldOwner has from creating it as
// fields of Server-Side Apply, or nil if it has none. Otherwise applying the object would not
// remove fields.
func migrated(live *unstructured.Unstructured) *unstructured.Unstructured { // K85
	o := live.DeepCopy()
	if err := csaupgrade.UpgradeManagedFields(o, sets.New(FieldOwner), FieldOwner); err != nil {
		return nil // the fields are not readable; Server-Side Apply reports that
	}
	if reflect.DeepEqual(o.GetManagedFields(), live.GetManagedFields()) {
		return nil
	}
	out := identity(live)
	out.SetManagedFields(o.GetManagedFields())
	return out
}
