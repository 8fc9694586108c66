package registryv1

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/golden"
)

// A caseOptions is the file "options" of a case.
type caseOptions struct {
	Namespace     string
	Config        any
	Certificates  string
	AddNamespaces bool
	Show          []string // the kinds whose objects are shown in full
}

// TestCases renders small bundles, each with one special feature, both by default and with
// AsUpstream. The file "spec" replaces fields in the spec of a CSV that installs one
// Deployment.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/case/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var opts caseOptions
			fsys := caseFiles(t, a, &opts)
			got := map[string]string{
				"want":     caseResult(t, fsys, opts, false),
				"upstream": caseResult(t, fsys, opts, true),
			}
			if got["upstream"] == got["want"] {
				delete(got, "upstream")
			}
			if golden.Update() {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" || f.Name == "upstream" })
				for _, name := range []string{"want", "upstream"} {
					if text := got[name]; text != "" {
						a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
					}
				}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := map[string]string{}
			for _, f := range a.Files {
				if f.Name == "want" || f.Name == "upstream" {
					want[f.Name] = string(f.Data)
				}
			}
			for _, name := range []string{"want", "upstream"} {
				if got[name] != want[name] {
					t.Errorf("%s:\n%s\nwant:\n%s", name, got[name], want[name])
				}
			}
		})
	}
}

// caseCSV is the ClusterServiceVersion of cases.
const caseCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: demo.v1.0.0
spec:
%s`

const caseSpec = `
version: 1.0.0
installModes:
- {type: AllNamespaces, supported: true}
install:
  strategy: deployment
  spec:
    deployments:
    - name: ctrl
      spec:
        selector: {matchLabels: {app: ctrl}}
        template:
          metadata: {labels: {app: ctrl}}
          spec: {containers: [{name: main, image: "example.com/demo:1"}]}
`

// A memory is a file system in memory: a map from file names to contents.
type memory map[string][]byte

// Open implements fs.FS.
func (m memory) Open(name string) (fs.File, error) {
	files := fstest.MapFS{}
	for name, text := range m {
		files[name] = &fstest.MapFile{Data: text, Mode: 0o444}
	}
	return files.Open(name)
}

// caseFiles returns the bundle of a case.
func caseFiles(t testing.TB, a *txtar.Archive, opts *caseOptions) memory {
	t.Helper()
	fsys := memory{annotationsFile: []byte("annotations: {" + packageAnnotation + ": demo}\n")}
	spec := map[string]any{}
	fragment := map[string]any{}
	if err := yaml.Unmarshal([]byte(caseSpec), &spec); err != nil {
		t.Fatal(err)
	}
	csv := true
	for _, f := range a.Files {
		var err error
		switch {
		case f.Name == "spec":
			err = yaml.UnmarshalStrict(f.Data, &fragment)
		case f.Name == "options":
			err = yaml.UnmarshalStrict(f.Data, opts)
		case f.Name == "without":
			for _, name := range strings.Fields(string(f.Data)) {
				delete(fsys, name)
				csv = csv && name != "csv"
			}
		case strings.Contains(f.Name, "/"):
			fsys[f.Name] = f.Data
		case f.Name != "want" && f.Name != "upstream":
			t.Fatalf("unknown file %q", f.Name)
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	for k, v := range fragment {
		spec[k] = v
	}
	if opts.Namespace == "" {
		opts.Namespace = "ops"
	}
	if _, ok := fsys["manifests/csv.yaml"]; !ok && csv {
		text, err := yaml.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		fsys["manifests/csv.yaml"] = fmt.Appendf(nil, caseCSV, "  "+strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ")+"\n")
	}
	return fsys
}

// caseResult returns the result of rendering a case: the problems, or the names of the
// objects by phase, the objects that it shows, and the differences.
func caseResult(t *testing.T, fsys memory, opts caseOptions, upstream bool) string {
	t.Helper()
	var out bytes.Buffer
	b, err := Read(t.Context(), fsys, nil)
	var m *Manifests
	if err == nil {
		ro := RenderOptions{Namespace: opts.Namespace, AddNamespaces: opts.AddNamespaces, AsUpstream: upstream}
		ro.Certificates, _ = ParseCertProvider(opts.Certificates)
		if opts.Config != nil {
			if ro.Config, err = yaml.Marshal(opts.Config); err != nil {
				t.Fatal(err)
			}
		}
		m, err = b.Render(t.Context(), ro)
	} else if upstream {
		err = AsUpstream(err)
	}
	if err != nil {
		e, ok := err.(*Error)
		if !ok {
			t.Fatal(err)
		}
		for _, p := range e.Problems {
			fmt.Fprintf(&out, "%s %s %q\n", p.Stage, p.Code, p.Subject)
		}
		fmt.Fprintf(&out, "%v\n", e)
		return out.String()
	}
	for _, p := range m.Phases {
		fmt.Fprintf(&out, "# %s\n", p.Name)
		for _, o := range p.Objects {
			fmt.Fprintln(&out, Key(o))
		}
	}
	for _, d := range m.Differences {
		fmt.Fprintf(&out, "# %s %s %s\n", d.Rule, d.Object, d.Message)
	}
	for _, o := range m.Objects() {
		if slices.Contains(opts.Show, o.GetKind()) {
			fmt.Fprintf(&out, "---\n%s", caseYAML(t, o))
		}
	}
	return out.String()
}

func caseYAML(t *testing.T, o *unstructured.Unstructured) []byte {
	t.Helper()
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
