package compare_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	api "github.com/operator-framework/api/pkg/constraints"

	"github.com/olmkit/olmkit/constraints"
)

// TestConstraintsLikeOLM parses the conformance cases with OLM's parser and ours. We refuse every constraint that OLM
// refuses, except the spelling "name" from the documentation. The rules require us to refuse some others (D3, D4, H7,
// H8, H20).
func TestConstraintsLikeOLM(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "shared", "conformance", "constraints.jsonl"))
	if err != nil {
		t.Skipf("the conformance cases are missing: %v", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	cases, same, looser, stricter := 0, 0, 0, 0
	c := constraints.NewCompiler(nil)
	for lines.Scan() {
		var x struct {
			ID    string
			Value string
			PadTo int
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		if x.PadTo > 0 {
			x.Value = strings.Replace(x.Value, "@PAD@", strings.Repeat("x", x.PadTo-len(x.Value)+len("@PAD@")), 1)
		}
		cases++
		parsed, err := api.Parse(json.RawMessage(x.Value))
		if err == nil {
			err = compile(&parsed)
		}
		_, ours := c.Parse([]byte(x.Value))
		switch {
		case (err == nil) == (ours == nil):
			same++
		case ours == nil && strings.Contains(x.Value, `"name"`):
			looser++
		case ours != nil:
			stricter++
		default:
			t.Errorf("%s: OLM returns %v, but olmkit accepts\n%.500s", x.ID, err, x.Value)
		}
	}
	t.Logf("%d constraints: %d verdicts agree, %d are stricter, %d looser on purpose", cases, same, stricter, looser)
	if same < cases/2 {
		t.Errorf("only %d of %d agree", same, cases)
	}
}

// compile makes the checks that OLM makes when it uses a constraint: those of version ranges and CEL rules.
func compile(c *api.Constraint) error {
	switch {
	case c.Cel != nil:
		_, err := api.NewCelEnvironment().Validate(c.Cel.Rule)
		return err
	case c.Package != nil:
		_, err := semver.ParseRange(c.Package.VersionRange)
		return err
	}
	for _, x := range []*api.CompoundConstraint{c.All, c.Any, c.Not} {
		if x == nil {
			continue
		}
		for i := range x.Constraints {
			if err := compile(&x.Constraints[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
