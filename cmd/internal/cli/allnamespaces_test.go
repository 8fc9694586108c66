package cli_test

import (
	"strings"
	"testing"
)

// TestAllNamespaces checks that the answer for each namespace of a cluster is that of the command for this
// namespace alone, and that a snapshot gives the same.
func TestAllNamespaces(t *testing.T) {
	_, _, state := newCluster(t)
	state, _, _ = strings.Cut(state, "\n---\napiVersion: config.openshift.io/v1\n") // without OLM v1
	for _, ns := range []string{"b", "a"} {
		state += "\n---\napiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: etcd, namespace: " + ns + "}\nspec: {name: etcd, channel: stable, source: community, sourceNamespace: marketplace}"
	}
	_, config := serve(t, state)
	if _, stderr, code := run(t, "", []string{"snapshot", "--kubeconfig", config, "-o", "all.json"}, "", ""); code != 0 {
		t.Fatal(stderr)
	}
	for _, command := range []string{"resolve", "explain", "plan"} {
		want := ""
		for i, ns := range []string{"a", "apps", "b"} {
			one, stderr, code := run(t, "", []string{command, "--kubeconfig", config, "-n", ns}, "", "")
			if code != 0 {
				t.Errorf("%s -n %s: exit code %d, %s", command, ns, code, stderr)
			}
			if i > 0 {
				want += "\n"
			}
			want += "# namespace " + ns + "\n" + one
		}
		for _, from := range [][]string{{"--kubeconfig", config}, {"-f", "all.json"}} {
			got, stderr, code := run(t, "", append([]string{command, "-A"}, from...), "", "")
			if code != 0 || got != want {
				t.Errorf("%s -A %v: exit code %d, %s%s", command, from, code, stderr, firstDifference(got, want))
			}
		}
	}
}
