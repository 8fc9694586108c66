package cmd_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script runs a shell script and returns its output and exit code.
func script(t *testing.T, dir, name string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{name}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// module is the path of the root module.
const module = "github.com/olmkit/olmkit"

// A repository is a Git repository that a test creates.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	r := &repository{t, t.TempDir()}
	r.git("init", "-q")
	return r
}

func (r *repository) git(args ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.dir, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// copy copies files of this repository to r.
func (r *repository) copy(names ...string) {
	r.t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(name, string(text))
	}
}

// TestAPIDiff checks what "make apidiff" prints for a small module: nothing, an
// addition, a removal.
func TestAPIDiff(t *testing.T) {
	r := newRepository(t)
	r.copy("internal/tools/apidiff.sh", "internal/tools/go.mod", "internal/tools/go.sum")
	r.write("go.mod", "module example.com/m\n\ngo 1.25.0\n")
	r.write("m.go", "package m\n\nfunc F() {}\n")
	const name = "internal/tools/apidiff.sh"
	r.git("add", ".")
	r.git("commit", "-q", "-m", "one")
	if out, code := script(t, r.dir, name); code != 0 || !strings.Contains(out, "There is no release to compare with.") {
		t.Errorf("without a tag it exits with %d and says\n%s", code, out)
	}
	r.git("tag", "v0.1.0")
	r.write("more", "")
	r.git("add", "more")
	r.git("commit", "-q", "-m", "two")
	r.git("tag", "-a", "-m", "moves", "v0") // the moving tag for users of the action is not a release
	for _, tt := range []struct {
		source, want string
		code         int
	}{
		{"package m\n\nfunc F() {}\n", "The API of example.com/m since v0.1.0:\nno changes\n", 0},
		{"package m\n\nfunc F() {}\n\nfunc G() {}\n", "G: added", 0},
		{"package m\n\nfunc G() {}\n", "F: removed", 1},
		{"package m\n\nfunc F(int) {}\n", "F: changed from func() to func(int)", 1},
	} {
		r.write("m.go", tt.source)
		if out, code := script(t, r.dir, name); code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("of %q it exits with %d, want %d, and says\n%s\nwant %q in it", tt.source, code, tt.code, out, tt.want)
		}
	}

	// The module kube has an API, too.
	r.write("m.go", "package m\n\nfunc F() {}\n")
	r.write("kube/go.mod", "module example.com/m/kube\n\ngo 1.25.0\n")
	r.write("kube/k.go", "package kube\n\nfunc K() {}\n")
	r.git("add", ".")
	r.git("commit", "-q", "-m", "kube")
	r.git("tag", "v0.2.0")
	r.write("kube/k.go", "package kube\n")
	out, code := script(t, r.dir, name)
	if code != 1 || !strings.Contains(out, "The API of example.com/m/kube since v0.2.0:") || !strings.Contains(out, "K: removed") {
		t.Errorf("of a function less in kube it exits with %d and says\n%s", code, out)
	}
}

// TestReleaseRefuses checks that the release script refuses missing tags, tags of another
// commit, and a directory that is not empty.
func TestReleaseRefuses(t *testing.T) {
	r := newRepository(t)
	const name = "internal/tools/release/release.sh"
	r.copy(name)
	r.git("add", ".")
	r.git("commit", "-q", "-m", "one")
	if out, code := script(t, r.dir, name, "v0.1.0", "dist"); code != 2 || !strings.Contains(out, "there is no tag v0.1.0") {
		t.Errorf("without the tag it exits with %d and says\n%s", code, out)
	}
	r.git("tag", "v0.1.0")
	r.git("tag", "cmd/v0.1.0")
	if out, code := script(t, r.dir, name, "v0.1.0", "empty"); code != 2 || !strings.Contains(out, "there is no tag kube/v0.1.0") {
		t.Errorf("without the tag of kube it exits with %d and says\n%s", code, out)
	}
	r.git("commit", "-q", "--allow-empty", "-m", "two")
	r.git("tag", "kube/v0.1.0")
	if out, code := script(t, r.dir, name, "v0.1.0", "empty"); code != 2 || !strings.Contains(out, "kube/v0.1.0, or it is of another commit") {
		t.Errorf("with the tag of kube elsewhere it exits with %d and says\n%s", code, out)
	}
	r.write("dist/old", "")
	if out, code := script(t, r.dir, name, "v0.1.0", "dist"); code != 2 || !strings.Contains(out, "dist is not empty") {
		t.Errorf("with a directory in use it exits with %d and says\n%s", code, out)
	}
}

// TestScripts checks that the scripts of the repository are shell scripts.
func TestScripts(t *testing.T) {
	for _, pattern := range []string{"internal/tools/*.sh", "internal/tools/*/*.sh"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no scripts match %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(text, []byte("#!/bin/sh\n")) || !bytes.Contains(text, []byte("\nset -eu\n")) {
				t.Errorf("%s does not begin as a script that stops at its first error", name)
			}
		}
	}
}
