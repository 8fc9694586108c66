package bundlelint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// The name of a CSV is checked once, as the name of an object or as the value of a label.
func TestCSVName(t *testing.T) { // K233, K234
	for _, test := range []struct{ name, want string }{
		{strings.Repeat("a", 63), ""},
		{strings.Repeat("a", 64), "the name of the CSV has 64 bytes"},
		{strings.Repeat("a", 254), "no more than 253 characters"},
		{"Demo_v1", "a lowercase RFC 1123 subdomain"},
		{"", "a manifest of a bundle needs a name"},
	} {
		found := lint(t, example(t, fmt.Sprintf("kind: ClusterServiceVersion\nmetadata: {name: %q}\n", test.name)))
		switch {
		case test.want == "" && len(found) > 0, test.want != "" && (len(found) != 1 || !strings.Contains(found[0].Error(), test.want)):
			t.Errorf("%q: want %q, got\n%v", test.name, test.want, found)
		}
	}
}

// TestWebhookFields checks what the API server would refuse in a webhook (K235).
func TestWebhookFields(t *testing.T) {
	for _, test := range []struct{ fields, want string }{
		{"", ""},
		{"sideEffects: null", "sideEffects is missing"},
		{"sideEffects: Some", `sideEffects is "Some"`},
		{"sideEffects: NoneOnDryRun", ""},
		{"admissionReviewVersions: []", "admissionReviewVersions is missing"},
		{"timeoutSeconds: 30", ""},
		{"timeoutSeconds: 31", "timeoutSeconds is 31"},
		{"timeoutSeconds: 0", "timeoutSeconds is 0"},
		{"generateName: example.com", "its name has 2 parts"},
		{"containerPort: 70000", "containerPort 70000 is not a port"},
		{"type: FooWebhook", `type "FooWebhook" does not exist`},
	} {
		hook := map[string]any{}
		for _, text := range []string{`
type: ValidatingAdmissionWebhook
generateName: check.example.com
deploymentName: demo
containerPort: 9443
admissionReviewVersions: [v1]
sideEffects: None
rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [demos]}]
`, test.fields} {
			if err := yaml.Unmarshal([]byte(text), &hook); err != nil {
				t.Fatal(err)
			}
		}
		csv, err := yaml.Marshal(map[string]any{"kind": "ClusterServiceVersion", "spec": map[string]any{"webhookdefinitions": []any{hook}}})
		if err != nil {
			t.Fatal(err)
		}
		wantFinding(t, test.fields, lint(t, example(t, string(csv))), codes.BundleWebhookInvalid, test.want)
	}
}

// TestOwned compares the CRDs that a CSV owns with those of the bundle (K236).
func TestOwned(t *testing.T) {
	for _, test := range []struct {
		owned, want string
		code        fbc.Code
	}{
		{"{name: demos.example.com, kind: Demo, version: v1}", "", ""},
		{"{name: demos.example.com, kind: Demo, version: v9}", `owns version "v9" of CustomResourceDefinition "demos.example.com"`, codes.BundleCRDMissing},
		{"{name: demos.example.com, kind: Foo, version: v1}", `whose kind is Demo`, codes.BundleCRDMissing},
		{"{name: demos.example.com, kind: Demo, version: v1}, {name: demos.example.com, kind: Demo, version: v1}", "twice; remove one entry", codes.BundleCRDTwice},
		{"", "does not own CustomResourceDefinition", codes.BundleCRDUnowned},
	} {
		found := lint(t, example(t, "kind: ClusterServiceVersion\nspec: {customresourcedefinitions: {owned: ["+test.owned+"]}}\n"))
		wantFinding(t, test.owned, found, test.code, test.want)
	}
}

// TestRollout checks objects that OLM v1 cannot apply (K237).
func TestRollout(t *testing.T) {
	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i)
	}
	for _, test := range []struct {
		docs, want string
		code       fbc.Code
	}{
		{settings, "", ""},
		{settings + "---\n" + settings, "is in the bundle twice, or in the bundle and generated from its CSV; OLM v1 renders both", codes.BundleRollout},
		{settings + "---\n" + settings + "data: {a: b}\n", `ConfigMap "settings" is in the bundle twice`, codes.BundleObjectTwice},
		{strings.TrimPrefix(many.String(), "---\n"), "a ClusterObjectSet allows 50 in a phase", codes.BundleRollout},
	} {
		wantFinding(t, test.want, lint(t, example(t, test.docs)), test.code, test.want)
	}
}

// wantFinding checks that there is one finding, or none if text is "".
func wantFinding(t *testing.T, name string, found fbc.Diagnostics, code fbc.Code, text string) {
	t.Helper()
	switch {
	case text == "" && len(found) > 0, text != "" && (len(found) != 1 || found[0].Code != code || !strings.Contains(found[0].Error(), text)):
		t.Errorf("%s: want %s %q, got\n%v", name, code, text, found)
	case text != "" && (found[0].Pos.File == "" || found[0].Pos.Line == 0):
		t.Errorf("%s: no position: %v", name, found[0])
	}
}

