package livetest

import (
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/internal/sample"
	"github.com/olmkit/olmkit/kube/oci"
)

// TestYourData runs the commands of the page "Your data" that need a cluster, one after another,
// on an API server with the CRDs of OLM and OpenShift's version. The others run in
// cmd/internal/cli/registrytest.
func TestYourData(t *testing.T) {
	dir := programs(t)
	newCounter(t, dir)
	images := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer images.Close()
	host := strings.TrimPrefix(images.URL, "http://")
	files := map[string][]byte{}
	check(t, fs.WalkDir(sample.Catalog(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files["configs/"+name], err = fs.ReadFile(sample.Catalog(), name)
		return err
	}))
	layer, err := crane.Layer(files)
	check(t, err)
	image, err := crane.Image(nil)
	check(t, err)
	image, err = mutate.AppendLayers(image, layer)
	check(t, err)
	image, err = mutate.Config(image, v1.Config{Labels: map[string]string{oci.LabelConfigs: "/configs"}})
	check(t, err)
	for _, tag := range []string{"v4.18", "v4.19"} {
		check(t, crane.Push(image, host+"/redhat/redhat-operator-index:"+tag))
	}
	digest, err := image.Digest()
	check(t, err)

	c, err := client.New(env.Config, client.Options{})
	check(t, err)
	check(t, create(t.Context(), c, clusterVersionCRD))
	created(t, c, version)
	check(t, create(t.Context(), c, strings.NewReplacer("IMAGE", host+"/redhat/redhat-operator-index", "DIGEST", digest.String()).Replace(market)))
	check(t, create(t.Context(), c, strings.NewReplacer("NAMESPACE", "operators", "PACKAGE", "etcd", "BUNDLE", "etcdoperator.v0.9.2", "VERSION", "0.9.2").Replace(installed)))
	check(t, create(t.Context(), c, strings.NewReplacer("NAMESPACE", "openshift-operators", "PACKAGE", "cert-manager", "BUNDLE", "cert-manager.v1.13.1", "VERSION", "1.13.1").Replace(installed)))
	check(t, os.CopyFS(filepath.Join(dir, "new-catalog"), sample.Catalog()))
	check(t, os.Symlink("/bin/sh", filepath.Join(dir, "sh")))

	page, err := os.ReadFile("../../../docs/recipes/your-data.md")
	check(t, err)
	_, text, ok := strings.Cut(string(page), "\n## Your cluster\n")
	if !ok {
		t.Fatal("the page has no section about clusters")
	}
	names := strings.NewReplacer("registry.redhat.io", host)
	lines := 0
	for _, block := range regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if lines++; strings.Contains(line, "must-gather") {
				gather(t, dir)
			}
			// program reports exit code 2. 1 means that the answer is no.
			stdout, _ := program(t, dir, "sh", "-c", names.Replace(line))
			for _, file := range []string{"cluster.json", "state.yaml"} {
				if strings.Contains(line, file) {
					stdout, _ = program(t, dir, "olmkit", "status", "-f", file)
				}
			}
			about := "etcd"
			if strings.Contains(line, "openshift-operators") {
				about = "cert-manager"
			}
			if !strings.Contains(stdout, about) && !strings.Contains(line, "olmkit diff") {
				t.Errorf("%s%s", line, stdout)
			}
		}
	}
	if lines != 12 {
		t.Errorf("the page has %d lines about clusters", lines)
	}
	want, _ := program(t, dir, "olmkit", "status", "-n", "operators", "-o", "json")
	if got, _ := program(t, dir, "olmkit", "status", "-n", "operators", "-o", "json", "-f", "cluster.json"); got != want {
		t.Errorf("cluster.json: %s", firstDifference(got, want))
	}
}

