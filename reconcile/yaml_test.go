package reconcile_test

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func fromYAML[T any](t *testing.T, text string) *T {
	t.Helper()
	v := new(T)
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}
