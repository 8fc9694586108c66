package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// tag commits a change in which the modules of the workspace require each other as version, with the checksums that
// this version will have, and tags the commit for each module. The checksums do not require publishing: a module does
// not include the modules in directories below it, so changing their go.mod and go.sum later does not affect it.
// go.work replaces the version with the modules in the repository, so that development can continue before the tags
// are pushed.
func tag(version string) error {
	repo := repository(root)
	changes, err := repo.git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("there are changes that are not committed:\n%s", changes)
	}
	src, remove, err := repo.clone("HEAD")
	if err != nil {
		return err
	}
	defer remove()
	published, others, err := src.modules()
	if err != nil {
		return err
	}
	for _, m := range published {
		if _, err := repo.git("rev-parse", "-q", "--verify", "refs/tags/"+m.tag(version)); err == nil {
			return fmt.Errorf("the tag %s exists; versions never change: take the next one", m.tag(version))
		}
		for _, r := range m.file.Replace {
			return fmt.Errorf("%s replaces %s, and go install refuses modules with replace directives; remove it", path.Join(m.dir, "go.mod"), r.Old.Path)
		}
	}
	if err := src.replaceInWork(published, version); err != nil {
		return err
	}
	var sums []string
	for i, m := range slices.Concat(published, others) {
		if err := src.require(m, published, version, sums); err != nil {
			return err
		}
		if i >= len(published) {
			continue
		}
		tree, err := src.stage()
		if err != nil {
			return err
		}
		more, err := src.sums(m, version, tree)
		if err != nil {
			return err
		}
		sums = append(sums, more...)
	}
	return repo.commit(src, published, version)
}

// stage stages all files in the working directory, and returns the Git tree that they form.
func (r repository) stage() (string, error) {
	if _, err := r.git("add", "-A"); err != nil {
		return "", err
	}
	return r.git("write-tree")
}

// replaceInWork makes go.work replace the given version of published modules that others require with the modules in
// the repository.
func (r repository) replaceInWork(published []*mod, version string) error {
	work, err := r.work()
	if err != nil {
		return err
	}
	for _, m := range published {
		for _, old := range slices.Clone(work.Replace) {
			if old.Old.Path == m.path() {
				if err := work.DropReplace(old.Old.Path, old.Old.Version); err != nil {
					return err
				}
			}
		}
	}
	work.Cleanup()
	for _, m := range published {
		if slices.ContainsFunc(published, func(o *mod) bool { return o.requires(m) }) {
			if err := work.AddReplace(m.path(), version, "./"+strings.TrimPrefix(m.dir, "."), ""); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(r.file("go.work"), modfile.Format(work.Syntax), 0o666)
}

// require makes a module require the given modules as version. Their checksums are added to its go.sum, except for
// modules that it replaces with directories of the repository.
func (r repository) require(m *mod, list []*mod, version string, sums []string) error {
	old := []string{} // prefixes of the lines of go.sum to replace
	for _, o := range list {
		if m.requires(o) {
			if err := m.file.AddRequire(o.path(), version); err != nil {
				return err
			}
			old = append(old, o.path()+" ")
		}
	}
	if len(old) == 0 {
		return nil
	}
	text, err := m.file.Format()
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.file(m.dir, "go.mod"), text, 0o666); err != nil || len(m.file.Replace) > 0 {
		return err
	}
	name := r.file(m.dir, "go.sum")
	if text, err = os.ReadFile(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	isOld := func(line string) bool {
		return slices.ContainsFunc(old, func(o string) bool { return strings.HasPrefix(line, o) })
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), isOld)
	for _, s := range sums {
		if isOld(s) {
			at := slices.IndexFunc(append(lines, "~"), func(line string) bool { return line > s })
			lines = slices.Insert(lines, at, s+"\n")
		}
	}
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o666)
}

// commit commits all changes in a clone and tags them.
func (r repository) commit(src repository, published []*mod, version string) error {
	if _, err := src.stage(); err != nil {
		return err
	}
	changed, err := src.git("diff", "--cached", "--name-only")
	if err != nil {
		return err
	}
	for name := range strings.Lines(changed) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(src.file(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.file(name), text, 0o666); err != nil {
			return err
		}
		if _, err := r.git("add", name); err != nil {
			return err
		}
	}
	if _, err := r.git("commit", "-q", "--allow-empty", "-m", "all: require "+version); err != nil {
		return err
	}
	var tags []string
	for _, m := range published {
		if _, err := r.git("tag", "-a", "-m", m.tag(version), m.tag(version)); err != nil {
			return err
		}
		tags = append(tags, m.tag(version))
	}
	fmt.Printf("%s is tagged; publish it: git push --atomic origin HEAD %s\n", version, strings.Join(tags, " "))
	return nil
}
