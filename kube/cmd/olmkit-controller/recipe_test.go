package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/kube"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestRecipe checks the recipe: its manifest is a valid Deployment that uses
// the service account of --print-rbac, and every flag in the manifest and the
// text exists.
func TestRecipe(t *testing.T) {
	text, err := os.ReadFile("../../../docs/recipes/cluster/deployment.yaml")
	check(t, err)
	var d appsv1.Deployment
	check(t, yaml.UnmarshalStrict(text, &d))
	pod := d.Spec.Template.Spec
	check(t, command().ParseFlags(pod.Containers[0].Args))
	rbac, err := kube.Manifests("olm", "olmkit")
	check(t, err)
	accounts := 0
	for doc := range bytes.SplitSeq(rbac, []byte("---\n")) {
		var a corev1.ServiceAccount
		if yaml.Unmarshal(doc, &a) == nil && a.Kind == "ServiceAccount" && a.Name == pod.ServiceAccountName && a.Namespace == d.Namespace {
			accounts++
		}
	}
	if accounts != 1 {
		t.Errorf("the account %s/%s is not that of --print-rbac", d.Namespace, pod.ServiceAccountName)
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("no volume %q", m.Name)
		}
	}
	page, err := os.ReadFile("../../../docs/recipes/cluster.md")
	check(t, err)
	others := []string{"all-namespaces", "cluster", "clusterrole", "replicas", "serviceaccount", "writes"} // flags of kubectl and olmkit
	for _, word := range strings.FieldsFunc(string(page), func(r rune) bool { return strings.ContainsRune("` ,|\n=", r) }) {
		if name, ok := strings.CutPrefix(word, "--"); ok && name != "" && name[0] >= 'a' && name[0] <= 'z' &&
			command().Flags().Lookup(name) == nil && !slices.Contains(others, name) {
			t.Errorf("the page contains flag --%s, which does not exist", name)
		}
	}
}
