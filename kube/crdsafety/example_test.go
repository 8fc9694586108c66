package crdsafety_test

import (
	"context"
	"fmt"
	"log"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube/crdsafety"
)

// Operator-controller refuses to change a description below
// additionalProperties, because none of its validations covers it.
func ExampleCompare() {
	crd := `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          size: {type: integer, maximum: %d}
          labels:
            type: object
            additionalProperties: {type: string, description: %s}
`
	var old, new map[string]any
	if err := yaml.Unmarshal(fmt.Appendf(nil, crd, 10, "any label"), &old); err != nil {
		log.Fatal(err)
	}
	if err := yaml.Unmarshal(fmt.Appendf(nil, crd, 5, "a label"), &new); err != nil {
		log.Fatal(err)
	}
	from, err := crdsafety.Decode(old)
	if err != nil {
		log.Fatal(err)
	}
	to, err := crdsafety.Decode(new)
	if err != nil {
		log.Fatal(err)
	}
	for _, asUpstream := range []bool{false, true} {
		r, err := crdsafety.Compare(context.Background(), from, to, &crdsafety.Options{AsUpstream: asUpstream})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Name, r.Verdict)
		for _, f := range r.Findings {
			fmt.Println("  " + f.String())
		}
	}
	// Output:
	// widgets.example.com unsafe
	//   version v1: ^.size: maximum changed from 10 to 5
	// widgets.example.com unsafe
	//   version v1: ^.labels: keywords without a validation changed from {"additionalProperties.description":"any label"} to {"additionalProperties.description":"a label"} (false alarm)
	//   version v1: ^.size: maximum changed from 10 to 5
}
