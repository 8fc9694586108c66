package disk

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/olmkit/olmkit/internal/regular"
)

// Replace writes a file atomically. A new file gets the permissions perm, as reduced by the umask; an existing file
// keeps its own. A symbolic link is followed, because the name comes from the command line.
func Replace(name string, perm fs.FileMode, write func(io.Writer) error) error {
	var b Batch
	defer b.Discard()
	if err := b.AddFile(name, perm, write); err != nil {
		return err
	}
	return b.Commit()
}

// A Batch is a group of files that are written together: either all are written or none. The zero Batch is empty. Add
// writes each file next to its destination, under a temporary name that loads ignore ([regular.IsTemporary]); Commit
// renames them. If the process is killed, each file has either its old or its new content, and temporary files may be
// left behind.
type Batch struct {
	staged []*staged
	roots  []*Root
	undo   []func() error // removes the directories created for the files, in reverse order
	dirs   []func() error
	step   func() error // for tests: called before each change to the file system, which fails if it returns an error
}

type staged struct {
	root   *Root
	name   string // of the file, in root
	temp   string // holds the content until it is moved
	backup string // holds the old content, once it is to be replaced
	moved  bool
}

// A NotFileError reports that something other than a regular file would be replaced.
type NotFileError struct {
	Name string
	Mode fs.FileMode
}

func (e *NotFileError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file; choose a regular file or a new name", e.Name, regular.Kind(e.Mode))
}

// An OutsideError reports a symbolic link that leads out of the directory to write to.
type OutsideError struct{ Name, Dir string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s leads out of %s through a symbolic link; remove the link, or choose another directory", e.Name, e.Dir)
}

// Dir returns a directory for the files of a batch, which the batch closes when it ends. If the directory does not
// exist, it is created, and removed again if the batch is discarded.
func (b *Batch) Dir(name string) (*Root, error) {
	var missing []string
	for at := name; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err := b.tick(); err != nil {
			return nil, err
		}
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		b.undo = append(b.undo, func() error { return os.Remove(at) })
		b.dirs = append(b.dirs, func() error { return syncDir(os.Open(filepath.Dir(at))) })
	}
	root, err := OpenRoot(name)
	if err == nil {
		b.roots = append(b.roots, root)
	}
	return root, err
}

// AddFile is like Add for a file in any existing directory, whose path is name.
func (b *Batch) AddFile(name string, perm fs.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	root, err := OpenRoot(filepath.Dir(name))
	if err != nil {
		return cannotWrite(name, err)
	}
	b.roots = append(b.roots, root)
	return b.Add(root, filepath.Base(name), perm, write)
}

// Add writes the content of a file below a directory, creating missing directories. It follows symbolic links that
// stay below the directory, and replaces only regular files.
func (b *Batch) Add(root *Root, name string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	shown := filepath.Join(root.dir.Name(), name)
	if err := b.mkdirAll(root, filepath.Dir(name)); err != nil {
		return err
	}
	if name, err = root.target(name); err != nil {
		return err
	}
	old, err := root.dir.Lstat(name)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return &NotFileError{shown, old.Mode()}
	case err == nil:
		perm = old.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return cannotWrite(shown, err)
	default:
		old = nil
	}
	if err := b.tick(); err != nil {
		return cannotWrite(shown, err)
	}
	temp := temporary(name)
	f, err := root.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return cannotWrite(shown, err)
	}
	b.staged = append(b.staged, &staged{root: root, name: name, temp: temp})
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return cannotWrite(shown, err)
	}
	if old != nil {
		if err := f.Chmod(perm); err != nil { // without the umask
			return cannotWrite(shown, err)
		}
	}
	if err := b.tick(); err != nil {
		return err
	}
	return f.Sync()
}

// A writeError is the reason why a file cannot be written.
type writeError struct {
	name string
	err  error
}

func (e *writeError) Error() string {
	dir := filepath.Dir(e.name)
	if errors.Is(e.err, fs.ErrNotExist) {
		return fmt.Sprintf("%s cannot be written: directory %s does not exist; create it, or choose another file", e.name, dir)
	}
	return fmt.Sprintf("%s cannot be written: directory %s: %v", e.name, dir, e.err)
}

func (e *writeError) Unwrap() error { return e.err }

// cannotWrite returns the error without the temporary name, which the user does not know.
func cannotWrite(name string, err error) error {
	return &writeError{name, cause(err)}
}

// cause returns an error of the file system without the paths.
func cause(err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		return at.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// target returns the path, relative to the directory, of the file that a name leads to.
func (r *Root) target(name string) (string, error) {
	dir := r.dir.Name()
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	full := filepath.Join(dir, name)
	at, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) { // a new file, or a dangling link
		if at, err = filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
			at = filepath.Join(at, filepath.Base(full))
		}
	}
	if err != nil {
		return "", err
	}
	if at, err = filepath.Rel(base, at); err != nil || !filepath.IsLocal(at) {
		return "", &OutsideError{full, dir}
	}
	return at, nil
}

// temporary returns a new name in the directory of a file.
func temporary(name string) string {
	return filepath.Join(filepath.Dir(name), regular.TemporaryPrefix+rand.Text()+".tmp")
}

