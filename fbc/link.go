package fbc

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links may lead to one file, as on Linux.
const maxLinks = 40

// linkEscapes returns an error when the symbolic link at name leads out of the
// tree, or in a circle (A16): what files hold must not depend on, or tell
// about, the machine that reads it. A file system that cannot read links is
// left to judge for itself. Where somebody may change links during the load,
// os.Root is the file system to use.
func linkEscapes(fsys fs.FS, name string, of contents) error {
	lfs, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		return nil
	}
	var done []string // the names walked so far, none of them a link
	todo := strings.Split(name, "/")
	for links := 0; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return fmt.Errorf("is a link that leads out of the %s; put a copy of the file in its place", of)
			}
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(path.Join(done...), next)
		info, err := lfs.Lstat(at)
		if err != nil {
			return nil // opening the file says what is wrong
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = append(done, next)
			continue
		}
		if links++; links > maxLinks {
			return errors.New("is a link that leads in a circle")
		}
		target, err := lfs.ReadLink(at)
		if err != nil {
			return nil
		}
		if filepath.IsAbs(target) || strings.HasPrefix(target, "/") {
			return fmt.Errorf("is a link that leads out of the %s, to %q; put a copy of the file in its place", of, target)
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return nil
}
