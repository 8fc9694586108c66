//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
)

// runWithin runs a command line that must end although its input does not.
func runWithin(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	var out, bad bytes.Buffer
	code = Run(t.Context(), args, r, &out, &bad)
	return code, out.String(), bad.String()
}

// TestPathsOfDocuments checks files below a root that are links, pipes or too large (S4).
func TestPathsOfDocuments(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	catalog, err := graph.Load(t.Context(), sample.Catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var index bytes.Buffer
	if err := graph.WriteIndex(t.Context(), &index, catalog, ""); err != nil {
		t.Fatal(err)
	}
	must := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	must(os.MkdirAll(filepath.Join(root, "tenant"), 0o777), os.CopyFS(filepath.Join(root, "tenant", "good"), sample.Catalog()),
		os.CopyFS(filepath.Join(dir, "outside"), sample.Catalog()), os.CopyFS(filepath.Join(root, "tenant", "piped"), sample.Catalog()))
	in := func(name string) string { return filepath.Join(root, "tenant", name) }
	must(os.WriteFile(in("index"), index.Bytes(), 0o666), os.WriteFile(filepath.Join(dir, "index"), index.Bytes(), 0o666),
		os.Symlink("good", in("link")), os.Symlink("index", in("indexlink")),
		os.Symlink("../../outside", in("evil")), os.Symlink(filepath.Join(dir, "outside"), in("absolute")), os.Symlink("../../index", in("evilindex")),
		os.Symlink("/dev/zero", in("zero")), os.Symlink("/proc/self/mem", in("proc")), os.Symlink("circle", in("circle")),
		syscall.Mkfifo(in("pipe"), 0o666), os.Symlink("pipe", in("pipelink")), syscall.Mkfifo(filepath.Join(in("piped"), "catalog.yaml"), 0o666))
	sparse, err := os.Create(in("sparse"))
	must(err)
	_, err = sparse.Write(append(bytes.Clone(index.Bytes()[:24]), 0, 0, 0, 0, 0, 4, 0, 0))
	must(err, sparse.Truncate(4<<40), sparse.Close())
	for _, tt := range []struct {
		name, want string // part of the error, or "" for an answer
	}{
		{"good", ""},
		{"link", ""},
		{"index", ""},
		{"indexlink", ""},
		{"evil", "leads out of the root directory through a symbolic link; put a copy in its place"},
		{"absolute", "leads out of the root directory"},
		{"evilindex", "leads out of the root directory"},
		{"zero", "leads out of the root directory"},
		{"proc", "leads out of the root directory"},
		{"circle", "symbolic links"},
		{"none", "does not exist"},
		{"pipe", "is a named pipe, not a regular file"},
		{"pipelink", "is a named pipe, not a regular file"},
		{"piped", "is a named pipe, not a regular file"},
		{"sparse", "file exceeds limit FileSize=2147483648 (found 4398046511104)"},
	} {
		problem := filepath.Join(dir, "problem.json")
		text := fmt.Sprintf(`{"namespace":"a","catalogs":[{"name":"c","namespace":"olm","dir":"tenant/%s"}],"subscriptions":[{"name":"s","package":"etcd","channel":"stable"}],"installed":[]}`, tt.name)
		if err := os.WriteFile(problem, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"resolve", "explain", "view"} {
			args := []string{command, "--problem", problem, "--root", root}
			if command == "view" {
				args = append(args, "-o", filepath.Join(dir, "page.html"))
			}
			code, stdout, stderr := runWithin(t, args...)
			if tt.want == "" {
				if code != exitOK {
					t.Errorf("%s of %s: exit code %d: %s%s", command, tt.name, code, stdout, stderr)
				}
			} else if all := stdout + stderr; code != exitBadInput || !strings.Contains(strings.Join(strings.Fields(all), " "), tt.want) {
				t.Errorf("%s of %s: exit code %d, want %d and %q:\n%s", command, tt.name, code, exitBadInput, tt.want, all)
			}
		}
		// For select, a catalog that cannot be read is part of the answer, but a path that leaves the root is an error
		// (C6).
		if err := os.WriteFile(problem, []byte(fmt.Sprintf(`{"package":"etcd","catalogs":[{"name":"c","dir":"tenant/%s"}]}`, tt.name)), 0o666); err != nil {
			t.Fatal(err)
		}
		want := exitOK
		if strings.HasPrefix(tt.want, "leads out") {
			want = exitBadInput
		}
		if code, stdout, stderr := runWithin(t, "select", "--problem", problem, "--root", root); code != want {
			t.Errorf("select of %s: exit code %d, want %d:\n%s%s", tt.name, code, want, stdout, stderr)
		}
	}
}

// TestWaitsNoLonger checks that --timeout ends commands that wait for a pipe or for standard input (S4).
func TestWaitsNoLonger(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"list packages -", "list packages PIPE", "validate PIPE", "resolve --catalog c=PIPE --package etcd", "fmt -",
		"explain --problem -", "explain --problem PIPE", "view --problem PIPE -o PAGE", "plan --sample -f PIPE", "plan --sample -f -",
		"platform --problem PIPE", "shrink PIPE", "render PIPE", "diff PIPE PIPE", "validate PIPE",
		"resolve --problem PIPE", "resolve --problem -", "replay PIPE", "replay -", "select --problem PIPE", "select --problem -",
		"explain --sample --catalog b=PIPE --package etcd", "simulate --sample -f PIPE", "subset PIPE -p etcd", "merge PIPE", "extract PIPE -p etcd",
	} {
		args = strings.NewReplacer("PIPE", pipe, "PAGE", filepath.Join(dir, "page")).Replace(args)
		code, _, stderr := runWithin(t, append(strings.Fields(args), "--timeout", "100ms")...)
		if code != exitBadInput || !strings.Contains(stderr, "gave up after 100ms") {
			t.Errorf("olmkit %s: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestStalledStreams checks that --timeout ends a command whose input stops within a document or between two. The time
// begins again with each document (S4).
func TestStalledStreams(t *testing.T) {
	const problem = `{"namespace":"a","catalogs":[],"subscriptions":[],"installed":[]}` + "\n"
	for _, args := range []string{"resolve --problem -", "replay -", "select --problem -"} {
		for _, text := range []string{"", "{", problem, problem + problem[:20]} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, text); err != nil {
				t.Fatal(err)
			}
			var bad bytes.Buffer
			code := Run(t.Context(), append(strings.Fields(args), "--timeout", "100ms"), r, io.Discard, &bad)
			if code != exitBadInput || args != "replay -" && !strings.Contains(bad.String(), "gave up after 100ms") {
				t.Errorf("olmkit %s with %q: exit code %d: %s", args, text, code, &bad)
			}
			r.Close()
			w.Close()
		}
	}
}

// TestEndlessDocument checks that an endless document in a stream is refused at its limit (A16).
func TestEndlessDocument(t *testing.T) {
	for _, args := range []string{"resolve --problem -", "replay -", "select --problem -", "explain --problem -", "shrink -", "platform --problem -", "plan --sample -f -"} {
		var bad bytes.Buffer
		code := Run(t.Context(), append(strings.Fields(args), "--limit", "DocumentSize=1MiB"), io.MultiReader(strings.NewReader(`{"id":"`), endless{}), io.Discard, &bad)
		if code != exitBadInput || !strings.Contains(bad.String(), "document exceeds limit DocumentSize=1048576") {
			t.Errorf("olmkit %s: exit code %d: %.200s", args, code, &bad)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestPipes checks that flags may name pipes, which are read completely.
func TestPipes(t *testing.T) {
	text, err := sample.Catalog().(interface{ ReadFile(string) ([]byte, error) }).ReadFile("etcd/catalog.yaml")
	if err != nil {
		t.Skip(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			_, err = io.Copy(f, bytes.NewReader(text))
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if code, stdout, stderr := runWithin(t, "list", "packages", pipe); code != exitOK || !strings.Contains(stdout, "etcd") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
