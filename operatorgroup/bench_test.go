package operatorgroup_test

import (
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

func BenchmarkParseAPIs(b *testing.B) {
	for _, n := range []int{1, 100} {
		text := ""
		for i := range n {
			text += fmt.Sprintf("Kind%d.v1.group%d.example.com,", i, i%7)
		}
		b.Run(fmt.Sprintf("apis=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				operatorgroup.ParseAPIs(text)
			}
		})
	}
}

// BenchmarkJudge judges one CSV with the groups of a large cluster.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{10, 1000} {
		groups := make([]*olm.OperatorGroup, n)
		for i := range groups {
			g := new(olm.OperatorGroup)
			g.Metadata = olm.Metadata{Name: "g", Namespace: fmt.Sprint("ns", i)}
			g.Status.Namespaces = []string{fmt.Sprint("ns", i), "shared"}
			g.Metadata.SetAnnotation(operatorgroup.AnnotationProvidedAPIs, fmt.Sprintf("A%d.v1.x.io,B%d.v1.x.io", i, i))
			groups[i] = g
		}
		csv := new(olm.ClusterServiceVersion)
		csv.Metadata = olm.Metadata{Name: "a.v1", Namespace: "ns0"}
		csv.Spec.InstallModes = []olm.InstallMode{{Type: olm.MultiNamespace, Supported: true}, {Type: olm.OwnNamespace, Supported: true}}
		csv.Spec.CRDs.Owned = []olm.CRDDescription{{Name: "as.x.io", Version: "v1", Kind: "A0"}}
		b.Run(fmt.Sprintf("groups=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if j := operatorgroup.Judge(csv, groups); j.Failure != nil {
					b.Fatal(j.Failure)
				}
			}
		})
	}
}
