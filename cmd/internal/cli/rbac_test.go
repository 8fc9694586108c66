package cli_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestPrintedRole checks that the role that status prints suffices for all commands that
// read a cluster, and that each of its resources is read.
func TestPrintedRole(t *testing.T) {
	server, config, _ := newCluster(t)
	text, stderr, code := run(t, "", []string{"status", "--print-rbac"}, "", "")
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var role struct {
		Rules []struct{ APIGroups, Resources, Verbs []string }
	}
	check(t, yaml.Unmarshal([]byte(text), &role))
	granted := map[string]bool{} // GROUP/RESOURCE
	for _, r := range role.Rules {
		if !slices.Equal(r.Verbs, []string{"list"}) {
			t.Errorf("the role has verbs %v", r.Verbs)
		}
		for _, g := range r.APIGroups {
			for _, resource := range r.Resources {
				granted[g+"/"+resource] = true
			}
		}
	}
	resource := func(path string) string {
		parts := strings.Split(strings.Trim(path, "/"), "/")
		if parts[0] != "apis" { // the core group, or the version
			return "/" + parts[len(parts)-1]
		}
		return parts[1] + "/" + parts[len(parts)-1]
	}
	for path := range server.lists {
		if !granted[resource(path)] {
			server.forbidden = append(server.forbidden, path)
		}
	}
	for _, command := range append(clusterCommands, []string{"snapshot", "-o", "-"}) {
		server.requests = nil
		out, stderr, code := run(t, "", append(command, "--kubeconfig", config), "", "")
		if code == 2 || strings.Contains(out+stderr, "may not be") {
			t.Errorf("%v: exit code %d, %s", command, code, stderr)
		}
		for name := range granted {
			if !slices.ContainsFunc(server.requests, func(r string) bool { return strings.Contains(r, " ") && resource(strings.Fields(r)[1]) == name }) {
				t.Errorf("%v does not read %s", command, name)
			}
		}
	}
}
