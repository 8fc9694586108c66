package reconcile

import (
	"strings"
	"testing"
)

// The regular expressions of a CRD's schema are bounded before they are parsed (S2).
func TestSchemaPatterns(t *testing.T) {
	schema := func(pattern string) []byte {
		return []byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"` + pattern + `"}}}`)
	}
	if _, err := compileSchema(t.Context(), schema(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)); err != nil {
		t.Error(err)
	}
	for _, pattern := range []string{"(?i)" + strings.Repeat(`[B-\\x{1e942}]`, 1000), strings.Repeat(`((\\pL{10}){10}){10}`, 100)} {
		if _, err := compileSchema(t.Context(), schema(pattern)); err == nil || !strings.Contains(err.Error(), "cost too much") {
			t.Errorf("%.30s…: %v", pattern, err)
		}
	}
}
