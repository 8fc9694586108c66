package registrytest

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// olmkit is the program under test.
var olmkit string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "registrytest-")
	if err != nil {
		panic(err)
	}
	olmkit = filepath.Join(dir, "olmkit")
	build := exec.Command("go", "build", "-o", olmkit, "./olmkit")
	build.Dir = filepath.FromSlash("../../..")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// run runs a program in a directory.
func (e environment) run(t *testing.T, dir, program string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, e.list(), &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v; run make setup", program, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must is like run for a command that succeeds.
func (e environment) must(t *testing.T, dir, program string, args ...string) (stdout string) {
	t.Helper()
	stdout, stderr, code := e.run(t, dir, program, args...)
	if code != 0 {
		t.Fatalf("%s %s: exit code %d, %s", filepath.Base(program), strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// copy copies an image with skopeo.
func (e environment) copy(t *testing.T, dir, from, to string, flags ...string) {
	t.Helper()
	e.must(t, dir, "skopeo", append([]string{"--insecure-policy", "copy", "-q", from, to}, flags...)...)
}

// The labels of images.
var (
	catalogLabels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}
	bundleLabels  = map[string]string{
		"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
		"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
		"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
	}
)

// writeImage writes an image as skopeo reads it from dir:DIR. Its only layer has the files of
// a directory below a path.
func writeImage(t *testing.T, to string, labels map[string]string, from, below string) {
	t.Helper()
	layer := layerOf(t, from, below)
	check(t, os.MkdirAll(to, 0o777))
	blob := func(mediaType string, content []byte) map[string]any {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		check(t, os.WriteFile(filepath.Join(to, sum), content, 0o666))
		return map[string]any{"mediaType": mediaType, "digest": "sha256:" + sum, "size": len(content)}
	}
	marshal := func(v any) []byte {
		text, err := json.Marshal(v)
		check(t, err)
		return text
	}
	content := blob("application/vnd.oci.image.layer.v1.tar", layer)
	config := blob("application/vnd.oci.image.config.v1+json", marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Labels": labels},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []any{content["digest"]}},
	}))
	check(t, os.WriteFile(filepath.Join(to, "manifest.json"), marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": []any{content},
	}), 0o666))
	check(t, os.WriteFile(filepath.Join(to, "version"), []byte("Directory Transport Version: 1.1\n"), 0o666))
}

// layerOf returns an archive with the files of a directory below a path.
func layerOf(t *testing.T, from, below string) []byte {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	check(t, filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: below + filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}))
	check(t, w.Close())
	return layer.Bytes()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
