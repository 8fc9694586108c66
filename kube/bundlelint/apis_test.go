package bundlelint

import (
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
)

// TestDeprecated checks that the deprecated APIs include all those that client-go knows (K215).
func TestDeprecated(t *testing.T) {
	found := 0
	for gvk := range scheme.Scheme.AllKnownTypes() {
		o, err := scheme.Scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := o.(lifecycle); !ok {
			continue
		}
		found++
		if _, ok := lifecycleOf(gvk); !ok {
			t.Errorf("%v is deprecated, but not known", gvk)
		}
	}
	if found < 100 {
		t.Errorf("found only %d deprecated types", found)
	}
}
