package action

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/realcat"
)

// schemaOf returns the schema of SARIF 2.1.0. It is an unexported constant of package sarif, so schemaOf reads it from
// the source of that package. The package's own validation does not suffice: it covers only what the package decodes.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "schema" {
			if text, err = strconv.Unquote(v.Values[0].(*ast.BasicLit).Value); err != nil {
				t.Fatal(err)
			}
		}
		return true
	})
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate returns the output of olmkit validate -o sarif for a catalog.
func validate(t *testing.T, dir string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), []string{"validate", dir, "-o", "sarif"}, strings.NewReader(""), &out, &errs); code > 1 {
		t.Fatalf("validate ends with %d: %s", code, &errs)
	}
	return out.Bytes()
}

// check fails if a report violates the schema. It returns the report's results by code.
func check(t *testing.T, schema *jsonschema.Schema, text []byte) map[string]int {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("it breaks the schema: %v", err)
	}
	report, err := sarif.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, r := range report.Runs[0].Results {
		found[*r.RuleID]++
		// GitHub code scanning also requires a location.
		if len(r.Locations) == 0 || *r.Locations[0].PhysicalLocation.ArtifactLocation.URI == "" {
			t.Errorf("the finding %s has no place", *r.RuleID)
		}
	}
	return found
}

// TestSARIF checks that every kind of finding is reported in SARIF that satisfies the schema.
func TestSARIF(t *testing.T) {
	schema := schemaOf(t)
	seen := 0
	for _, e := range fbc.Explanations() {
		if e.Bad == "" {
			continue
		}
		t.Run(string(e.Code), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a catalog, 100% näme")
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "x #?.yaml"), []byte(e.Bad), 0o666); err != nil {
				t.Fatal(err)
			}
			if found := check(t, schema, validate(t, dir)); found[string(e.Code)] > 0 {
				seen++
			}
		})
	}
	if seen < 30 {
		t.Errorf("only %d kinds of findings were reported", seen)
	}
}

// TestSARIFOfRealCatalog is TestSARIF for a catalog with thousands of findings.
func TestSARIFOfRealCatalog(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, realcat.FS(t, "community-invalid")); err != nil {
		t.Fatal(err)
	}
	if found := check(t, schemaOf(t), validate(t, dir)); len(found) < 3 {
		t.Errorf("found only %v", found)
	}
}

// TestSchemaRefuses checks that the schema rejects an invalid report.
func TestSchemaRefuses(t *testing.T) {
	schema := schemaOf(t)
	for _, text := range []string{
		`{"version":"2.1.0"}`,
		`{"version":"2.0.0","runs":[]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"level":"fatal"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"more":1}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a b%"}}}]}]}]}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
