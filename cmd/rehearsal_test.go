package cmd_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
)

// TestReleaseRehearsal releases the working tree as v0.1.0, from a clone without tags. It runs
// the Makefile's targets for a release in the order of CONTRIBUTING.md, and checks what is in
// the archives. Then it installs the programs with the go command, from a module proxy of
// files. With "make test", it builds the release for this machine; with "make thorough", for
// every platform, twice.
func TestReleaseRehearsal(t *testing.T) {
	if testsize.Of(true, false, false) {
		t.Skip("it takes minutes; make test runs it")
	}
	for _, tool := range []string{"git", "make", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s on this machine", tool)
		}
	}
	const version = "v0.1.0"
	r := cloneWorkingTree(t)
	make := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory", "-C", r.dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("make %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	withOwnModules(t)
	if out := make("apidiff"); !strings.Contains(out, "There is no release to compare with.") {
		t.Errorf("before the first tag, make apidiff prints\n%s", out)
	}
	make("man", "build")
	for _, name := range []string{"bin/olmkit", "bin/man/olmkit.1", "bin/man/olmkit-resolve.1"} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err != nil {
			t.Error(err)
		}
	}

	make("tag", "VERSION="+version)
	checkTag(t, r, version)
	if out := make("apidiff"); strings.Count(out, "no changes\n") != 2 {
		t.Errorf("of what is released, make apidiff prints\n%s", out)
	}
	platforms, sbom := runtime.GOOS+"/"+runtime.GOARCH, "no"
	all := testsize.Of(false, false, true)
	if all {
		platforms, sbom = "", "yes"
	}
	make("release", "VERSION="+version, "PLATFORMS="+platforms, "SBOM="+sbom)
	if all {
		make("reproduce", "VERSION="+version)
	}
	checkRelease(t, r.dir, filepath.Join(r.dir, "dist", version), version)
	checkInstall(t, r, version)
}

// cloneWorkingTree returns a repository with the files of this one, including uncommitted
// changes, but without its tags.
func cloneWorkingTree(t *testing.T) *repository {
	t.Helper()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("this is not a clone: ", err)
	}
	r := newRepository(t)
	r.git("config", "user.name", "test")
	r.git("config", "user.email", "test@example.com")
	r.git("--git-dir", filepath.Join(r.dir, ".git"), "--work-tree", root, "-C", root, "add", "-A")
	r.git("commit", "-q", "-m", "the working tree")
	r.git("reset", "-q", "--hard")
	return r
}

// withOwnModules gives the go commands of this test a separate module cache, because the
// modules that it stores as v0.1.0 are not those of the real v0.1.0. Modules of others come
// from the usual cache.
func withOwnModules(t *testing.T) {
	t.Helper()
	settings, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, others, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(cache)+"/cache/download,"+others)
	t.Setenv("GOMODCACHE", t.TempDir())
	// Use the flags of a release, which make the result independent of directories. Then the build
	// cache has it the next time.
	t.Setenv("GOFLAGS", "-trimpath")
	t.Setenv("CGO_ENABLED", "0")
	t.Cleanup(func() { // TempDir cannot remove the read-only files of modules
		if out, err := exec.Command("go", "clean", "-modcache").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// checkTag checks that in the tagged commit, the modules require each other as version and
// replace nothing, and that the same tag cannot be made twice.
func checkTag(t *testing.T, r *repository, version string) {
	t.Helper()
	for _, dir := range []string{"cmd", "kube"} {
		for file, want := range map[string]string{"go.mod": module + " " + version + "\n", "go.sum": module + " " + version + " h1:"} {
			text, err := exec.CommandContext(t.Context(), "git", "-C", r.dir, "show", dir+"/"+version+":"+dir+"/"+file).Output()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), want) || strings.Contains(string(text), "\nreplace") {
				t.Errorf("%s/%s does not have %q, or replaces a module:\n%s", dir, file, want, text)
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), "make", "-C", r.dir, "tag", "VERSION="+version).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the tag "+version+" exists") {
		t.Errorf("make tag once more prints\n%s", out)
	}
}

