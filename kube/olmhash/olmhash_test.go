package olmhash_test

import (
	"slices"
	"testing"

	"github.com/olmkit/olmkit/kube/olmhash"
)

// E23: the hash of older OLM versions is right even if the template has empty metadata or
// its annotations contain text that looks like a template. The expected hashes were
// computed with OLM's DeepHashObject.
func TestDeployment(t *testing.T) {
	for spec, want := range map[string][]string{
		`{"template":{"metadata":{}}}`: {"cr2B35QMPpx2V99TvauN2UBcRisANar1nyAheL", "8TbW6TJCTLoxkUEkaGDDXcrBsKyVIglGXqimmw"},
		`{"template":{"metadata":{"annotations":{"a":"\"template\":{\"metadata\":{<&>"}},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}}}]}}}`: {"1d4KIAlys9G62BapvEumf5n3pUcOVLCIfZexzK", "6ef52YVqLPQES7nWkRpjbhidj9t0jeRtsyunM"},
	} {
		got, err := olmhash.Deployment([]byte(spec))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Deployment(%s) = %q, %v, want %q", spec, got, err, want)
		}
	}
	if _, err := olmhash.Deployment([]byte(`{"replicas":"one"}`)); err == nil {
		t.Error("an invalid spec has a hash")
	}
}