// mkdirAll creates a directory and its parents, which are removed again if the batch is discarded.
func (b *Batch) mkdirAll(root *Root, dir string) error {
	if dir == "." {
		return nil
	}
	shown := filepath.Join(root.dir.Name(), dir)
	info, err := root.dir.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is %s, not a directory; remove it, or choose another directory", shown, regular.Kind(info.Mode()))
	case errors.Is(err, root.escapes):
		return &OutsideError{shown, root.dir.Name()}
	case !errors.Is(err, fs.ErrNotExist):
		return cannotWrite(shown, err)
	}
	if _, err := root.dir.Lstat(dir); err == nil {
		return fmt.Errorf("%s is a symbolic link to a directory that does not exist; remove the link, or create the directory", shown)
	}
	above := filepath.Dir(dir)
	if err := b.mkdirAll(root, above); err != nil {
		return err
	}
	if err := b.tick(); err != nil {
		return cannotWrite(shown, err)
	}
	if err := root.dir.Mkdir(dir, 0o777); err != nil {
		return cannotWrite(shown, err)
	}
	b.undo = append(b.undo, func() error { return root.dir.Remove(dir) })
	b.dirs = append(b.dirs, func() error { return syncDir(root.dir.Open(above)) })
	return nil
}

// Commit moves all files to their destinations (S6). If one cannot be moved, the previous files are restored and the
// error states the reason; it is an [*UndoError] if restoring fails too. The batch is empty afterwards.
func (b *Batch) Commit() error {
	err := b.commit()
	if err == nil {
		b.drop()
	}
	return b.discard(err)
}

func (b *Batch) commit() error {
	type place struct {
		root *Root
		dir  string
	}
	seen := map[place]bool{}
	for _, s := range b.staged {
		if err := b.move(s); err != nil {
			return cannotWrite(s.shown(s.name), err)
		}
		if at := (place{s.root, filepath.Dir(s.name)}); !seen[at] {
			seen[at] = true
			b.dirs = append(b.dirs, func() error { return syncDir(at.root.dir.Open(at.dir)) })
		}
	}
	for _, sync := range b.dirs {
		if err := b.tick(); err != nil {
			return err
		}
		if err := sync(); err != nil {
			return err
		}
	}
	return nil
}

// move moves a file to its destination and keeps a backup of the previous one.
func (b *Batch) move(s *staged) error {
	dir, backup := s.root.dir, temporary(s.name)
	if err := b.tick(); err != nil {
		return err
	}
	// On file systems without hard links, the file is missing for a moment.
	if err := dir.Link(s.name, backup); err == nil {
		s.backup = backup
	} else if !errors.Is(err, fs.ErrNotExist) {
		if err := dir.Rename(s.name, backup); err != nil {
			return err
		}
		s.backup = backup
	}
	if err := b.tick(); err != nil {
		return err
	}
	if err := dir.Rename(s.temp, s.name); err != nil {
		return err
	}
	s.moved = true
	return nil
}

// drop deletes the backup.
func (b *Batch) drop() {
	for _, s := range b.staged {
		if s.backup != "" && b.tick() == nil {
			s.root.dir.Remove(s.backup)
		}
	}
	b.staged, b.undo = nil, nil
}

// Discard restores the previous state. It has no effect after Commit.
func (b *Batch) Discard() { b.discard(nil) } // nothing has been moved

// discard restores the previous state and returns err, together with the files that could not be restored.
func (b *Batch) discard(err error) error {
	var left []Unrestored
	for _, s := range slices.Backward(b.staged) {
		if uerr := b.restore(s); uerr != nil {
			left = append(left, s.unrestored(uerr))
		}
		s.root.dir.Remove(s.temp)
	}
	for _, undo := range slices.Backward(b.undo) {
		undo() // not if it contains other files
	}
	for _, r := range b.roots {
		r.Close()
	}
	*b = Batch{step: b.step}
	if len(left) > 0 {
		slices.Reverse(left)
		return &UndoError{Err: err, Files: left}
	}
	return err
}

// restore puts the previous file back. If it cannot, it keeps the backup.
func (b *Batch) restore(s *staged) error {
	dir := s.root.dir
	switch {
	case s.backup == "" && !s.moved:
		return nil
	case s.backup == "":
		if err := b.tick(); err != nil {
			return err
		}
		return dir.Remove(s.name)
	case !s.moved && s.same():
		return dir.Remove(s.backup)
	}
	if err := b.tick(); err != nil {
		return err
	}
	return dir.Rename(s.backup, s.name)
}

// same reports whether the backup is a hard link to the current file.
func (s *staged) same() bool {
	file, err := s.root.dir.Lstat(s.name)
	if err != nil {
		return false
	}
	backup, err := s.root.dir.Lstat(s.backup)
	return err == nil && os.SameFile(file, backup)
}

// shown returns the path of a file for messages.
func (s *staged) shown(name string) string { return filepath.Join(s.root.dir.Name(), name) }

func (s *staged) unrestored(err error) Unrestored {
	u := Unrestored{Name: s.shown(s.name), New: s.moved, Err: cause(err)}
	if s.backup != "" {
		u.Backup = s.shown(s.backup)
	}
	return u
}

// tick is called before each change to the file system.
func (b *Batch) tick() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

// syncDir flushes the names in a directory to disk, if the file system supports that.
func syncDir(d *os.File, err error) error {
	if err != nil {
		return err
	}
	defer d.Close()
	if runtime.GOOS == "windows" {
		return nil
	}
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
