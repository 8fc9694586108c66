package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReferenceOf checks which arguments are images and which are paths.
func TestReferenceOf(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"quay.io/exists/catalog:v1", "oci:exists"} {
		if err := os.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, tt := range []struct{ arg, text, base string }{
		{"docker://quay.io/operatorhubio/catalog:latest", "docker://quay.io/operatorhubio/catalog:latest", "catalog"},
		{"quay.io/operatorhubio/catalog:latest", "docker://quay.io/operatorhubio/catalog:latest", "catalog"},
		{"quay.io/operatorhubio/catalog" + digest, "docker://quay.io/operatorhubio/catalog" + digest, "catalog"},
		{"localhost/catalog:v1", "docker://localhost/catalog:v1", "catalog"},
		{"registry:5000/a/b:v1", "docker://registry:5000/a/b:v1", "b"},
		{"docker://catalog", "docker://catalog", "catalog"},
		{"oci:layout", "oci:layout", "layout"},
		{"oci:dir/layout:v4.16", "oci:dir/layout:v4.16", "layout"},
		{"oci-archive:a/catalog.tar", "oci-archive:a/catalog.tar", "catalog"},
		{"docker-archive:-", "docker-archive:-", "stdin"},
		{"dir:/tmp/saved", "dir:/tmp/saved", "saved"},
		{"https://catalogd.example/catalogs/operatorhubio/", "https://catalogd.example/catalogs/operatorhubio/", "operatorhubio"},
		{"https://catalogd.example/catalogs/community/api/v1/all", "https://catalogd.example/catalogs/community/api/v1/all", "community"},
		{"quay.io/exists/catalog:v1", "", ""}, // an existing path has precedence
		{"oci:exists", "", ""},
		{"quay.io/operatorhubio/catalog", "", ""}, // neither tag nor digest
		{"./a.b/c:v1", "", ""},
		{"../a.b/c:v1", "", ""},
		{"/a.b/c:v1", "", ""},
		{"dir/c:v1", "", ""},
		{"community:localhost:5000/c:v1", "", ""},
		{`C:\catalog`, "", ""},
		{"oci:", "", ""},
		{"-", "", ""},
		{samplePath, "", ""},
	} {
		ref, ok := referenceOf(tt.arg)
		if ok != (tt.text != "") || ref.text != tt.text || ok && ref.base() != tt.base {
			t.Errorf("referenceOf(%q) = %q, %q, %t; want %q, %q", tt.arg, ref.text, ref.base(), ok, tt.text, tt.base)
		}
	}
}
