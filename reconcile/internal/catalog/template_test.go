package catalog_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/reconcile/internal/catalog"
)

// E8: variables in the template are replaced, and unknown ones are errors.
func TestImageFromTemplate(t *testing.T) {
	for _, c := range []struct{ template, version, want, err string }{
		{"quay.io/example-org/example-catalog:v{kube_major_version}.{kube_minor_version}", "v1.25.3", "quay.io/example-org/example-catalog:v1.25", ""},
		{"quay.io/example-org/example-catalog:v{kube_major_version}.{kube_minor_version}.{kube_patch_version}", "1.25.3+k3s1", "quay.io/example-org/example-catalog:v1.25.3", ""},
		{"localhost:5000/a/b", "v1.25.3", "localhost:5000/a/b", ""},
		{"a/b:{kube_minor}-{x}-{x}", "v1.25.3", "", `catalog image template "a/b:{kube_minor}-{x}-{x}": {kube_minor}, {x} cannot be resolved`},
		{"a/b:{kube_minor_version}", "", "", `catalog image template "a/b:{kube_minor_version}": {kube_minor_version} cannot be resolved`},
		{"a/b:{kube_minor_version", "v1.25.3", "", `catalog image template: "a/b:{kube_minor_version" is not an image reference`},
		{"a b", "v1.25.3", "", `catalog image template: "a b" is not an image reference`},
		{"", "v1.25.3", "", `catalog image template: "" is not an image reference`},
	} {
		got, err := catalog.ImageFromTemplate(c.template, c.version)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("ImageFromTemplate(%q, %q) = %q, %v; want %q, %s", c.template, c.version, got, err, c.want, c.err)
		}
	}
}
