package operatorgroup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
)

func groupOf(namespace, name string, targets ...string) *olm.OperatorGroup {
	g := new(olm.OperatorGroup)
	g.Metadata.Namespace, g.Metadata.Name, g.Status.Namespaces = namespace, name, targets
	return g
}

func csvOf(namespace, name string, modes ...olm.InstallModeType) *olm.ClusterServiceVersion {
	c := new(olm.ClusterServiceVersion)
	c.Metadata.Namespace, c.Metadata.Name, c.Status.Phase = namespace, name, olm.PhaseSucceeded
	for _, m := range modes {
		c.Spec.InstallModes = append(c.Spec.InstallModes, olm.InstallMode{Type: m, Supported: true})
	}
	return c
}

// F5, H21: elements with fewer than two dots are dropped.
func TestParseAPIsParts(t *testing.T) {
	if got := operatorgroup.ParseAPIs("A,B.v1,C.v1.g,.,D."); got.String() != "C.v1.g" {
		t.Errorf("got %q, want C.v1.g alone", got)
	}
}

// F8: the copy of a CSV that its group does not support is stale, even if the group targets
// the namespace of the copy.
func TestStaleCopyOfInactive(t *testing.T) {
	original, g := csvOf("ops", "a", olm.OwnNamespace), groupOf("ops", "g", "x")
	copied := csvOf("x", "a")
	copied.Metadata.SetLabel(olm.LabelCopiedFrom, "ops")
	why := operatorgroup.StaleCopy(copied, []*olm.ClusterServiceVersion{original}, []*olm.OperatorGroup{groupOf("x", "h", "x"), g}, operatorgroup.CopyAll)
	if !strings.Contains(why, "is not an active member") {
		t.Errorf("got %q, want that the original is not an active member", why)
	}
}

// F9: tenants of different namespaces are compared once, and their definitions only if both
// are known.
func TestCoTenancyPairs(t *testing.T) {
	tenant := func(namespace, csv, spec string) operatorgroup.Tenant {
		crd := operatorgroup.CRD{Name: "as.g", Versions: []string{"v1"}}
		if spec != "" {
			crd.Spec = []byte(spec)
		}
		return operatorgroup.Tenant{Namespace: namespace, CSV: csv, CRDs: []operatorgroup.CRD{crd}}
	}
	for _, tt := range []struct {
		name    string
		tenants []operatorgroup.Tenant
		want    int
	}{
		{"same namespace", []operatorgroup.Tenant{tenant("n", "a", `{"x":1}`), tenant("n", "b", `{"x":2}`)}, 0},
		{"two namespaces", []operatorgroup.Tenant{tenant("n", "a", `{"x":1}`), tenant("m", "b", `{"x":2}`)}, 1},
		{"one definition unknown", []operatorgroup.Tenant{tenant("n", "a", `{"x":1}`), tenant("m", "b", "")}, 0},
	} {
		if got := operatorgroup.CoTenancy(tt.tenants); len(got) != tt.want {
			t.Errorf("%s: got %v, want %d violations", tt.name, got, tt.want)
		}
	}
}

// F6: a group with the same name in another namespace counts as another group, and so does one
// with another name in the same namespace.
func TestNeighborOfEqualName(t *testing.T) {
	g := groupOf("n", "g", "x")
	others := []*olm.OperatorGroup{g, groupOf("m", "g", "x"), groupOf("n", "h", "x")}
	d := operatorgroup.Decide(operatorgroup.NewAPIs(property.GVK{Group: "g", Version: "v1", Kind: "A"}), g, others)
	if !slices.Equal(d.Neighbors, others[1:]) {
		t.Errorf("got %d neighbors, want 2", len(d.Neighbors))
	}
}

// TestIsActiveReasons shows that a copy, a CSV that is being deleted and one that failed
// because of its group are not active members (F5).
func TestIsActiveReasons(t *testing.T) {
	g := groupOf("n", "g", "n")
	for what, change := range map[string]func(*olm.ClusterServiceVersion){
		"": func(*olm.ClusterServiceVersion) {},
		"copied": func(c *olm.ClusterServiceVersion) {
			c.Status.Reason = reason.Copied
			c.Metadata.SetLabel(olm.LabelCopiedFrom, "m")
		},
		"deleted": func(c *olm.ClusterServiceVersion) { c.Metadata.DeletionTimestamp = time.Unix(1, 0) },
		"failed": func(c *olm.ClusterServiceVersion) {
			c.Status.Phase, c.Status.Reason = olm.PhaseFailed, reason.NoOperatorGroup
		},
	} {
		c := csvOf("n", "a", olm.OwnNamespace)
		change(c)
		if got := operatorgroup.IsActive(c, g); got != (what == "") {
			t.Errorf("%q: active = %v", what, got)
		}
	}
}

// F7: a missing service account is reported only for a group that names one.
func TestAccountCondition(t *testing.T) {
	for _, tt := range []struct {
		account string
		exists  bool
		want    int
	}{{"", false, 0}, {"", true, 0}, {"sa", true, 0}, {"sa", false, 1}} {
		g := groupOf("n", "g", "n")
		g.Spec.ServiceAccountName = tt.account
		if got := operatorgroup.GroupConditions(g, 1, tt.exists); len(got) != tt.want {
			t.Errorf("account %q, exists %v: got %v", tt.account, tt.exists, got)
		}
	}
}

// F7: all CSVs have roles, except copies and CSVs whose APIs conflict with those of another
// group.
func TestAPIRolesOfMembers(t *testing.T) {
	for _, tt := range []struct {
		phase  olm.Phase
		reason olm.Reason
		copied bool
		want   bool
	}{
		{olm.PhaseSucceeded, "", false, true},
		{olm.PhaseFailed, reason.NoOperatorGroup, false, true},
		{olm.PhasePending, reason.InterOperatorGroupOwnerConflict, false, true},
		{olm.PhaseFailed, reason.InterOperatorGroupOwnerConflict, false, false},
		{olm.PhaseSucceeded, reason.Copied, true, false},
	} {
		c := csvOf("n", "a")
		c.Status.Phase, c.Status.Reason = tt.phase, tt.reason
		if tt.copied {
			c.Metadata.SetLabel(olm.LabelCopiedFrom, "m")
		}
		c.Spec.CRDs.Owned = []olm.CRDDescription{{Name: "as.g", Version: "v1", Kind: "A"}}
		if got := operatorgroup.APIRoles(groupOf("n", "g", "n"), c, operatorgroup.Documented); (len(got) > 0) != tt.want {
			t.Errorf("%s %s: got %d roles", tt.phase, tt.reason, len(got))
		}
	}
}

// F7: groups are reported only if two or more have the same name.
func TestNameConflictsOfTwo(t *testing.T) {
	got := operatorgroup.NameConflicts([]*olm.OperatorGroup{groupOf("n", "g"), groupOf("m", "g"), groupOf("m", "h")})
	if fmt.Sprint(got) != "map[g:[m n]]" {
		t.Errorf("got %v", got)
	}
}
