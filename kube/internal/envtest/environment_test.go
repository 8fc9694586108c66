package envtest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube/internal/envtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// orphanVar is the environment variable that makes the test binary start a
// control plane and wait to be killed.
const orphanVar = "OLMKIT_ENVTEST_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(orphanVar) == "" {
		os.Exit(m.Run())
	}
	var env envtest.Environment
	if err := env.Start(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("up", env.Config.Host)
	select {}
}

// A restarted server keeps its address, certificates and data, and a server
// recovers after etcd stalls.
func TestEnvironment(t *testing.T) {
	var env envtest.Environment
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := env.Start(); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	v, err := client.Discovery().ServerVersion()
	if err != nil || v.GitVersion != "v1.36.3" {
		t.Fatalf("got version %v, error %v", v, err)
	}
	groups, err := client.Discovery().ServerResourcesForGroupVersion("operators.coreos.com/v1alpha1")
	if err != nil || len(groups.APIResources) < 4 {
		t.Fatalf("OLM's resources are not served: %v, error %v", groups, err)
	}
	before, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := env.RestartAPIServer(); err != nil {
		t.Fatal(err)
	}
	if err := env.StallEtcd(200 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	after, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
	if err != nil || after.UID != before.UID {
		t.Errorf("after a restart and a stall: %v, error %v", after, err)
	}
}

// A test binary that is killed leaves no servers behind.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), orphanVar+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "up ") {
		t.Fatalf("got %q, error %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	host := strings.TrimSpace(strings.TrimPrefix(line, "up "))
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if !listens(host) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the API server outlived its test")
		}
	}
}

func listens(host string) bool {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(host, "https://"), time.Second)
	if err == nil {
		c.Close()
	}
	return err == nil
}
