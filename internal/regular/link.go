package regular

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

// escapes returns an error if the symbolic link at name leads out of the tree or in a
// circle (A16). Contents must not depend on the machine that reads them, or reveal
// anything about it. A file system that cannot read links must apply its own rules. If
// links may change during the load, use an os.Root.
func escapes(fsys fs.FS, name, of string) error {
	lfs, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		return nil
	}
	var done []string // the names so far; none of them is a link
	todo := strings.Split(name, "/")
	for links := 0; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return fmt.Errorf("is a link that leads out of the %s; replace it with a copy of the file", of)
			}
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(path.Join(done...), next)
		info, err := lfs.Lstat(at)
		if err != nil {
			return nil // opening the file reports the error
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
			return fmt.Errorf("is a link that leads out of the %s, to %q; replace it with a copy of the file", of, target)
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return nil
}
