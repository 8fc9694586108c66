package rollout

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	json, err := yaml.YAMLToJSON([]byte("{apiVersion: v1, kind: Service, metadata: {name: x}, " + text + "}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return o
}

const ownFields = `"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}`

// Only the fields that the revision declares count, whatever their values, and entries of
// lists are distinguished as the API server does.
func TestDrifted(t *testing.T) { // K86
	for _, test := range []struct {
		name, desired, fields string
		want                  bool
	}{
		{"a scalar", "spec: {a: 1}", `"f:spec":{"f:a":{}}`, false},
		{"more fields", "spec: {a: 1}", `"f:spec":{"f:a":{},"f:b":{}}`, false},
		{"a scalar that another has", "spec: {a: 1, b: 2}", `"f:spec":{"f:a":{}}`, true},
		{"a part that another has", "spec: {a: 1}, data: {b: c}", `"f:spec":{"f:a":{}}`, true},
		{"a label", "spec: {}", `"f:spec":{}`, false},
		{"null", "spec: {a: null}", `"f:spec":{}`, false},
		{"no fields", "spec: {a: 1}", ``, true},
		{"an atomic list", "spec: {a: [1, 2]}", `"f:spec":{"f:a":{}}`, false},
		{"an atomic map", "spec: {a: {b: c}}", `"f:spec":{"f:a":{}}`, false},
		{"keys", "spec: {ports: [{port: 80, name: a}]}", `"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:name":{}}}}`, false},
		{"keys in another order", "spec: {c: [{name: a, x: 1}, {name: b, z: 2}]}", `"f:spec":{"f:c":{"k:{\"name\":\"b\"}":{".":{},"f:name":{},"f:z":{}},"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:x":{}}}}`, false},
		{"an entry that somebody removed", "spec: {c: [{name: a}, {name: b}]}", `"f:spec":{"f:c":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, true},
		{"a field of an entry", "spec: {c: [{name: a, x: 1}]}", `"f:spec":{"f:c":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, true},
		{"two entries with a default key", "spec: {ports: [{port: 80, name: a}, {port: 80, protocol: UDP}]}",
			`"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:name":{}},"k:{\"port\":80,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}}}`, false},
		{"a set", "spec: {s: [a, b]}", `"f:spec":{"f:s":{"v:\"b\"":{},"v:\"a\"":{}}}`, false},
		{"an entry of a set that somebody removed", "spec: {s: [a, b]}", `"f:spec":{"f:s":{"v:\"b\"":{}}}`, true},
		{"positions", "spec: {s: [{a: 1}, {b: 2}]}", `"f:spec":{"f:s":{"i:0":{"f:a":{}},"i:1":{"f:b":{}}}}`, false},
		{"a position that somebody removed", "spec: {s: [{a: 1}, {b: 2}]}", `"f:spec":{"f:s":{"i:0":{"f:a":{}}}}`, true},
		{"status", "status: {a: 1}", ``, false},
	} {
		fields := ownFields
		if test.fields != "" {
			fields += "," + test.fields
		}
		live := parse(t, "spec: {a: 5}")
		live.SetUID("x")
		live.SetResourceVersion("7")
		live.SetManagedFields([]metav1.ManagedFieldsEntry{
			{Manager: FieldOwner, Operation: "Apply", FieldsV1: metav1.NewFieldsV1("{" + fields + "}")},
			{Manager: "other", Operation: "Apply", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{},"f:data":{}}`)},
			{Manager: FieldOwner, Subresource: "status", Operation: "Update", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{},"f:data":{}}`)},
		})
		w := &world{snapshot: &Snapshot{}}
		r := &Revision{UID: "u"}
		if got := w.drifted(r, parse(t, test.desired), live); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
		w.snapshot.Applied = map[types.UID]string{"x": "7"}
		if w.drifted(r, parse(t, test.desired), live) {
			t.Errorf("%s: drifted although nobody has changed it since", test.name)
		}
		w.snapshot.Applied["x"] = "6"
		if got := w.drifted(r, parse(t, test.desired), live); got != test.want {
			t.Errorf("%s: %t, want %t, since somebody has changed it", test.name, got, test.want)
		}
	}
}
