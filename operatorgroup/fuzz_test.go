package operatorgroup_test

import (
	"slices"
	"testing"

	"github.com/olmkit/olmkit/operatorgroup"
)

// F5, H21: any annotation that is parsed and written back is parsed as the same set again, and
// the set operations agree with each other.
func FuzzParseAPIs(f *testing.F) {
	for _, s := range []string{
		"", "Alpha", "Alpha.v1", "Alpha..example.com", "Alpha.v1.example.com", "..", "a b.v1.x,,ab.v1.x",
		"PackageManifest.v1alpha1.packages.apps.redhat.com, EtcdCluster.v1beta2.etcd.database.coreos.com",
		"A.b.c.d,A.b.c", "a.b.c.d\x00,é.v1.x",
	} {
		f.Add(s, "Alpha.v1.example.com")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		a, b := operatorgroup.ParseAPIs(s), operatorgroup.ParseAPIs(other)
		if again := operatorgroup.ParseAPIs(a.String()); !slices.Equal(a, again) {
			t.Fatalf("ParseAPIs(%q) = %v, written and read again %v", s, a, again)
		}
		both, either := a.Intersect(b), a.Union(b)
		switch {
		case !either.ContainsAll(a), !either.ContainsAll(b), !a.ContainsAll(both), !b.ContainsAll(both):
			t.Fatalf("%v and %v: intersection %v, union %v", a, b, both, either)
		case len(a)+len(b) != len(both)+len(either):
			t.Fatalf("%v and %v: %d in common, %d together", a, b, len(both), len(either))
		case !slices.Equal(a.Without(b).Union(both), a):
			t.Fatalf("%v without %v and their intersection is not the former", a, b)
		}
	})
}
