package olm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
)

const csv = `{
	"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
	"metadata": {
		"name": "etcd.v1", "namespace": "ops", "uid": "1", "resourceVersion": "7", "creationTimestamp": "2024-01-02T03:04:05Z",
		"labels": {"b": "1", "a": "2"}, "annotations": {"capabilities": "Full"}, "managedFields": [{"manager": "x"}],
		"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "2", "controller": false, "extra": 1}]
	},
	"spec": {
		"displayName": "etcd", "icon": [{"base64data": "AA==", "mediatype": "image/png"}], "version": "1.0.0",
		"install": {"strategy": "deployment", "spec": {
			"deployments": [{"name": "etcd", "spec": {"replicas": 1, "template": {"spec": {"containers": []}}}, "other": {}}],
			"permissions": [{"serviceAccountName": "etcd", "rules": [{"verbs": ["*"], "apiGroups": [""], "resources": ["pods"], "new": true}]}]}},
		"customresourcedefinitions": {"owned": [{"name": "es.x.io", "version": "v1", "kind": "E", "specDescriptors": [{"path": "size"}]}]},
		"installModes": [{"type": "OwnNamespace", "supported": false}],
		"relatedImages": []
	},
	"status": {"phase": "Succeeded", "lastUpdateTime": "2024-01-02T03:04:05Z", "later": null, "cleanup": {}},
	"more": {"than": ["we", "know"]}
}`

