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

// Replace writes a file, whole or not at all. A new file has the permissions of perm
// that the umask leaves; one that was there keeps its own. A symbolic link is followed,
// as the name comes from the command line.
func Replace(name string, perm fs.FileMode, write func(io.Writer) error) error {
	var b Batch
	defer b.Discard()
	if err := b.AddFile(name, perm, write); err != nil {
		return err
	}
	return b.Commit()
}

// A Batch is files that are written together: all of them, or none when one cannot be
// written. The zero Batch is empty.
//
// Add writes each file next to its place, under a temporary name that no load reads
// ([regular.IsTemporary]); Commit moves them there. A process that is killed leaves
// each file as it was before or as it should be, and perhaps files with temporary
// names.
type Batch struct {
	staged []*staged
	roots  []*Root
	undo   []func() error // takes back what was created for the files, outer directories first
	dirs   []func() error
	step   func() error // for tests: called before each change of the file system, and fails it
}

type staged struct {
	root   *Root
	name   string // of the file, in root
	temp   string // holds its content until it is moved
	backup string // holds what was there, once that is to be replaced
	moved  bool
}

// A NotFileError refuses to replace something that is not a regular file.
type NotFileError struct {
	Name string
	Mode fs.FileMode
}

func (e *NotFileError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file; name a file, which is replaced as a whole, or a new one", e.Name, regular.Kind(e.Mode))
}

// An OutsideError refuses to write through a symbolic link out of a directory.
type OutsideError struct{ Name, Dir string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s leads out of %s through a symbolic link; remove the link, or choose another directory", e.Name, e.Dir)
}

// Dir returns a directory for the files of a batch, which is closed with it. One that
// does not exist is created, and goes again with the batch.
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

// AddFile is like Add, but the file may be in any existing directory.
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

// Add writes what is to become a file below a directory. It creates the directories in
// between. It follows symbolic links that stay below the directory, and replaces nothing
// but regular files.
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

// cannotWrite leaves the temporary name out of an error, as nobody gave it.
func cannotWrite(name string, err error) error {
	return &writeError{name, cause(err)}
}

// cause returns an error of the file system without its names.
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

// target returns where in the directory a name leads.
func (r *Root) target(name string) (string, error) {
	dir := r.dir.Name()
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	full := filepath.Join(dir, name)
	at, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) { // a new file, or a link to nothing
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

// mkdirAll creates a directory and those above it, which go again with the batch.
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

// Commit moves all files to their places (S6). When one cannot be moved, what was there is
// put back, and the error gives the reason; it is an [*UndoError] if that fails too. The batch
// is empty afterwards.
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

// move moves a file to its place, and keeps what was there.
func (b *Batch) move(s *staged) error {
	dir, backup := s.root.dir, temporary(s.name)
	if err := b.tick(); err != nil {
		return err
	}
	// Where there are no hard links the file is missing for a moment.
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

// drop forgets what was replaced.
func (b *Batch) drop() {
	for _, s := range b.staged {
		if s.backup != "" && b.tick() == nil {
			s.root.dir.Remove(s.backup)
		}
	}
	b.staged, b.undo = nil, nil
}

// Discard leaves everything as it was before. After Commit it does nothing.
func (b *Batch) Discard() { b.discard(nil) } // nothing has been moved

// discard leaves everything as it was before, and returns the error for which it does
// so, with the files for which that fails.
func (b *Batch) discard(err error) error {
	var left []Unrestored
	for _, s := range slices.Backward(b.staged) {
		if uerr := b.restore(s); uerr != nil {
			left = append(left, s.unrestored(uerr))
		}
		s.root.dir.Remove(s.temp)
	}
	for _, undo := range slices.Backward(b.undo) {
		undo() // not if something is in there
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

// restore puts back what was in the place of a file. When it cannot, it keeps the
// backup.
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

// same reports whether the backup is a second name of the file in its place.
func (s *staged) same() bool {
	file, err := s.root.dir.Lstat(s.name)
	if err != nil {
		return false
	}
	backup, err := s.root.dir.Lstat(s.backup)
	return err == nil && os.SameFile(file, backup)
}

// shown returns the path of a file.
func (s *staged) shown(name string) string { return filepath.Join(s.root.dir.Name(), name) }

func (s *staged) unrestored(err error) Unrestored {
	u := Unrestored{Name: s.shown(s.name), New: s.moved, Err: cause(err)}
	if s.backup != "" {
		u.Backup = s.shown(s.backup)
	}
	return u
}

// tick is called before each change of the file system.
func (b *Batch) tick() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

// syncDir makes sure that the names in a directory survive a loss of power, as far as
// the file system knows how to.
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
