package operatorgroup_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// F7: the names of a group's roles hold as much of the group's name as the 253 characters
// of a name allow.
func TestLongRoleNames(t *testing.T) {
	const limit = 253
	cut := 0
	for n := 190; n <= limit; n++ {
		g := &olm.OperatorGroup{}
		g.Metadata.Namespace, g.Metadata.Name = "operators", strings.Repeat("g", n)
		roles := operatorgroup.GroupRoles(g, nil, operatorgroup.Running)
		if len(roles) != 3 {
			t.Fatalf("%d roles, want 3", len(roles))
		}
		for _, r := range roles {
			got := r.Metadata.Name
			rest, hash := got[:strings.LastIndex(got, "-")], got[strings.LastIndex(got, "-")+1:]
			base, level := rest[:strings.LastIndex(rest, ".")], rest[strings.LastIndex(rest, ".")+1:]
			whole := len("olm.og.") + n + len(".") + len(level) + len("-") + len(hash)
			if want := min(whole, limit); len(got) != want || base != "olm.og."+strings.Repeat("g", n-(whole-want)) {
				t.Errorf("the role of a group with a name of %d characters is %s, %d characters long; want %d", n, got, len(got), want)
			}
			if whole > limit {
				cut++
			}
		}
	}
	if cut < 3 {
		t.Errorf("only %d names were cut", cut)
	}
}
