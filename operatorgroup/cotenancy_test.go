package operatorgroup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/operatorgroup"
)

// tenants returns n versions of an operator, each in a separate namespace and with another
// version of its CRDs.
func tenants(n int) (list []operatorgroup.Tenant) {
	for i := range n {
		list = append(list, operatorgroup.Tenant{
			Namespace: fmt.Sprintf("ns-%03d", i), CSV: fmt.Sprintf("a.v%03d", i), Package: "a",
			CRDs: []operatorgroup.CRD{{Name: "as.g", Versions: []string{fmt.Sprintf("v%d", i+1)}}, {Name: "bs.g", Versions: []string{fmt.Sprintf("v%d", i+1)}}},
		})
	}
	return list
}

// F9: the violations of a namespace are those of all that name it, in the same order.
func TestCoTenancyIn(t *testing.T) {
	list := tenants(7)
	slices.Reverse(list)
	all := operatorgroup.CoTenancy(list)
	if want := 7 * 6 / 2 * 2; len(all) != want {
		t.Fatalf("%d violations, want %d", len(all), want)
	}
	for _, x := range list {
		var want []string
		for _, v := range all {
			if v.A.Namespace == x.Namespace || v.B.Namespace == x.Namespace {
				want = append(want, v.String())
			}
		}
		var got []string
		for _, v := range operatorgroup.CoTenancyIn(x.Namespace, list) {
			got = append(got, v.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("namespace %s has the violations\n%s\nwant\n%s", x.Namespace, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// F9: a sentence about an operator names three others, however many there are.
func TestSentence(t *testing.T) {
	sentence := func(n int) string {
		return operatorgroup.Sentence("ns-001", "a.v001", operatorgroup.CoTenancyIn("ns-001", tenants(n)))
	}
	const want = "a.v001 in namespace ns-001 is not supported in one cluster with a.v000 in namespace ns-000, a.v002 in namespace ns-002, a.v003 in namespace ns-003 and 46 more: " +
		"for example, CRD as.g has versions v1 in a.v000 and v2 in a.v001; install the same version of all"
	if got := sentence(50); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if short, long := len(sentence(20)), len(sentence(90)); short != long {
		t.Errorf("a sentence about 20 operators has %d bytes, and one about 90 has %d", short, long)
	}
}
