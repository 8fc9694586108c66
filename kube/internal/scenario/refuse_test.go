package scenario_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// policy returns an admission policy that refuses the objects of a kind with a
// name, and its binding.
func policy(o olm.Object) []client.Object {
	group, version, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group, version = "", o.APIVersion
	}
	at := func(kind string, spec map[string]any) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": "refuse"}, "spec": spec,
		}}
	}
	return []client.Object{
		at("ValidatingAdmissionPolicy", map[string]any{
			"failurePolicy": "Fail",
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"apiGroups": []any{group}, "apiVersions": []any{version}, "resources": []any{strings.ToLower(o.Kind) + "s"}, "operations": []any{"CREATE", "UPDATE"},
			}}},
			"validations": []any{map[string]any{"expression": fmt.Sprintf("object.metadata.name != %q", o.Metadata.Name), "message": "not here"}},
		}),
		at("ValidatingAdmissionPolicyBinding", map[string]any{"policyName": "refuse", "validationActions": []any{"Deny"}}),
	}
}

// try creates an object as a dry run and returns the API server's error.
func (s *server) try(t *testing.T, o olm.Object) error {
	t.Helper()
	text, err := o.MarshalJSON()
	must(t, err)
	u := &unstructured.Unstructured{}
	must(t, u.UnmarshalJSON(text))
	return s.client.Create(t.Context(), u, client.DryRunAll)
}

// refuse makes the API server reject an object, and returns its error.
func (s *server) refuse(t *testing.T, o olm.Object) (refusal error) {
	t.Helper()
	for _, p := range policy(o) {
		must(t, s.client.Create(t.Context(), p))
	}
	for range 2_400 { // the API server notices policies with a delay
		if err := s.try(t, o); err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
			return errors.New(err.Error())
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s is not refused", o.Key())
	return nil
}

// permit undoes refuse.
func (s *server) permit(t *testing.T, o olm.Object) {
	t.Helper()
	for _, p := range policy(o) {
		must(t, client.IgnoreNotFound(s.client.Delete(t.Context(), p)))
	}
	var err error
	for range 2_400 {
		if err = s.try(t, o); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s is still refused: %v", o.Key(), err)
}