// TestObjects checks what the API server would refuse in the objects of a bundle, with the line.
func TestObjects(t *testing.T) { // K233, K238, K239
	deployment := func(fields string) string {
		return "kind: ClusterServiceVersion\nspec:\n  install:\n    spec:\n      deployments:\n      - name: demo\n        spec:\n" + fields
	}
	const pinned = "example.com/demo@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	pod := func(fields string) string {
		return deployment("          selector: {matchLabels: {app: demo}}\n          template:\n            metadata: {labels: {app: demo}}\n            spec:\n" + fields)
	}
	container := func(fields string) string {
		return pod("              containers:\n              - name: demo\n                image: " + pinned + "\n                " + fields + "\n")
	}
	for _, test := range []struct {
		text, want string
		code       fbc.Code
	}{
		{container("ports: [{containerPort: 65535}]"), "", ""},
		{container("ports: [{containerPort: 70000}]"), "spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive", codes.BundleObjectInvalid},
		{container("volumeMounts: [{name: data, mountPath: /data}]"), `volumeMounts[0].name: Not found: "data"`, codes.BundleObjectInvalid},
		{container("env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), "must not be set if there is a value", codes.BundleObjectInvalid},
		{container("env: [{name: A, vaule: b}]"), "spec.install.spec.deployments[0].spec.template.spec.containers[0].env[0].vaule is not a field", codes.BundleFieldDropped},
		{container("resources: {requests: {cpu: 2}, limits: {cpu: 1}}"), "must be less than or equal to the limit of 1", codes.BundleObjectInvalid},
		{pod("              containers: []\n"), "spec.template.spec.containers: Required value: a pod needs a container", codes.BundleObjectInvalid},
		{deployment("          selector: {matchLabels: {app: other}}\n          template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: demo, image: '" + pinned + "'}]}}\n"), "the selector does not match the labels of the template", codes.BundleObjectInvalid},
		{"kind: ClusterServiceVersion\nspec: {install: {spec: {permissions: [{serviceAccountName: demo, rules: [{nonResourceURLs: [/metrics], verbs: [get]}]}]}}}\n", "", ""}, // a ClusterRole, as all namespaces are watched
		{"kind: ClusterServiceVersion\nmetadata: {annotations: {'a b': c}}\n", "metadata.annotations: Invalid value: \"a b\"", codes.BundleMetadata},
		{"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {'a/b': c}\n", `data[a/b]: Invalid value: "a/b"`, codes.BundleObjectInvalid},
		{"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {a: 1}\n", "data: Invalid value: must not be of type number", codes.BundleObjectInvalid},
		{"kind: Service\napiVersion: v1\nmetadata: {name: 1a}\nspec: {ports: [{port: 80}]}\n", "", ""},
		{"kind: Service\napiVersion: v1\nmetadata: {name: a}\nspec: {ports: [{port: 80}, {port: 81}]}\n", "a service with several ports needs their names", codes.BundleObjectInvalid},
	} {
		found := slices.DeleteFunc(lint(t, example(t, test.text)), func(d *fbc.Diagnostic) bool { return d.Code == codes.BundleImageUnlisted })
		if test.want == "" {
			if len(found) > 0 {
				t.Errorf("%s:\n%v", test.text, found)
			}
			continue
		}
		if !slices.ContainsFunc(found, func(d *fbc.Diagnostic) bool {
			return d.Code == test.code && strings.Contains(d.Error(), test.want) && d.Pos.Line > 1
		}) {
			t.Errorf("%s: want %s %q, got\n%v", test.text, test.code, test.want, found)
		}
	}
	old, err := Lint(t.Context(), example(t, "kind: Service\napiVersion: v1\nmetadata: {name: 1a}\nspec: {ports: [{port: 80}]}\n"), &Options{Kubernetes: version.MajorMinor(1, 35)})
	if err != nil || len(old.Findings) != 1 || old.Findings[0].Code != codes.BundleMetadata {
		t.Error(err, old.Findings)
	}
}

// TestLimitOfFindings checks that the limit on findings applies to bundles.
func TestLimitOfFindings(t *testing.T) { // A16
	var owned []string
	for i := range 20 {
		owned = append(owned, fmt.Sprintf("{name: a%d.example.com, kind: A, version: v1}", i))
	}
	files := example(t, "kind: ClusterServiceVersion\nspec: {customresourcedefinitions: {owned: ["+strings.Join(owned, ", ")+"]}}\n")
	r, err := Lint(t.Context(), files, &Options{Catalog: &fbc.Limits{Diagnostics: 5}})
	if err != nil || len(r.Findings) != 6 || r.Findings[5].Code != codes.Limit {
		t.Errorf("%v, %v", err, r.Findings)
	}
}
