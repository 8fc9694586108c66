package constraints_test

import (
	"fmt"

	"github.com/olmkit/olmkit/constraints"
)

// Which packages does a constraint mention?
func ExampleWalk() {
	x, err := constraints.NewCompiler(nil).Parse([]byte(`{"any": {"constraints": [
		{"package": {"packageName": "grafana", "versionRange": ">=5.0.0"}},
		{"not": {"constraints": [{"package": {"packageName": "prometheus", "versionRange": "<0.50.0"}}]}}
	]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for part := range constraints.Walk(x) {
		if p, ok := part.(*constraints.Package); ok {
			fmt.Println(p)
		}
	}
	// Output:
	// package grafana >=5.0.0
	// package prometheus <0.50.0
}
