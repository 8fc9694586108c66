package takeover_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// recordedAt is when the recording was made: its certificates are valid.
func recordedAt() time.Time { return time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC) }

// rewritten are the snapshots of which a takeover writes the spec of a deployment, and why.
var rewritten = map[string]string{
	"bad_crd/1-refused":          "an upgrade that OLM began goes on",
	"bad_crd/2-cr-mended":        "an upgrade that OLM began goes on",
	"config/1-end":               "OLM had not yet applied the config of the subscription",
	"drift/2-deployment-changed": "somebody scaled it, which OLM does not notice",
	"drift/3-role-deleted":       "somebody scaled it, which OLM does not notice",
	"drift/4-account-deleted":    "somebody scaled it, which OLM does not notice",
}

// E21, E22, E23: whatever OLM left behind, a takeover writes the spec of a deployment only where OLM
// had not done its work. All that it writes is in testdata/writes.txt.
func TestWrites(t *testing.T) {
	r := recorded(t)
	var out strings.Builder
	for _, name := range r.names() {
		fmt.Fprintf(&out, "%s\n", name)
		c := &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "1.36.3", Now: recordedAt}
		namespaces := []string{}
		for _, o := range r[name] {
			must(t, c.Put(&o))
			if o.Kind == "Namespace" {
				namespaces = append(namespaces, o.Metadata.Name)
			}
		}
		slices.Sort(namespaces)
		for _, ns := range namespaces {
			l := &reconcile.Loop{Cluster: c, MaxPasses: 50, Options: reconcile.Options{RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, NoAdvice: true}}
			l.Progress = func(_ int, change reconcile.Change, err error) {
				fmt.Fprintf(&out, "  %s\n", &change)
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
	golden(t, "testdata/writes.txt", out.String())
}

// sameSpec reports whether a cluster has an object with the same spec, to the byte.
func sameSpec(c *memcluster.Cluster, o olm.Object) bool {
	have, err := c.Get(o.Key())
	return err == nil && olm.EqualJSON(have.Rest["spec"], o.Rest["spec"])
}

// golden compares a text with a file, or rewrites it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