// gather writes a must-gather with the operators and catalogs of the cluster.
func gather(t *testing.T, dir string) {
	t.Helper()
	root := filepath.Join(dir, "must-gather.local.123", "quay-io-openshift-must-gather")
	if _, err := os.Stat(root); err == nil {
		return
	}
	for namespace, kinds := range map[string][]string{
		"operators":             {"subscriptions", "clusterserviceversions", "operatorgroups", "installplans"},
		"openshift-operators":   {"subscriptions", "clusterserviceversions", "operatorgroups", "installplans"},
		"openshift-marketplace": {"catalogsources", "pods"},
	} {
		for _, kind := range kinds {
			group, resource := "operators.coreos.com", kind+".operators.coreos.com"
			if kind == "pods" {
				group, resource = "core", kind
			}
			text, _ := program(t, dir, "kubectl", "get", "-n", namespace, "-o", "yaml", resource)
			name := filepath.Join(root, "namespaces", namespace, group, kind+".yaml")
			check(t, os.MkdirAll(filepath.Dir(name), 0o700))
			check(t, os.WriteFile(name, []byte(text), 0o600))
		}
	}
	out, err := exec.CommandContext(t.Context(), "tar", "-czf", filepath.Join(dir, "must-gather.tar.gz"), "-C", dir, "must-gather.local.123").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// created waits until the API server serves the kind of a CRD that was just created, which
// OpenShift's version has.
func created(t *testing.T, c client.Client, text string) {
	t.Helper()
	for {
		err := create(t.Context(), c, text)
		if !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			check(t, err)
			return
		}
		check(t, t.Context().Err())
		time.Sleep(100 * time.Millisecond)
	}
}

const clusterVersionCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusterversions.config.openshift.io
  annotations: {api-approved.kubernetes.io: "https://github.com/openshift/api/pull/495"}
spec:
  group: config.openshift.io
  scope: Cluster
  names: {kind: ClusterVersion, listKind: ClusterVersionList, plural: clusterversions, singular: clusterversion}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`

const version = `apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec: {channel: stable-4.18, clusterID: 00000000-0000-0000-0000-000000000000}
status:
  desired: {version: 4.18.3}
  history: [{state: Completed, version: 4.18.3}]`

const market = `apiVersion: v1
kind: Namespace
metadata: {name: openshift-marketplace}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: openshift-marketplace}
spec: {sourceType: grpc, image: "IMAGE:v4.18"}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: redhat-operators, namespace: openshift-marketplace}
spec: {sourceType: grpc, image: "IMAGE:v4.18", priority: -100}
status: {connectionState: {lastObservedState: READY}}
---
apiVersion: v1
kind: Pod
metadata: {name: redhat-operators-x, namespace: openshift-marketplace, labels: {olm.catalogSource: redhat-operators}}
spec: {containers: [{name: registry-server, image: "IMAGE:v4.18"}]}
status:
  phase: Running
  containerStatuses: [{name: registry-server, image: "IMAGE:v4.18", imageID: "IMAGE@DIGEST", ready: true, restartCount: 0}]
---
apiVersion: v1
kind: Pod
metadata: {name: community-x, namespace: openshift-marketplace, labels: {olm.catalogSource: community}}
spec: {containers: [{name: registry-server, image: "IMAGE:v4.18"}]}
status:
  phase: Running
  containerStatuses: [{name: registry-server, image: "IMAGE:v4.18", imageID: "IMAGE@DIGEST", ready: true, restartCount: 0}]`

// installed is an operator in a namespace.
const installed = `apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: own, namespace: NAMESPACE}
spec: {targetNamespaces: [NAMESPACE]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: PACKAGE, namespace: NAMESPACE}
spec: {name: PACKAGE, channel: stable, source: redhat-operators, sourceNamespace: openshift-marketplace}
status: {lastUpdated: "2026-01-01T00:00:00Z", state: AtLatestKnown, installedCSV: BUNDLE, currentCSV: BUNDLE}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: BUNDLE, namespace: NAMESPACE}
spec:
  displayName: PACKAGE
  version: VERSION
  installModes: [{type: OwnNamespace, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
status: {phase: Succeeded, reason: InstallSucceeded}`
