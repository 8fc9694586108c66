package impact

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestFields(t *testing.T) { // K241
	for name, test := range map[string]struct {
		live, applied, desired string
		want                   []string
	}{
		"what the cluster and users add": {
			live: `
metadata: {name: d, uid: u, resourceVersion: "5", annotations: {theirs: x, olm.operatorframework.io/revision: "1"}, labels: {a: b}}
spec:
  replicas: 1
  progressDeadlineSeconds: 600
  template:
    spec:
      restartPolicy: Always
      containers:
      - {name: c, image: i:1, imagePullPolicy: IfNotPresent, resources: {limits: {cpu: 500m}}, env: [{name: A, value: "1"}, {name: B, value: theirs}]}
      - {name: injected, image: proxy}
status: {replicas: 1}`,
			desired: `
metadata: {name: d, annotations: {olm.operatorframework.io/revision: "2"}, labels: {a: b, olm.operatorframework.io/owner-name: e}}
spec:
  replicas: 1
  strategy: {}
  template:
    metadata: {creationTimestamp: null}
    spec: {containers: [{name: c, image: "i:1", resources: {limits: {cpu: "0.5"}}, env: [{name: A, value: "1"}]}]}`,
		},
		"changed, added, removed": {
			live:    `{spec: {a: 1, b: {c: x, d: was}, list: [{name: one, v: 1}, {name: old}, {name: theirs}]}}`,
			applied: `{spec: {a: 1, b: {c: x, d: was}, list: [{name: one, v: 1}, {name: old}]}}`,
			desired: `{spec: {a: 2, b: {c: x, e: z}, list: [{name: one, v: 1}]}}`,
			want: []string{
				"Deployment d: .spec.a changes from 1 to 2", `Deployment d: .spec.b.d is removed: "was"`, `Deployment d: .spec.b.e is added: "z"`,
				`Deployment d: .spec.list[old] is removed: {"name":"old"}`,
			},
		},
		"drift": {
			live: `{spec: {replicas: 3, ports: [{port: 80, protocol: UDP}]}}`, desired: `{spec: {replicas: 0, ports: [{port: 80}]}}`,
			want: []string{"Deployment d: .spec.replicas changes from 3 to 0"},
		},
		"lists without names": {
			live: `{rules: [{verbs: [get], scope: "*"}], subjects: [{kind: A}]}`, desired: `{rules: [{verbs: [get]}], subjects: [{kind: A}, {kind: B}]}`,
			want: []string{`Deployment d: .subjects[] is added: {"kind":"B"}`},
		},
		"the data of Secrets": {
			live: `{kind: Secret, data: {a: eA==, b: eQ==}}`, desired: `{kind: Secret, stringData: {a: x, b: other}}`,
			want: []string{"Secret d: .data.b changes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := func(text string) *unstructured.Unstructured {
				if text == "" {
					return nil
				}
				o := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
					t.Fatal(err)
				}
				o.Object = normal(o.Object).(map[string]any)
				if o.GetKind() == "" {
					o.SetKind("Deployment")
				}
				o.SetName("d")
				return o
			}
			var got []string
			for _, c := range Fields(object(test.live), object(test.applied), object(test.desired)) {
				got = append(got, c.Message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// normal returns a value with the numbers that Kubernetes' decoders give it.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = normal(e)
		}
	case []any:
		for i, e := range v {
			v[i] = normal(e)
		}
	case float64:
		return int64(v)
	}
	return v
}
