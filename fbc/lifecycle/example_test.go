package lifecycle_test

import (
	"fmt"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/property"
)

// The support of an installed version on a day, and whether it is compatible with a platform.
func Example() {
	p, err := lifecycle.Parse([]byte(`{
  "schema": "io.openshift.operators.lifecycles.v1alpha1",
  "package": "etcd",
  "versions": [{
    "name": "0.9",
    "phases": [{"name": "Full support", "startDate": "2025-01-01", "endDate": "2026-06-30"}],
    "platformCompatibility": [{"name": "openshift", "versions": ["4.18", "4.19"]}]
  }]
}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, _ := p.Of("0.9.4")
	phase, ok := v.On("2026-01-31")
	fmt.Println(phase.Name, ok)
	fmt.Println(v.Compatible(property.MinorVersion{Major: 4, Minor: 20}))
	// Output:
	// Full support true
	// false true
}
