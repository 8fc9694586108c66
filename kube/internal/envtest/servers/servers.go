// Package servers builds kube-apiserver, etcd and kubectl from source for "make setup",
// and finds them for tests. Tests never build them.
package servers

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// version is the version of Kubernetes that kube/internal/testserver requires.
const version = "v1.36.3"

// sources is the name of the file next to the servers that identifies what they
// were built from.
const sources = "sources"

type server struct{ name, pkg, ldflags string }

func all() []server {
	ldflags := []string{"-s -w"}
	minor, _, _ := strings.Cut(strings.TrimPrefix(version, "v1."), ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		ldflags = append(ldflags, "-X "+pkg+".gitVersion="+version, "-X "+pkg+".gitMajor=1", "-X "+pkg+".gitMinor="+minor)
	}
	return []server{
		{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", strings.Join(ldflags, " ")},
		{"etcd", "go.etcd.io/etcd/server/v3", "-s -w"},
		{"kubectl", "k8s.io/kubernetes/cmd/kubectl", strings.Join(ldflags, " ")},
	}
}

// Dir returns the directory of the module that builds the servers. The current
// directory must be in module kube.
func Dir() (string, error) {
	module, err := Go(".", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(module), "internal", "testserver"), nil
}

// Find returns the directory of the servers below the module directory dir. It
// returns an error unless they were built from the current sources.
func Find(dir string) (string, error) {
	bin := filepath.Join(dir, "bin")
	want, err := digest(dir)
	if err != nil {
		return "", err
	}
	have, err := os.ReadFile(filepath.Join(bin, sources))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("kube-apiserver, etcd and kubectl are not built; run make setup in the root directory of the repository")
	case err != nil:
		return "", err
	case string(have) != want:
		return "", errors.New("kube-apiserver, etcd and kubectl are out of date; run make setup in the root directory of the repository")
	}
	for _, s := range all() {
		if _, err := os.Stat(filepath.Join(bin, s.name)); err != nil {
			return "", fmt.Errorf("%w; run make setup in the root directory of the repository", err)
		}
	}
	return bin, nil
}

// Build builds the servers into the directory that Find returns and reports
// progress to w.
func Build(dir string, w io.Writer) error {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	// Invalidate the old servers until all are built.
	if err := os.Remove(filepath.Join(bin, sources)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, s := range all() {
		fmt.Fprintf(w, "building %s from source; the first time takes minutes\n", s.name)
		// No other flags, to share the build cache with the tests.
		if _, err := Go(dir, "build", "-ldflags", s.ldflags, "-o", filepath.Join(bin, s.name), s.pkg); err != nil {
			return fmt.Errorf("building %s: %w", s.name, err)
		}
	}
	want, err := digest(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bin, sources), []byte(want), 0o644)
}

// digest identifies the sources and the build flags of the servers.
func digest(dir string) (string, error) {
	h := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	fmt.Fprintf(h, "%q\n", all())
	return hex.EncodeToString(h.Sum(nil)) + "\n", nil
}

// Go runs the go command in a directory and returns what it prints.
func Go(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
