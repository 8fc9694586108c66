package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var env envtest.Environment

// asCommand is the environment variable that makes the test binary run the
// command, so that replicas are separate processes.
const asCommand = "OLMKIT_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	envtest.Main(m, &env)
}

// The command prints its permissions, and reports invalid flags.
func TestFlags(t *testing.T) {
	run := func(args ...string) (string, error) {
		cmd := command()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs(args)
		err := cmd.ExecuteContext(context.Background())
		return out.String(), err
	}
	if out, err := run("--print-rbac"); err != nil || !strings.Contains(out, "kind: ClusterRole\n") {
		t.Errorf("--print-rbac: %v in\n%s", err, out)
	}
	if out, err := run("--print-rbac", "--olm=classic,v1"); err != nil || !strings.Contains(out, "name: cluster-admin\n") {
		t.Errorf("--print-rbac with v1: %v in\n%s", err, out)
	}
	if out, err := run("--version"); err != nil || !strings.HasPrefix(out, "olmkit-controller (devel)") || !strings.HasSuffix(out, "\n") {
		t.Errorf("--version: %v in %q", err, out)
	}
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, env.KubeConfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ flag, want string }{
		{"--catalog=olm/a", "want namespace/name=source"},
		{"--catalog=olm/a=nowhere:x", `source "nowhere:x"`},
		{"--mirror=quay.io", "want source=mirror"},
		{"--client-cert=x", "are not sent to any server"},
		{"--credentials-for=http://catalogs.example", "want an https:// origin"},
		{"--ca-file=/dev/null", "no PEM certificate found"},
		{"--registry-config=/nowhere", "--registry-config"},
		{"--shard-index=3", "shard 3 of 1: the index must be between 0 and 0"},
		{"--namespace-selector=a=b=c", "--namespace-selector"},
		{"--olm=v2", `--olm: "v2" is neither classic nor v1`},
		{"--olm=", "--olm is empty"},
		{"--olm=v1 --v1-certificates=x", `--v1-certificates: "x" is not cert-manager, service-ca or none`},
	} {
		args := append([]string{"--kubeconfig", config, "--metrics-bind-address=0", "--health-probe-bind-address=0"}, strings.Fields(test.flag)...)
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %q", test.flag, err, test.want)
		}
	}
}

// E1, E8, E11, G1: the command installs an operator from a catalog in a
// directory, serves its probes and metrics, and exits when it is signaled.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	config, catalog := filepath.Join(dir, "config"), filepath.Join(dir, "catalog")
	check(t, os.Mkdir(catalog, 0o755))
	check(t, os.WriteFile(filepath.Join(catalog, "widget.yaml"), widget(t), 0o644))
	metrics, health := freePort(t), freePort(t)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := command()
	cmd.SetErr(io.Discard)
	cmd.SetArgs([]string{
		"--kubeconfig", config, "--catalog", "olm/community=dir:" + catalog, "--leader-elect", "--leader-election-namespace=olm",
		"--metrics-bind-address", metrics, "--health-probe-bind-address", health,
	})
	c, err := client.New(env.Config, client.Options{Scheme: newScheme(t)})
	check(t, err)
	check(t, client.IgnoreAlreadyExists(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}})))
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}},
		&operatorsv1alpha1.CatalogSource{
			ObjectMeta: metav1.ObjectMeta{Name: "community", Namespace: "olm"},
			Spec:       operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Image: "example.com/catalog"},
		},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "ops", Namespace: "ops"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{"ops"}}},
		&operatorsv1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: "widget", Namespace: "ops"},
			Spec:       &operatorsv1alpha1.SubscriptionSpec{Package: "widget", Channel: "stable", CatalogSource: "community", CatalogSourceNamespace: "olm"},
		},
	} {
		check(t, c.Create(ctx, o))
	}
	check(t, os.WriteFile(config, restricted(t, c), 0o600))
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	eventually(t, func() error {
		csv := &operatorsv1alpha1.ClusterServiceVersion{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "ops", Name: "widget.v0.1.1"}, csv); err != nil {
			return err
		}
		if csv.Status.Phase != operatorsv1alpha1.CSVPhaseInstalling { // no controller runs deployments here
			return fmt.Errorf("the CSV is %q: %s", csv.Status.Phase, csv.Status.Message)
		}
		src := &operatorsv1alpha1.CatalogSource{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "olm", Name: "community"}, src); err != nil {
			return err
		}
		if g := src.Status.GRPCConnectionState; g == nil || g.LastObservedState != "READY" {
			return fmt.Errorf("the catalog is %+v", g)
		}
		return nil
	})
	for _, test := range []struct{ url, want string }{
		{"http://" + health + "/healthz", "ok"}, {"http://" + health + "/readyz", "ok"},
		{"http://" + metrics + "/metrics", "\nsubscription_count 1\n"},
		{"http://" + metrics + "/metrics", "\ncatalogsource_ready{name=\"community\",namespace=\"olm\"} 1\n"},
	} {
		eventually(t, func() error {
			r, err := http.Get(test.url)
			if err != nil {
				return err
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if err == nil && (r.StatusCode != http.StatusOK || !strings.Contains(string(text), test.want)) {
				err = fmt.Errorf("%s: %s, without %q", test.url, r.Status, test.want)
			}
			return err
		})
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("stopping: %v", err)
		}
	case <-time.After(4 * time.Minute):
		t.Error("the command does not exit")
	}
}

