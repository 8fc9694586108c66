package constraints

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/blang/semver/v4"
)

// TestCommon compares the version in one or two ranges with the versions around those that the
// ranges name.
func TestCommon(t *testing.T) {
	texts := []string{
		"1.0.0", "!1.2.0", "!=1.2.0 <3.0.0", ">=1.0.0 <1.2.0", "<1.0.0 || >=2.0.0", "1.x", ">1.x", "<=1.x", "!=1.2.x", "<1.0.0 >2.0.0", ">1.0.0 <1.0.1",
		">=1.0.0-next <2.0.0-rc.1", "=1.0.0-rc.1", ">1.0.0-a <1.0.0-b", "<0.0.0", "<0.0.0-0", ">1.0.0 !=1.0.1", "1.0.0 - 2.0.0", ">2.0.0+build <=2.0.1",
	}
	var ranges []Range
	for _, text := range texts {
		r, err := ParseRange(text)
		if err != nil {
			t.Fatal(err)
		}
		ranges = append(ranges, r)
	}
	check := func(list ...Range) {
		t.Helper()
		v, ok := Common(list...)
		in := func(v semver.Version) bool {
			return !slices.ContainsFunc(list, func(r Range) bool { return !r.Contains(v) })
		}
		if ok && !in(v) {
			t.Errorf("Common(%q) = %s, which a range does not contain", list, v)
		}
		for _, r := range list {
			for _, x := range around(r) {
				if in(x) && (!ok || len(v.Pre) > 0 && len(x.Pre) == 0) {
					t.Errorf("Common(%q) = %s, %t; want %s", list, v, ok, x)
				}
			}
		}
	}
	for _, r := range ranges {
		check(r)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		check(ranges[rnd.IntN(len(ranges))], ranges[rnd.IntN(len(ranges))])
	}
	if v, ok := Common(ranges[3]); !ok || v.String() != "1.0.0" {
		t.Errorf("Common(%q) = %s, %t; want 1.0.0", ranges[3], v, ok)
	}
	if v, ok := Common(ranges[9]); ok {
		t.Errorf("Common(%q) = %s; want none", ranges[9], v)
	}
}
