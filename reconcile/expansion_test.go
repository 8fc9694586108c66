package reconcile_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/reconcile"
)

// The expansion of aliases in a bundle's manifests is bounded, for each manifest and for all
// of them (S1).
func TestManifestExpansion(t *testing.T) {
	blob := func(aliases int) []byte {
		text := "kind: ConfigMap\nmetadata: {name: a}\nx: &a " + strings.Repeat("A", 1<<16) + "\ny: [" + strings.Repeat("*a,", aliases) + "]\n"
		one := `{"type":"olm.bundle.object","value":{"data":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}}`
		return []byte(`{"properties":[` + one + "," + one + "]}")
	}
	if objects, err := reconcile.BundleObjects(blob(10)); len(objects) != 2 || err != nil {
		t.Errorf("%d objects, %v", len(objects), err)
	}
	for aliases, property := range map[int]string{600: "/properties/1", 1100: "/properties/0"} {
		var limit *yamljson.LimitError
		if _, err := reconcile.BundleObjects(blob(aliases)); !errors.As(err, &limit) || !strings.HasPrefix(err.Error(), property) {
			t.Errorf("with %d aliases in each manifest: %v", aliases, err)
		}
	}
	tags := "%TAG !e! tag:x\n---\nkind: ConfigMap\nmetadata: {name: a}\nx: !e!y z\n"
	bundle := `{"properties":[{"type":"olm.bundle.object","value":{"data":"` + base64.StdEncoding.EncodeToString([]byte(tags)) + `"}}]}`
	if _, err := reconcile.BundleObjects([]byte(bundle)); err == nil || !strings.Contains(err.Error(), "%TAG") {
		t.Errorf("with a directive for tags: %v", err)
	}
}
