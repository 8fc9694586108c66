package cli

import (
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/operatorgroup"
)

// F9: the text of a plan has at most ten lines about operators that are not supported together,
// and states how many pairs it leaves out.
func TestTogether(t *testing.T) {
	for n, want := range map[int]int{0: 0, 2: 1, 11: 10, 50: 11} {
		var list []operatorgroup.Tenant
		for i := range n {
			list = append(list, operatorgroup.Tenant{
				Namespace: fmt.Sprintf("ns-%02d", i), CSV: fmt.Sprintf("a.v%d", i), Package: "a",
				CRDs: []operatorgroup.CRD{{Name: "as.g", Versions: []string{fmt.Sprintf("v%d", i+1)}}},
			})
		}
		got := together(operatorgroup.CoTenancy(list))
		if len(got) != want {
			t.Errorf("%d operators have %d lines, want %d", n, len(got), want)
		}
		if last := "… and 780 more pairs; -o json lists all"; n == 50 && got[len(got)-1] != last {
			t.Errorf("the last line is %q, want %q", got[len(got)-1], last)
		}
	}
}
