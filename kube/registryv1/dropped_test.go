package registryv1

import (
	"strings"
	"testing"
)

// TestDropped checks which fields are reported as dropped (K239).
func TestDropped(t *testing.T) {
	b, err := Read(t.Context(), memory{
		annotationsFile: []byte("annotations: {}"),
		"manifests/a.yaml": []byte(`# a comment
---
kind: ClusterServiceVersion
apiVersion: operators.coreos.com/v1alpha1
metadata: {name: demo, labels: {anything: goes}}
spec:
  displayname: demo
  install:
    spec:
      deployments:
      - name: demo
        name: demo2
        spec:
          template: {spec: {containers: [{name: a, resources: {limits: {anything/goes: 1}}, env: [{name: A, vaule: b}], ports: [{containerPort: 1, port: 2}]}]}}
`),
		"manifests/b.yaml": []byte(`kind: ConfigMap
apiVersion: v1
metadata: {name: b}
data: {a: b, a: c}
spec: {}
---
kind: ConsoleLink
apiVersion: console.openshift.io/v1
metadata: {name: c}
spec: {anything: goes, anything: twice}
`),
		"manifests/c.yaml": []byte(`# a list
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: one}
  dta: {}
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: two, nam: x}}
`),
		"manifests/d.yaml": []byte("kind: List\napiVersion: v1\nitems: [\n{kind: ConfigMap, apiVersion: v1,\n metadata: {name: only},\n spec: {}}]\n"),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `manifests/a.yaml:7: spec.displayname is not a field, and is dropped; correct its name or its place
manifests/a.yaml:12: spec.install.spec.deployments[0].name is repeated, and only the last one counts; remove the others
manifests/a.yaml:14: spec.install.spec.deployments[0].spec.template.spec.containers[0].env[0].vaule is not a field, and is dropped; correct its name or its place
manifests/a.yaml:14: spec.install.spec.deployments[0].spec.template.spec.containers[0].ports[0].port is not a field, and is dropped; correct its name or its place
manifests/b.yaml:4: data.a is repeated, and only the last one counts; remove the others
manifests/b.yaml:5: spec is not a field, and is dropped; correct its name or its place
manifests/b.yaml:10: spec.anything is repeated, and only the last one counts; remove the others
manifests/c.yaml:8: dta is not a field, and is dropped; correct its name or its place
manifests/c.yaml:12: metadata.nam is not a field, and is dropped; correct its name or its place
manifests/d.yaml:6: spec is not a field, and is dropped; correct its name or its place`
	var got []string
	for _, m := range b.Others {
		if m.Object.GetName() == "one" && m.Line != 5 || m.Object.GetName() == "only" && m.Line != 4 {
			t.Errorf("%s is at %v", m.Object.GetName(), m.Pos)
		}
	}
	for _, p := range b.Dropped() {
		got = append(got, p.String())
	}
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
