package impact

import (
	"encoding/base64"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Fields returns how applying desired changes live, an object on a cluster, field by field and
// sorted by path. Applied is the object as it was applied before, or nil; its fields that
// desired lacks are removed. Other fields of live belong to users or are defaults, and do not
// count. Neither do the labels and annotations that OLM writes for each version. The values of
// Secrets are left out.
func Fields(live, applied, desired *unstructured.Unstructured) []Change { // K241
	id := objectID{desired.GroupVersionKind().Group, desired.GetKind(), desired.GetNamespace(), desired.GetName()}
	want := stripped(desired.Object)
	was := map[string]any{}
	if applied != nil {
		was = stripped(applied.Object)
	}
	have, _ := declared(stripped(live.Object), want, was).(map[string]any)
	now, next := &unstructured.Unstructured{Object: have}, &unstructured.Unstructured{Object: want}
	removeDefaults(now)
	removeDefaults(next)
	var out []Change
	for _, f := range diff("", dropEmpty(now.Object), dropEmpty(next.Object)) {
		out = append(out, fieldChange(id.String(), id.String(), withDefault(id.kind, f), id.kind == "Secret"))
	}
	return out
}

// stripped returns a copy of an object without its status and what the cluster adds to its
// metadata.
func stripped(o map[string]any) map[string]any {
	o = (&unstructured.Unstructured{Object: o}).DeepCopy().Object
	delete(o, "status")
	meta, _ := o["metadata"].(map[string]any)
	kept := map[string]any{}
	for _, k := range []string{"labels", "annotations"} {
		values, _ := meta[k].(map[string]any)
		maps.DeleteFunc(values, func(k string, _ any) bool {
			return strings.HasPrefix(k, "olm.operatorframework.io/") || k == "app.kubernetes.io/managed-by"
		})
		kept[k] = values
	}
	o["metadata"] = kept
	if texts, ok := o["stringData"].(map[string]any); ok && o["kind"] == "Secret" {
		data, _ := o["data"].(map[string]any)
		if data == nil {
			data = map[string]any{}
		}
		for k, v := range texts {
			text, _ := v.(string)
			data[k] = base64.StdEncoding.EncodeToString([]byte(text))
		}
		o["data"] = data
		delete(o, "stringData")
	}
	return o
}

// declared returns the part of a value that a or b declares. Elements of lists are those with
// the same names; elements without names are those at the same place, if the lists are equally
// long.
func declared(v, a, b any) any {
	switch v := v.(type) {
	case map[string]any:
		x, xOK := a.(map[string]any)
		y, yOK := b.(map[string]any)
		if !xOK && !yOK {
			return v
		}
		out := map[string]any{}
		for _, k := range union(x, y) {
			if have, ok := v[k]; ok {
				out[k] = declared(have, x[k], y[k])
			}
		}
		return out
	case []any:
		x, _ := a.([]any)
		y, _ := b.([]any)
		for _, name := range nameFields {
			have, first, second := index(v, name), index(x, name), index(y, name)
			if have == nil || first == nil || second == nil {
				continue
			}
			out := []any{}
			for _, e := range v {
				key := keyOf(e, name)
				_, inFirst := first[key]
				_, inSecond := second[key]
				if inFirst || inSecond {
					out = append(out, declared(e, first[key], second[key]))
				}
			}
			return out
		}
		if len(x) != len(v) {
			return v
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = declared(v[i], x[i], nil)
		}
		return out
	}
	return v
}

// dropEmpty removes false, and empty texts, lists and objects, which an API server may leave
// out.
func dropEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			e = dropEmpty(e)
			switch e := e.(type) {
			case nil:
				delete(v, k)
			case map[string]any:
				if len(e) == 0 {
					delete(v, k)
				}
			case []any:
				if len(e) == 0 {
					delete(v, k)
				}
			case bool:
				if !e {
					delete(v, k)
				}
			case string:
				if e == "" {
					delete(v, k)
				}
			}
		}
	case []any:
		for _, e := range v {
			dropEmpty(e)
		}
	}
	return v
}
