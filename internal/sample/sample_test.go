package sample_test

import (
	"slices"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
)

// The sample is what newcomers meet first: it must be a valid catalog.
func TestCatalogIsValid(t *testing.T) {
	cat, err := graph.Load(t.Context(), sample.Catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range cat.Findings() {
		t.Error(p)
	}
	var names []string
	for p := range cat.Packages() {
		names = append(names, p.Name())
	}
	want := []string{"argocd", "cert-manager", "etcd", "etcd-backup-tool", "grafana", "prometheus", "vault-operator"}
	if !slices.Equal(names, want) {
		t.Errorf("packages are %q, want %q", names, want)
	}
}
