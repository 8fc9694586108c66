package impact

import (
	"strings"
	"testing"
)

// TestLines checks which changes are stated together (K224, K225, K226, K228). All of them are in the report.
func TestLines(t *testing.T) {
	const image = "example.com/demo@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	next := strings.Replace(image, "0123", "3210", 1)
	deployment := func(metadata, container string) string {
		return `kind: ClusterServiceVersion
spec:
  relatedImages: null
  install:
    spec:
      deployments:
      - name: demo
        spec:
          selector: {matchLabels: {app: demo}}
          template:
            metadata: {labels: {app: demo}` + metadata + `}
            spec:
              serviceAccountName: demo
              securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
              containers:
              - {name: demo, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}, ` + container + `}
`
	}
	fields := func(above, keywords string) string {
		one := "{type: object" + keywords + ", properties: {name: {type: string" + strings.Replace(keywords, "x-kubernetes-map-type: atomic", `default: ""`, 1) + "}}}"
		return `kind: CustomResourceDefinition
metadata: {name: extras.example.com}
spec:
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object` + above + `, properties: {a: ` + one + ", b: " + one + "}}}}}\n"
	}
	settings := func(metadata string) string {
		return "kind: ConfigMap\nmetadata: {name: settings" + metadata + "}\n"
	}
	admin := `kind: ClusterServiceVersion
spec: {install: {spec: {clusterPermissions: [{serviceAccountName: demo, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}]}}}
`
	for _, test := range []struct {
		name, old, new string
		class          Class
		want           string
	}{
		{"the same change of two fields, and a level below", fields("", ""), fields("", ", x-kubernetes-map-type: atomic"), CRDs, `
			breaks 1 OLM v1 refuses the change to CRD extras.example.com, although all custom resources stay valid; "olmkit crd-safety --as-upstream" shows why
			look 2 CRD extras.example.com: version v1: x-kubernetes-map-type added: "atomic", so server-side apply replaces the object as a whole, and its field managers conflict; at 2 fields below .spec: .a, .b
			look 2 CRD extras.example.com: version v1: default added: ""; at 2 fields below .spec: .a.name, .b.name`},
		{"a field and fields below it", fields("", ""), fields(", maxProperties: 1", ", maxProperties: 1"), CRDs, `
			breaks 5 CRD extras.example.com: version v1: maxProperties added: 1; at 5 fields: .spec, .spec.a, .spec.a.name, .spec.b, .spec.b.name`},
		{"new fields of a CRD", "", fields("", ""), CRDs, `
			safe 1 CRD extras.example.com: version v1: .spec is added: {"properties":{"a":{"properties":{"name":{"type":"string"}},"type":"object"},"b":{"properties":{"name":{"type":"string"}…`},
		{"more new fields of a CRD", fields("", ""), strings.ReplaceAll(fields("", ""), "name: {type: string}", "name: {type: string}, x: {type: integer}, z: {type: string}"), CRDs, `
			safe 4 CRD extras.example.com: version v1: 4 fields are added below .spec: .a.x, .a.z, .b.x, .b.z`},
		{"resources of a container", deployment("", `image: "`+image+`", resources: {limits: {cpu: "1", memory: 1Gi}}`), deployment("", `image: "`+image+`"`), Workloads, `
			safe 1 Deployment demo/demo: the cpu limit of container demo is removed; it was 1
			safe 1 Deployment demo/demo: the memory limit of container demo is removed; it was 1Gi`},
		{"long values that differ at the end", settings(""), settings("") + "data: {a: " + strings.Repeat("x", 200) + "1, b: " + strings.Repeat("x", 200) + "2}\n", Objects, `
			safe 1 ConfigMap demo/settings: .data.a is added: "` + strings.Repeat("x", 119) + `…
			safe 1 ConfigMap demo/settings: .data.b is added: "` + strings.Repeat("x", 119) + `…`},
		{"an image, in a container and a variable", deployment("", `image: "`+image+`", env: [{name: RELATED, value: "`+image+`"}]`), deployment("", `image: "`+next+`", env: [{name: RELATED, value: "`+next+`"}]`), Objects, `
			safe 2 Deployment demo/demo: 2 images change, see images: container demo, variable RELATED`},
		{"a new variable with an image", deployment("", `image: "example.com/demo:1", env: [{name: A, value: "1"}]`), deployment("", `image: "example.com/demo:1", env: [{name: A, value: "1"}, {name: RELATED_IMAGE_B, value: "example.com/b:1"}, {name: C, value: "2"}]`), Objects, `
			safe 1 Deployment demo/demo: .spec.template.spec.containers[demo].env[C] is added: {"name":"C","value":"2"}
			safe 1 Deployment demo/demo: 1 image is added, see images: variable RELATED_IMAGE_B`},
		{"the digest of a repository", deployment("", `image: "`+image+`"`), deployment("", `image: "`+next+`"`), Images, `
			safe 2 image example.com/demo changes from sha256:0123456789ab… to sha256:3210456789ab…`},
		{"another tag", deployment("", `image: "localhost:5000/demo:1"`), deployment("", `image: "localhost:5000/demo:2"`), Images, `
			safe 2 image localhost:5000/demo changes from 1 to 2, still without a digest`},
		{"an image that is gone, and one that loses its digest", deployment("", `image: "`+image+`", env: [{name: A, value: x}]`), deployment("", `image: "example.com/other:1", env: [{name: A, value: w}]`), Images, `
			look 1 image example.com/other:1 is new and has no digest, so its content can change
			safe 1 image example.com/demo@sha256:0123456789ab… is dropped`},
		{"a variable that is not an image", deployment("", `image: "`+image+`", env: [{name: A, value: x}, {name: B, value: x}]`), deployment("", `image: "`+image+`", env: [{name: A, value: w}, {name: B, value: z}]`), Objects, `
			safe 1 Deployment demo/demo: .spec.template.spec.containers[demo].env[A].value changes from "x" to "w"
			safe 1 Deployment demo/demo: .spec.template.spec.containers[demo].env[B].value changes from "x" to "z"`},
		{"an image in an annotation", deployment(`, annotations: {operand: "example.com/x:1", other: "1"}`, `image: "example.com/x:1"`), deployment(`, annotations: {operand: "example.com/x:2", other: "2"}`, `image: "example.com/x:2"`), Objects, `
			safe 2 Deployment demo/demo: 2 images change, see images: annotation operand, container demo
			safe 1 Deployment demo/demo: .spec.template.metadata.annotations.other changes from "1" to "2"`},
		{"labels", settings(", labels: {x: a, a.b/c: a}"), settings(", labels: {x: b, a.b/c: b, d: e}"), Objects, `
			safe 3 ConfigMap demo/settings: 3 labels change: a.b/c, d, x`},
		{"labels that are removed", settings(", labels: {x: a, a.b/c: a, d: e}"), settings(", labels: {d: e}"), Objects, `
			safe 2 ConfigMap demo/settings: 2 labels are removed: a.b/c, x`},
		{"labels of two objects", "", settings(", labels: {x: a, w: a}") + "---\nkind: Service\nmetadata: {name: metrics, labels: {x: a, w: a}}\n", Objects, `
			safe 1 ConfigMap demo/settings: .metadata.labels is added: {"w":"a","x":"a"}
			safe 1 Service demo/metrics: .metadata.labels is added: {"w":"a","x":"a"}`},
		{"more labels of two objects", settings(", labels: {z: a}") + "---\nkind: Service\nmetadata: {name: metrics, labels: {z: a}}\n", settings(", labels: {x: a, w: a, z: a}") + "---\nkind: Service\nmetadata: {name: metrics, labels: {x: a, w: a, z: a}}\n", Objects, `
			safe 2 ConfigMap demo/settings: 2 labels are added: w, x
			safe 2 Service demo/metrics: 2 labels are added: w, x`},
		{"dangers first", "", admin + "---\nkind: ClusterRoleBinding\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: a}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: unknown}\nsubjects: [{kind: Group, name: a}]\n", Permissions, `
			look 2 dangerous: the operator can now do everything, like cluster-admin, in all namespaces
			look 1 Group a is bound to role unknown, which has rules from outside of the bundle`},
		{"a wildcard", "", strings.Replace(admin, `apiGroups: ["*"], resources: ["*"]`, `apiGroups: [apps], resources: [controllerrevisions]`, 1), Permissions, `
			look 2 dangerous: the operator can now use every verb on controllerrevisions of apps cluster-wide, a wildcard`},
		{"everything", "", admin, Permissions, `
			look 2 dangerous: the operator can now do everything, like cluster-admin, in all namespaces`},
	} {
		r, err := Compare(t.Context(), Bundle{Bundle: patched(t, test.old, nil)}, Bundle{Bundle: patched(t, test.new, nil)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		n := 0
		for _, l := range r.Lines(test.class) {
			if l.Subject == "" && (test.class == Objects || test.class == Workloads) {
				t.Errorf("%s: %q has no subject", test.name, l.Text)
			}
			if l.Verdict == Safe && test.class == Permissions {
				continue
			}
			got.WriteString("\n\t\t\t" + string(l.Verdict) + " " + string('0'+rune(l.Changes)) + " " + l.String())
			n += l.Changes
		}
		if got.String() != test.want {
			t.Errorf("%s: got:%s\nwant:%s", test.name, got.String(), test.want)
		}
		if all := len(r.Of(test.class).Changes); test.class != Permissions && n != all {
			t.Errorf("%s: the lines state %d changes of %d", test.name, n, all)
		}
	}
}

// TestMostFields checks that a line does not name any number of fields.
func TestMostFields(t *testing.T) {
	many := strings.Split(strings.Repeat("x,", mostFields+3), ",")[:mostFields+2]
	if got := some(many); strings.Count(got, "x") != mostFields || !strings.HasSuffix(got, " and 2 more") {
		t.Error(got)
	}
}