// checkInstall installs the programs with "go install", as users without a clone do.
func checkInstall(t *testing.T, r *repository, version string) {
	t.Helper()
	proxy, bin := t.TempDir(), t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", "proxy", version, proxy)
	cmd.Dir = filepath.Join(r.dir, "internal", "tools", "release")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy)+","+os.Getenv("GOPROXY"))
	t.Setenv("GONOSUMDB", "*") // the checksum database does not know these modules
	t.Setenv("GOBIN", bin)
	for program, arg := range map[string]string{"cmd/olmkit": "version", "kube/cmd/olmkit-controller": "--version"} {
		install := exec.CommandContext(t.Context(), "go", "install", module+"/"+program+"@"+version)
		install.Dir = bin
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.CommandContext(t.Context(), filepath.Join(bin, path.Base(program)), arg).Output()
		if err != nil || !strings.HasPrefix(string(out), path.Base(program)+" "+version+", ") {
			t.Errorf("%s, as it is installed, prints %q, error %v", program, out, err)
		}
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// checkRelease checks the archives in a directory.
func checkRelease(t *testing.T, repo, dist, version string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dist, "olmkit_*.tar.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in %s: %v", dist, err)
	}
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	native := false
	for _, name := range names {
		if !strings.Contains(string(sums), "  "+filepath.Base(name)+"\n") {
			t.Errorf("SHA256SUMS does not list %s", filepath.Base(name))
		}
		dir := unpack(t, name)
		exe := ""
		if strings.Contains(name, "_windows_") {
			exe = ".exe"
		}
		for _, file := range []string{"olmkit" + exe, "olmkit-controller" + exe, "LICENSE", "man/olmkit.1.gz"} {
			if !isFile(filepath.Join(dir, file)) {
				t.Errorf("%s has no %s", filepath.Base(name), file)
			}
		}
		for _, file := range []string{"README.md", "CHANGELOG.md"} {
			checkPackedLinks(t, repo, dir, file, version)
		}
		if !strings.Contains(name, "_"+runtime.GOOS+"_"+runtime.GOARCH+".") {
			continue
		}
		native = true
		for program, arg := range map[string]string{"olmkit": "version", "olmkit-controller": "--version"} {
			out, err := exec.CommandContext(t.Context(), filepath.Join(dir, program+exe), arg).Output()
			if err != nil || !strings.HasPrefix(string(out), program+" "+version+" (") {
				t.Errorf("%s %s prints %q, error %v", program, arg, out, err)
			}
		}
	}
	if !native {
		t.Errorf("no archive is for %s/%s: %q", runtime.GOOS, runtime.GOARCH, names)
	}
}

// checkPackedLinks checks that each link in a file of the archive leads to a file of the
// archive, or of the repository at the version.
func checkPackedLinks(t *testing.T, repo, dir, file, version string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
		target, _, _ := strings.Cut(m[1], "#")
		in := dir
		for _, kind := range []string{"blob", "raw"} {
			if rest, ok := strings.CutPrefix(target, "https://"+module+"/"+kind+"/"+version+"/"); ok {
				in, target = repo, rest
			}
		}
		if target == "" || strings.Contains(target, "://") {
			continue
		}
		links++
		if _, err := os.Stat(filepath.Join(in, filepath.FromSlash(target))); err != nil {
			t.Errorf("%s: the link to %s leads nowhere: %v", file, m[1], err)
		}
	}
	if links == 0 && file == "README.md" {
		t.Errorf("%s has no links", file)
	}
}

// unpack unpacks an archive, and returns the path of its only top-level directory.
func unpack(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	top := strings.TrimSuffix(filepath.Base(name), ".tar.gz")
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, top)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !fs.ValidPath(path.Clean(h.Name)) || !strings.HasPrefix(h.Name, top+"/") {
			t.Fatalf("%s has a file %s", name, h.Name)
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o777)
		} else {
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, text, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
