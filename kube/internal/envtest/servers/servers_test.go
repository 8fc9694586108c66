package servers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Find returns the servers if they were built from the current sources. Otherwise its error
// contains the command that builds them.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built := func() {
		t.Helper()
		d, err := digest(dir)
		if err != nil {
			t.Fatal(err)
		}
		write("bin/"+sources, d)
	}
	check := func(want string) {
		t.Helper()
		bin, err := Find(dir)
		switch {
		case want == "" && (err != nil || bin != filepath.Join(dir, "bin")):
			t.Errorf("got %q, error %v", bin, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "run make setup")):
			t.Errorf("got error %v, want %q and the command", err, want)
		}
	}
	write("go.mod", "module m\n")
	write("go.sum", "")
	check("not built")
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("not built")
	built()
	check("kube-apiserver")
	write("bin/kube-apiserver", "")
	check("etcd")
	write("bin/etcd", "")
	check("kubectl")
	write("bin/kubectl", "")
	check("")
	write("go.sum", "changed\n")
	check("out of date")
	built()
	check("")
}

// Dir returns the directory of the module that builds the servers, from any directory of
// module kube.
func TestDir(t *testing.T) {
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.Contains(string(mod), "/kube/internal/testserver\n") {
		t.Errorf("%s has a go.mod of %q, error %v", dir, mod, err)
	}
	if !strings.Contains(string(mod), "k8s.io/kubernetes "+version+" ") {
		t.Errorf("go.mod does not require Kubernetes %s", version)
	}
}

// Modules that both the servers and kube require have the same version in both, so that
// they are compiled only once. They are more than half of the servers' code.
func TestCommonVersions(t *testing.T) {
	// Kubernetes does not build, or behaves differently, with other versions of these.
	own := []string{
		"github.com/google/cel-go", "github.com/antlr4-go/antlr/v4", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/trace",
	}
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	versions := func(dir string) map[string]string {
		t.Helper()
		text, err := Go(dir, "mod", "edit", "-json")
		if err != nil {
			t.Fatal(err)
		}
		type module struct{ Path, Version string }
		var mod struct {
			Require []module
			Replace []struct{ Old, New module }
		}
		if err := json.Unmarshal([]byte(text), &mod); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, m := range mod.Require {
			out[m.Path] = m.Version
		}
		for _, r := range mod.Replace {
			out[r.Old.Path] = r.New.Version
		}
		return out
	}
	tests, common := versions(filepath.Join(dir, "..", "..")), 0
	for path, v := range versions(dir) {
		if want := tests[path]; want != "" && want != v && !slices.Contains(own, path) {
			t.Errorf("the servers require %s %s, and kube requires %s; run go get %[1]s@%[3]s in kube/internal/testserver", path, v, want)
		} else if want != "" {
			common++
		}
	}
	if common < 40 {
		t.Errorf("only %d modules are required by both", common)
	}
}
