package yamljson_test

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/yamljson"
)

func ExampleConvert() {
	doc := []byte(`schema: olm.channel
name: stable # not for production
entries:
- name: etcd.v2
  replaces: etcd.v1
  skips: [etcd.v0]
`)
	out, ok := yamljson.Convert(nil, doc, nil)
	fmt.Println(ok)
	fmt.Println(string(out))

	// An anchor: outside of the subset.
	_, ok = yamljson.Convert(nil, []byte("name: &n etcd\npackage: *n\n"), nil)
	fmt.Println(ok)

	// Output:
	// true
	// {"schema":"olm.channel","name":"stable","entries":[{"name":"etcd.v2","replaces":"etcd.v1","skips":["etcd.v0"]}]}
	// false
}

func ExampleOptions_skipValue() {
	doc := []byte(`name: etcd.v2
properties:
- type: olm.csv.metadata
  value:
    description: |
      A text that nobody asked for.
- type: olm.package
  value:
    packageName: etcd
    version: 2.0.0
`)
	out, _ := yamljson.Convert(nil, doc, &yamljson.Options{
		SkipValue: func(typ []byte) bool { return string(typ) == "olm.csv.metadata" },
	})
	fmt.Println(string(out))

	// Output:
	// {"name":"etcd.v2","properties":[{"type":"olm.csv.metadata","value":null},{"type":"olm.package","value":{"packageName":"etcd","version":"2.0.0"}}]}
}
