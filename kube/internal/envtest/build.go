package envtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// version is that of the Kubernetes module that ../testserver requires.
const version = "v1.36.3"

// Build builds the servers, unless they are newer than what they are made from,
// and returns their directory. Of several processes one builds, and the others
// wait for it.
func Build() (string, error) {
	module, err := goTool(".", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(module), "internal", "testserver")
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(bin, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	sources := []string{
		filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"),
		filepath.Join(filepath.Dir(module), "internal", "envtest", "build.go"),
	}
	for _, s := range servers() {
		out := filepath.Join(bin, s.name)
		if isNewer(out, sources) {
			continue
		}
		start := time.Now()
		fmt.Fprintf(os.Stderr, "building %s from source: some minutes, once\n", s.name)
		args := []string{"build", "-trimpath", "-ldflags", s.ldflags, "-o", out, s.pkg}
		if _, err := goTool(dir, args...); err != nil {
			return "", fmt.Errorf("building %s for the tests: %w", s.name, err)
		}
		now := time.Now() // an old file that was up to date but for its time
		if err := os.Chtimes(out, now, now); err != nil {
			return "", err
		}
		fmt.Fprintf(os.Stderr, "built %s in %s\n", s.name, time.Since(start).Round(time.Second))
	}
	return bin, nil
}

type server struct{ name, pkg, ldflags string }

func servers() []server {
	ldflags := []string{"-s -w"}
	minor, _, _ := strings.Cut(strings.TrimPrefix(version, "v1."), ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		ldflags = append(ldflags, "-X "+pkg+".gitVersion="+version, "-X "+pkg+".gitMajor=1", "-X "+pkg+".gitMinor="+minor)
	}
	return []server{
		{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", strings.Join(ldflags, " ")},
		{"etcd", "go.etcd.io/etcd/server/v3", "-s -w"},
	}
}

func isNewer(file string, than []string) bool {
	f, err := os.Stat(file)
	if err != nil {
		return false
	}
	for _, name := range than {
		if s, err := os.Stat(name); err != nil || s.ModTime().After(f.ModTime()) {
			return false
		}
	}
	return true
}

// lock waits for the lock of a file. The system takes it away from a process
// that ends.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return func() { f.Close() }, nil
}

// goTool runs the go command in a directory and returns what it printed.
func goTool(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
