package property_test

import (
	"encoding/json"
	"fmt"

	"github.com/olmkit/olmkit/property"
)

func ExampleParse() {
	p := property.Property{Type: property.TypeGVK, Value: json.RawMessage(`{"group": "etcd.database.coreos.com", "version": "v1beta2", "kind": "EtcdCluster"}`)}
	g, err := property.Parse[property.GVK](p)
	fmt.Println(g, err)

	p.Value = json.RawMessage(`{"group": "etcd.database.coreos.com", "version": 1, "kind": "EtcdCluster"}`)
	_, err = property.Parse[property.GVK](p)
	fmt.Println(err)
	// Output:
	// EtcdCluster (etcd.database.coreos.com/v1beta2) <nil>
	// olm.gvk: /version: want a string, found a number
}

func ExampleGVK_Validate() {
	g := property.GVK{Group: "example.com", Version: "1", Kind: "Thing"}
	fmt.Println(g.Validate())
	// Output:
	// version "1": want lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit, such as v1alpha1
}

func ExampleNew() {
	p := property.New(property.TypePackageRequired, property.PackageRequired{PackageName: "etcd", VersionRange: ">=0.9.0 <1.0.0"})
	fmt.Printf("%s %s\n", p.Type, p.Value)
	// Output:
	// olm.package.required {"packageName":"etcd","versionRange":">=0.9.0 <1.0.0"}
}

func ExampleParseMaxOpenShiftVersion() {
	v, err := property.ParseMaxOpenShiftVersion(json.RawMessage(`"4.19.3"`))
	fmt.Println(v, v.Next(), err)
	// Output:
	// 4.19 4.20 <nil>
}