func canonical(t *testing.T, text []byte) string {
	t.Helper()
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	if err := v.Indent(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// Members that a type does not know survive reading and writing, even inside a struct of
// another package.
func TestNothingIsLost(t *testing.T) {
	for name, read := range map[string]func([]byte) (any, error){
		"CSV": func(b []byte) (any, error) {
			var v olm.ClusterServiceVersion
			err := json.Unmarshal(b, &v)
			return v, err
		},
		"object": func(b []byte) (any, error) { var v olm.Object; err := json.Unmarshal(b, &v); return v, err },
		"converted": func(b []byte) (any, error) {
			var o olm.Object
			if err := json.Unmarshal(b, &o); err != nil {
				return nil, err
			}
			c, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				return nil, err
			}
			return olm.ToObject(c)
		},
	} {
		v, err := read([]byte(csv))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(canonical(t, []byte(csv)), canonical(t, got)); diff != "" {
			t.Errorf("%s: after a round trip (-want +got):\n%s", name, diff)
		}
	}
}

// Every kind keeps the members that it does not know.
func TestEveryKindKeepsUnknown(t *testing.T) {
	for _, v := range []any{
		new(olm.CatalogSource), new(olm.ClusterServiceVersion), new(olm.CustomResourceDefinition), new(olm.Deployment),
		new(olm.InstallPlan), new(olm.Namespace), new(olm.OLMConfig), new(olm.Object), new(olm.OperatorCondition),
		new(olm.OperatorGroup), new(olm.Role), new(olm.RoleBinding), new(olm.Subscription),
	} {
		if err := json.Unmarshal([]byte(`{"kind":"K","metadata":{"x":1},"spec":{"x":1},"status":{"x":1},"x":1}`), v); err != nil {
			t.Errorf("%T: %v", v, err)
			continue
		}
		text, err := json.Marshal(v)
		if err != nil || bytes.Count(text, []byte(`"x":1`)) != 4 {
			t.Errorf("%T: got %s, %v; want x everywhere", v, text, err)
		}
	}
}

func TestUnmarshalStartsAnew(t *testing.T) {
	var c olm.ClusterServiceVersion
	for _, text := range []string{csv, `{"metadata": {"name": "b"}}`} {
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
	}
	if c.Spec.Version != "" || c.Metadata.Name != "b" || c.Rest != nil {
		t.Errorf("second object kept something of the first: %+v", c)
	}
}

func TestAsError(t *testing.T) {
	var o olm.Object
	if err := json.Unmarshal([]byte(`{"kind":"ClusterServiceVersion","metadata":{"name":"a","namespace":"n"},"spec":{"installModes":3}}`), &o); err != nil {
		t.Fatal(err)
	}
	_, err := olm.As[olm.ClusterServiceVersion](o)
	const want = `ClusterServiceVersion n/a: /spec/installModes: want a list, found a number`
	if err == nil || err.Error() != want {
		t.Errorf("got error %v\nwant %s", err, want)
	}
}

func TestIsCopied(t *testing.T) {
	for text, want := range map[string]bool{
		`{"metadata":{"namespace":"a"}}`:                                             false,
		`{"metadata":{"namespace":"a","annotations":{"olm.operatorNamespace":"a"}}}`: false,
		`{"metadata":{"namespace":"a","annotations":{"olm.operatorNamespace":"b"}}}`: true,
		`{"metadata":{"namespace":"a","labels":{"olm.copiedFrom":"b"}}}`:             true,
		`{"metadata":{"namespace":"a"},"status":{"reason":"Copied"}}`:                true,
	} {
		var c olm.ClusterServiceVersion
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if got := olm.IsCopied(&c); got != want {
			t.Errorf("IsCopied(%s) = %v, want %v", text, got, want)
		}
	}
}

func ExampleObject_Get() {
	var o olm.Object
	if err := json.Unmarshal([]byte(`{"kind": "Deployment", "metadata": {"name": "etcd"}, "spec": {"replicas": 3}}`), &o); err != nil {
		fmt.Println(err)
		return
	}
	replicas, _ := o.Get("spec", "replicas")
	fmt.Printf("%s %s\n", o.Key(), replicas)
	// Output: Deployment etcd 3
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(csv))
	f.Add([]byte(`{"metadata":{"creationTimestamp":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var o olm.Object
		if json.Unmarshal(text, &o) != nil {
			return
		}
		first, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if err := json.Unmarshal(first, &o); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		second, err := json.Marshal(o)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("not stable: %s then %s (%v)", first, second, err)
		}
		if c, err := olm.As[olm.ClusterServiceVersion](o); err == nil {
			if _, err := olm.ToObject(c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestEqualJSON(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1,2]}`, ` {"b": [1, 2], "a": 1.0}`, true},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`"<"`, `"\u003c"`, true},
		{``, ``, true},
		{`no json`, `no json`, true},
		{`no json`, `{}`, false},
		{`{"a":1,"a":1}`, `{"a":1}`, false},
	} {
		a, b := []byte(tt.a), []byte(tt.b)
		if got := olm.EqualJSON(a, b); got != tt.want || string(a) != tt.a || string(b) != tt.b {
			t.Errorf("EqualJSON(%s, %s) = %v, want %v; they are now %s and %s", tt.a, tt.b, got, tt.want, a, b)
		}
	}
}

// D15: every process describes the same fault in the same words. The texts of the JSON package
// vary between processes.
func TestUnmarshalErrors(t *testing.T) {
	type list struct {
		Items []olm.Subscription `json:"items"`
	}
	for _, tt := range []struct{ text, want string }{
		{`{"items":{}}`, `/items: want a list, found an object`},
		{`{"items":[{},{"spec":3}]}`, `/items/1/spec: want an object, found a number`},
		{`{"items":[{"metadata":{"labels":{"a/b":true}}}]}`, `/items/0/metadata/labels/a~1b: want a string, found a boolean`},
		{`{"items":[{"metadata":{"generation":"1"}}]}`, `/items/0/metadata/generation: want a number, found a string`},
		{`{"items":[{"metadata":{"creationTimestamp":[]}}]}`, `/items/0/metadata/creationTimestamp: want a time, found a list`},
		{`{"items":[{"metadata":{"creationTimestamp":"soon"}}]}`, `/items/0/metadata/creationTimestamp: parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"`},
		{`[]`, `want an object, found a list`},
		{`{"items":[}`, `jsontext: invalid character '}' at start of value within "/items/0" after offset 10`},
	} {
		var v list
		if err := olm.Unmarshal([]byte(tt.text), &v); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got error %v\nwant %s", tt.text, err, tt.want)
		}
	}
}
