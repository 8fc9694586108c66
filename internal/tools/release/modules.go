package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// root is the path of the repository, relative to this directory.
const root = "../../.."

// A mod is a module of the repository.
type mod struct {
	dir  string // the directory of go.mod, relative to the repository, slash-separated
	file *modfile.File
}

func (m *mod) path() string { return m.file.Module.Mod.Path }

func (m *mod) requires(o *mod) bool {
	return slices.ContainsFunc(m.file.Require, func(r *modfile.Require) bool { return r.Mod.Path == o.path() })
}

// tag returns the name of the tag that the go command looks for.
func (m *mod) tag(version string) string { return path.Join(m.dir, version) }

// A repository is a directory with a Git repository, checked out.
type repository string

func (r repository) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", string(r)}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

func (r repository) file(elem ...string) string {
	return filepath.Join(append([]string{string(r)}, elem...)...)
}

// clone returns a clone of the repository in a temporary directory, with revision checked out,
// and a function that removes it. Uncommitted changes are not cloned.
func (r repository) clone(revision string) (c repository, remove func(), err error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	c = repository(filepath.Join(dir, "src"))
	commit, err := r.git("rev-parse", revision+"^{commit}")
	if err == nil {
		_, err = r.git("clone", "-q", "--shared", "--no-checkout", ".", string(c))
	}
	if err == nil {
		_, err = c.git("-c", "advice.detachedHead=false", "checkout", "-q", commit)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return c, remove, nil
}

// work reads go.work.
func (r repository) work() (*modfile.WorkFile, error) {
	name := r.file("go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(name, text, nil)
}

// modules returns all modules of the repository. The published ones are those of go.work, each
// after the modules that it requires.
func (r repository) modules() (published, others []*mod, err error) {
	work, err := r.work()
	if err != nil {
		return nil, nil, err
	}
	list, err := r.git("ls-files", "--", "go.mod", "*/go.mod")
	if err != nil {
		return nil, nil, err
	}
	var waiting []*mod
	for name := range strings.Lines(list) {
		name = strings.TrimSpace(name)
		if slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		text, err := os.ReadFile(r.file(name))
		if err != nil {
			return nil, nil, err
		}
		m := &mod{dir: path.Dir(name)}
		if m.file, err = modfile.Parse(name, text, nil); err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(work.Use, func(u *modfile.Use) bool { return path.Clean(u.Path) == m.dir }) {
			waiting = append(waiting, m)
		} else {
			others = append(others, m)
		}
	}
	for len(waiting) > 0 {
		i := slices.IndexFunc(waiting, func(m *mod) bool { return !slices.ContainsFunc(waiting, m.requires) })
		if i < 0 {
			return nil, nil, fmt.Errorf("%s requires a module that requires it", waiting[0].path())
		}
		published = append(published, waiting[i])
		waiting = slices.Delete(waiting, i, i+1)
	}
	return published, others, nil
}

// pack writes the module m of a revision or tree to a ZIP file, as the go command packs
// modules.
func (r repository) pack(m *mod, version, revision, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	dir := m.dir
	if dir == "." {
		dir = ""
	}
	err = zip.CreateFromVCS(f, module.Version{Path: m.path(), Version: version}, string(r), revision, dir)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// sums returns the lines of go.sum for a module of a revision or tree.
func (r repository) sums(m *mod, version, revision string) ([]string, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "zip")
	if err := r.pack(m, version, revision, name); err != nil {
		return nil, err
	}
	all, err := dirhash.HashZip(name, dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	goMod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (file io.ReadCloser, err error) {
		return os.Open(r.file(m.dir, "go.mod"))
	})
	if err != nil {
		return nil, err
	}
	id := m.path() + " " + version
	return []string{id + " " + all, id + "/go.mod " + goMod}, nil
}
