package kube_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestCommandLine runs "olmkit status" as a user with the role that it prints, and as a
// user without permissions, for whom the error names that role.
func TestCommandLine(t *testing.T) {
	c, err := client.New(env.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	olmkit, config := filepath.Join(dir, "olmkit"), filepath.Join(dir, "kubeconfig")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", olmkit, "github.com/olmkit/olmkit/cmd/olmkit").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(config, env.KubeConfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (code int, stdout string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), olmkit, args...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || errs.Len() > 0 {
			t.Fatalf("olmkit %s: %v\n%s", strings.Join(args, " "), err, &errs)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}

	const ns = "command-line"
	role := &rbacv1.ClusterRole{}
	_, printed := run("status", "--print-rbac")
	if err := yaml.UnmarshalStrict([]byte(printed), role); err != nil {
		t.Fatal(err)
	}
	subscription := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
		"metadata": map[string]any{"name": "example", "namespace": ns},
		"spec":     map[string]any{"name": "example", "channel": "alpha", "source": "none", "sourceNamespace": ns},
	}}
	csv := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
		"metadata": map[string]any{"name": "lonely.v1.0.0", "namespace": ns},
		"spec": map[string]any{"displayName": "Lonely", "version": "1.0.0", "install": map[string]any{
			"strategy": "deployment", "spec": map[string]any{"deployments": []any{}},
		}},
	}}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, role, subscription, csv,
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "reader"}},
		},
	} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { must(t, c.Delete(context.WithoutCancel(t.Context()), o)) })
	}

	// OLM does not run here, but without the catalog it would not resolve the subscription either: 1.
	code, got := run("status", "--kubeconfig", config, "--as", "reader", "-n", ns)
	for _, want := range []string{"stuck      subscription example cannot be satisfied: catalog none/command-line does not exist", "no subscription upgrades it"} {
		if code != 1 || !strings.Contains(got, want) {
			t.Errorf("exit code %d, want %q in\n%s", code, want, got)
		}
	}
	if strings.Contains(got, "may not be listed") {
		t.Errorf("the printed role lacks permissions:\n%s", got)
	}
	refused := exec.CommandContext(t.Context(), olmkit, "status", "--kubeconfig", config, "--as", "nobody")
	out, _ := refused.CombinedOutput()
	const want = `you may read nothing of this cluster; "olmkit status --print-rbac" prints the role`
	if code := refused.ProcessState.ExitCode(); code != 2 || strings.Count(string(out), want) != 1 || strings.Count(string(out), "\n") != 1 {
		t.Errorf("exit code %d, want one line with %q in\n%s", code, want, out)
	}
}
