package livetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWithoutOLM runs the commands of the recipe "Operators without OLM" on its bundle: the API
// server accepts what kubectl applies from one file, and what Argo CD and Flux apply from the kustomization, which
// are the same objects.
func TestWithoutOLM(t *testing.T) {
	dir := programs(t)
	file := writer(t, dir)
	file("kubeconfig", string(env.KubeConfig()))
	check(t, os.CopyFS(filepath.Join(dir, "demo"), os.DirFS("../../../docs/recipes/manifests/demo")))
	const namespace = "without-olm"
	run := func(name string, args ...string) string {
		t.Helper()
		out, code := program(t, dir, name, args...)
		if code != 0 {
			t.Fatalf("%s %s: exit code %d\n%s", name, strings.Join(args, " "), code, out)
		}
		return out
	}
	file("demo.yaml", run("olmkit", "manifests", "demo", "-n", namespace, "--create-namespace"))
	applied := run("kubectl", "apply", "--server-side", "-f", "demo.yaml", "-o", "name")
	for _, want := range []string{"namespace/" + namespace, "serviceaccount/demo", "customresourcedefinition.apiextensions.k8s.io/demos.example.com", "deployment.apps/demo", "clusterrolebinding.rbac.authorization.k8s.io/demo.v1.0.0-"} {
		if !strings.Contains(applied, want) {
			t.Errorf("%s was not applied:\n%s", want, applied)
		}
	}
	file("bare.yaml", run("olmkit", "manifests", "demo", "-n", namespace))
	run("kubectl", "delete", "-f", "bare.yaml") // without the namespace, which no controller would finalize here
	run("olmkit", "manifests", "demo", "-n", namespace, "--create-namespace", "-o", "kustomize", "--dir", "out")
	file("flux.yaml", run("kubectl", "kustomize", "out"))
	again := run("kubectl", "apply", "--server-side", "--field-manager", "kustomize-controller", "-f", "flux.yaml", "-o", "name")
	if got, want := sorted(again), sorted(applied); got != want {
		t.Errorf("the kustomization has other objects: %s, want %s", got, want)
	}
	ready := run("kubectl", "get", "deployment", "demo", "-n", namespace, "-o", "jsonpath={.spec.template.spec.serviceAccountName} {.metadata.managedFields[0].manager}")
	if ready != "demo kustomize-controller" {
		t.Errorf("the deployment has %q", ready)
	}
	run("kubectl", "delete", "-f", "bare.yaml")
}

// sorted returns the lines of a text in order.
func sorted(text string) string {
	lines := strings.Fields(text)
	slices.Sort(lines)
	return strings.Join(lines, " ")
}
