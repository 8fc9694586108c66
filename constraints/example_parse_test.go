package constraints_test

import (
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
)

func ExampleCompiler_Parse() {
	c := constraints.NewCompiler(nil)
	x, err := c.Parse([]byte(`{
		"failureMessage": "needs etcd, and nothing of the old kind",
		"all": {"constraints": [
			{"package": {"packageName": "etcd", "versionRange": ">=0.9.0 <1.0.0"}},
			{"not": {"constraints": [{"gvk": {"group": "example.com", "version": "v1alpha1", "kind": "Old"}}]}}
		]}
	}`))
	fmt.Println(x, err)
	fmt.Println(x.Message())
	// Output:
	// all(package etcd >=0.9.0 <1.0.0, not gvk Old (example.com/v1alpha1)) <nil>
	// needs etcd, and nothing of the old kind
}

func ExampleCompiler_Parse_errors() {
	c := constraints.NewCompiler(nil)
	for _, raw := range []string{
		`{"any": {"constraints": [{"package": {"packageName": "etcd", "versionRange": "^0.9.0"}}]}}`,
		`{"all": {"constraints": []}}`,
		`{"pacakge": {"packageName": "etcd", "versionRange": ">=0.9.0"}}`,
		`{"cel": {"rule": "size(properties)"}}`,
	} {
		_, err := c.Parse([]byte(raw))
		var e *constraints.Error
		if errors.As(err, &e) {
			fmt.Println(e)
		}
	}
	// Output:
	// olm.constraint: /any/constraints/0/package/versionRange: invalid range "^0.9.0": the comparison operator "^" is valid only in OLM v1 version ranges: write ">=0.9.0 <0.10.0"
	// olm.constraint: /all/constraints: the list is empty; it must have at least one constraint
	// olm.constraint: /pacakge: unknown key: did you mean "package"?
	// olm.constraint: /cel/rule: the rule has type int; it must be bool
}

func ExampleCompiler_FromProperty() {
	c := constraints.NewCompiler(nil)
	for _, p := range []property.Property{
		property.New(property.TypeGVK, property.GVK{Group: "example.com", Version: "v1", Kind: "Red"}),
		property.New(property.TypeGVKRequired, property.GVK{Group: "example.com", Version: "v1", Kind: "Blue"}),
		property.New(property.TypePackageRequired, property.PackageRequired{PackageName: "etcd", VersionRange: ">=0.9.0"}),
		property.New(property.TypeLabelRequired, property.Label{Label: "certified"}),
	} {
		x, ok, err := c.FromProperty(p)
		fmt.Println(p.Type, ok, x, err)
	}
	// Output:
	// olm.gvk false <nil> <nil>
	// olm.gvk.required true gvk Blue (example.com/v1) <nil>
	// olm.package.required true package etcd >=0.9.0 <nil>
	// olm.label.required true label certified <nil>
}

func ExampleParseRange() {
	for _, text := range []string{">=1.0.0 <2.0.0", "~1.2", ">=1.0, <2.0", "1.0.0 - 2.0.0"} {
		r, err := constraints.ParseRange(text)
		fmt.Println(r, err, r.Warnings())
	}
	// Output:
	// >=1.0.0 <2.0.0 <nil> []
	//  invalid range "~1.2": the comparison operator "~" is valid only in OLM v1 version ranges: write ">=1.2.0 <1.3.0" []
	//  invalid range ">=1.0, <2.0": ">=1.0,": a comma is valid only in OLM v1 version ranges; separate comparisons with spaces []
	// 1.0.0 - 2.0.0 <nil> ["-" is ignored, because it has only one character]
}
