package bundlelint

import (
	"fmt"
	"strings"
	"testing"

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
		{settings + "---\n" + settings, "is included once; OLM v1 renders it twice", codes.BundleRollout},
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
