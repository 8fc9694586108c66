package constraints_test

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
)

func ExampleEvaluator_Satisfies() {
	c := constraints.NewCompiler(nil)
	x, err := c.Parse([]byte(`{"all": {"constraints": [
		{"package": {"packageName": "etcd", "versionRange": ">=0.9.0"}},
		{"cel": {"rule": "properties.exists(p, p.type == 'arch' && p.value == cluster.facts.arch)"}}
	]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle := constraints.NewPropertyList([]property.Property{
		property.New(property.TypePackage, property.Package{PackageName: "etcd", Version: "0.9.4"}),
		{Type: "arch", Value: []byte(`"arm64"`)},
	}, nil)

	eval := constraints.NewEvaluator(constraints.Cluster{Facts: map[string]string{"arch": "arm64"}}, nil)
	res, err := eval.Satisfies(context.Background(), x, bundle)
	fmt.Println(res.OK, err)

	// Without the fact the rule cannot be evaluated: it is false, and the result reports that.
	eval = constraints.NewEvaluator(constraints.Cluster{}, nil)
	res, err = eval.Satisfies(context.Background(), x, bundle)
	fmt.Println(res.OK, err)
	for _, p := range res.Problems {
		fmt.Println(p)
	}
	// Output:
	// true <nil>
	// false <nil>
	// cel "properties.exists(p, p.type == 'arch' && p.value == cluster.facts.arch)": no such key: arch
}

// Per bundle, "all" requires one bundle that satisfies all parts (D6), which is
// impossible for two packages. Package resolver implements the documented
// semantics, in which different bundles may satisfy the parts (D5).
func ExampleEvaluator_Satisfies_oneBundle() {
	c := constraints.NewCompiler(nil)
	both, err := c.Parse([]byte(`{"all": {"constraints": [
		{"package": {"name": "blue", "versionRange": ">=1.0.0"}},
		{"package": {"name": "green", "versionRange": ">=1.0.0"}}
	]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	eval := constraints.NewEvaluator(constraints.Cluster{}, nil)
	for _, name := range []string{"blue", "green"} {
		b := constraints.NewPropertyList([]property.Property{
			property.New(property.TypePackage, property.Package{PackageName: name, Version: "1.2.0"}),
		}, nil)
		whole, err := eval.Satisfies(context.Background(), both, b)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, "meets the whole:", whole.OK)
		for _, part := range constraints.Children(both) {
			res, err := eval.Satisfies(context.Background(), part, b)
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(" ", part, res.OK)
		}
	}
	// Output:
	// blue meets the whole: false
	//   package blue >=1.0.0 true
	//   package green >=1.0.0 false
	// green meets the whole: false
	//   package blue >=1.0.0 false
	//   package green >=1.0.0 true
}
