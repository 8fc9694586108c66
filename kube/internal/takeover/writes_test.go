package takeover_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// rewritten lists the snapshots for which a takeover writes the spec of a deployment, with
// the reason.
var rewritten = map[string]string{
	"bad_crd/1-refused":          "an upgrade that OLM started continues",
	"bad_crd/2-cr-fixed":         "an upgrade that OLM started continues",
	"broken_fixed/1-end":         "somebody repaired it, which OLM does not notice",
	"drift/2-deployment-changed": "somebody scaled it, which OLM does not notice",
	"drift/3-role-deleted":       "somebody scaled it, which OLM does not notice",
	"drift/4-account-deleted":    "somebody scaled it, which OLM does not notice",
}

// E21, E22, E23, E36: a takeover writes the spec of a deployment only if OLM had not finished
// its work. testdata/writes.txt lists all writes, which are the differences between the states in
// which OLM and olmkit leave a cluster. A rule explains each.
func TestWrites(t *testing.T) {
	r := recorded(t)
	var out strings.Builder
	used := make([]int, len(deliberate))
	for _, name := range r.Names() {
		fmt.Fprintf(&out, "%s\n", name)
		c := &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "1.36.3", Now: recordedAt}
		catalogs := catalogsOf(t, c, r.Snapshots[name])
		namespaces := []string{}
		for _, o := range r.Snapshots[name] {
			must(t, c.Put(&o))
			if o.Kind == "Namespace" {
				namespaces = append(namespaces, o.Metadata.Name)
			}
		}
		slices.Sort(namespaces)
		for _, ns := range namespaces {
			l := &reconcile.Loop{Cluster: c, Content: catalogs, MaxPasses: 50, Options: reconcile.Options{RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, NoAdvice: true}}
			l.Progress = func(_ int, change reconcile.Change, err error) {
				fmt.Fprintf(&out, "  %s\n", &change)
				explain(t, &change, used)
				if err != nil {
					fmt.Fprintf(&out, "    %v\n", err)
				}
			}
			c.Intercept = func(change reconcile.Change, apply func() error) error {
				if k := change.Key(); k.Group == "apps" && k.Kind == "Deployment" && rewritten[name] == "" && !sameSpec(c, change.Object) {
					t.Errorf("%s: %s", name, &change)
				}
				return apply()
			}
			if _, err := l.Run(t.Context(), ns); err != nil {
				t.Errorf("%s: namespace %s: %v", name, ns, err)
			}
		}
	}
	golden.File(t, "writes.txt", out.String())
	for i, n := range used {
		if n == 0 {
			t.Errorf("no difference is like %q (%s): %s", deliberate[i].pattern, deliberate[i].rule, deliberate[i].why)
		}
	}
}

// sameSpec reports whether a cluster has an object with the same spec, to the byte.
func sameSpec(c *memcluster.Cluster, o olm.Object) bool {
	have, err := c.Get(o.Key())
	return err == nil && olm.EqualJSON(have.Rest["spec"], o.Rest["spec"])
}