// restricted returns the configuration of a service account with the
// permissions that --print-rbac prints.
func restricted(t *testing.T, c client.Client) []byte {
	t.Helper()
	text, err := kube.Manifests("olm", "olmkit")
	check(t, err)
	create(t, c, text)
	k, err := kubernetes.NewForConfig(env.Config)
	check(t, err)
	token, err := k.CoreV1().ServiceAccounts("olm").CreateToken(context.Background(), "olmkit", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	check(t, err)
	file, err := clientcmd.Load(env.KubeConfig())
	check(t, err)
	for name := range file.AuthInfos {
		file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	out, err := clientcmd.Write(*file)
	check(t, err)
	return out
}

// create creates the objects of a YAML text that do not exist.
func create(t *testing.T, c client.Client, text []byte) {
	t.Helper()
	for doc := range bytes.SplitSeq(text, []byte("---\n")) {
		u := &unstructured.Unstructured{}
		if check(t, yaml.Unmarshal(doc, &u.Object)); len(u.Object) > 0 {
			check(t, client.IgnoreAlreadyExists(c.Create(context.Background(), u)))
		}
	}
}

// newScheme returns a separate scheme, because other goroutines use
// client-go's.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	check(t, scheme.AddToScheme(s))
	check(t, kube.AddToScheme(s))
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, condition func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(4 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

// widget returns a catalog with the operator that the tests of package kube
// use.
func widget(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("schema: olm.package\nname: widget\ndefaultChannel: stable\n---\n")
	b.WriteString("schema: olm.channel\npackage: widget\nname: stable\nentries: [{name: widget.v0.1.1}]\n---\n")
	b.WriteString("schema: olm.bundle\npackage: widget\nname: widget.v0.1.1\nimage: example.com/widget\nproperties:\n")
	b.WriteString("- {type: olm.package, value: {packageName: widget, version: 0.1.1}}\n- {type: olm.gvk, value: {group: example.com, version: v1, kind: Widget}}\n")
	for _, file := range []string{"widget.csv.yaml", "widget.crd.yaml"} {
		text, err := os.ReadFile("../../testdata/" + file)
		check(t, err)
		text = bytes.ReplaceAll(text, []byte("VERSION"), []byte("0.1.1"))
		fmt.Fprintf(&b, "- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString(text))
	}
	return b.Bytes()
}
