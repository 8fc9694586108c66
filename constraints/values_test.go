package constraints_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
)

// TestValuesLater evaluates rules on a bundle with a large value, which is decoded only
// once, by the first rule that reads it.
func TestValuesLater(t *testing.T) {
	large := property.Property{Type: "large", Value: json.RawMessage("[" + strings.Repeat("1,", 10_000) + "2]")}
	broken := property.Property{Type: "broken", Value: json.RawMessage("{")}
	props := []property.Property{large, broken, property.New(property.TypePackage, property.Package{PackageName: "etcd", Version: "0.9.4"})}
	small := compiled(t, `properties.exists(p, p.type == 'olm.package' && p.value.version == '0.9.4')`)
	e := constraints.NewEvaluator(constraints.Cluster{}, nil)
	ctx := context.Background()
	if n := testing.AllocsPerRun(10, func() {
		if ok, err := e.Rule(ctx, small, constraints.NewValues(slices.Values(props))); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}); n > 500 {
		t.Errorf("%.0f allocations for a rule that reads one small value", n)
	}
	v := constraints.NewValues(slices.Values(props))
	var all sync.WaitGroup
	for range 4 {
		e := constraints.NewEvaluator(constraints.Cluster{}, nil)
		all.Go(func() {
			if ok, err := e.Rule(ctx, compiled(t, `properties.exists(p, p.type == 'large' && size(p.value) == 10001)`), v); !ok || err != nil {
				t.Errorf("large: %v, %v", ok, err)
			}
			if _, err := e.Rule(ctx, compiled(t, `properties.exists_one(p, p.type == 'broken' && p.value.x == 1)`), v); err == nil || !strings.Contains(err.Error(), `property "broken"`) {
				t.Errorf("broken: %v", err)
			}
		})
	}
	all.Wait()
}

func compiled(t *testing.T, text string) *constraints.CEL {
	x, err := constraints.NewCompiler(nil).Rule(text)
	if err != nil {
		t.Error(err)
	}
	return x
}
