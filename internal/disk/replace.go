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

	"github.com/olmkit/olmkit/fbc"
)

// Replace writes a file, whole or not at all. A new file has the permissions of perm
// that the umask leaves; one that was there keeps its own.
func Replace(name string, perm fs.FileMode, write func(io.Writer) error) error {
	var b Batch
	defer b.Discard()
	if err := b.Add(name, perm, write); err != nil {
		return err
	}
	return b.Commit()
}

// A Batch is files that are written together: all of them, or none when one cannot be
// written. The zero Batch is empty.
//
// Add writes each file next to its place, under a temporary name that no load reads
// ([fbc.TemporaryPrefix]); Commit moves them there. A process that is killed leaves
// each file as it was before or as it should be, and perhaps files with temporary
// names.
type Batch struct {
	staged []*staged
	made   []string // directories, outer ones first
	step   func()   // for tests: called before each change of the file system
}

type staged struct {
	name   string // of the file
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
	return fmt.Sprintf("%s is not a regular file (%s); name a file, which is replaced as a whole, or a new one", e.Name, e.Mode.Type())
}

// Add writes what is to become a file, in a directory that exists. It follows symbolic
// links, and replaces nothing but regular files.
func (b *Batch) Add(name string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	old, err := os.Lstat(name)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return &NotFileError{name, old.Mode()}
	case err == nil:
		perm = old.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		old = nil
	}
	b.tick()
	f, err := os.OpenFile(temporary(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if at := (*fs.PathError)(nil); errors.As(err, &at) { // of a name that nobody gave
		return fmt.Errorf("%s cannot be written: directory %s: %w", name, filepath.Dir(name), at.Err)
	}
	if err != nil {
		return err
	}
	b.staged = append(b.staged, &staged{name: name, temp: f.Name()})
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
		return err
	}
	if old != nil {
		if err := f.Chmod(perm); err != nil { // without the umask
			return err
		}
	}
	b.tick()
	return f.Sync()
}

// temporary returns a new name in the directory of a file.
func temporary(name string) string {
	return filepath.Join(filepath.Dir(name), fbc.TemporaryPrefix+rand.Text()+".tmp")
}

// MkdirAll creates a directory and those above it, which go again with the batch.
func (b *Batch) MkdirAll(dir string) error {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		b.tick()
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		b.made = append(b.made, at)
	}
	return os.MkdirAll(dir, 0o777) // reports a file that is in the way
}

// Commit moves all files to their places. When one cannot be moved, what was there is
// put back, and the error says why. The batch is empty afterwards.
func (b *Batch) Commit() error {
	defer b.Discard()
	var dirs []string
	for _, s := range b.staged {
		if err := b.move(s); err != nil {
			return err
		}
		dirs = append(dirs, filepath.Dir(s.name))
	}
	for _, dir := range b.made {
		dirs = append(dirs, filepath.Dir(dir))
	}
	b.drop()
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// move moves a file to its place, and keeps what was there.
func (b *Batch) move(s *staged) error {
	backup := temporary(s.name)
	b.tick()
	// Where there are no hard links the file is missing for a moment.
	if err := os.Link(s.name, backup); err == nil {
		s.backup = backup
	} else if !errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(s.name, backup); err != nil {
			return err
		}
		s.backup = backup
	}
	b.tick()
	if err := os.Rename(s.temp, s.name); err != nil {
		return err
	}
	s.moved = true
	return nil
}

// drop forgets what was replaced.
func (b *Batch) drop() {
	for _, s := range b.staged {
		if s.backup != "" {
			b.tick()
			os.Remove(s.backup)
		}
	}
	b.staged, b.made = nil, nil
}

// Discard leaves everything as it was before. After Commit it does nothing.
func (b *Batch) Discard() {
	for _, s := range slices.Backward(b.staged) {
		switch {
		case s.backup != "":
			os.Rename(s.backup, s.name)
			os.Remove(s.backup) // two names of one file stay both
		case s.moved:
			os.Remove(s.name)
		}
		os.Remove(s.temp)
	}
	for _, dir := range slices.Backward(b.made) {
		os.Remove(dir) // not if others put something there
	}
	b.staged, b.made = nil, nil
}

func (b *Batch) tick() {
	if b.step != nil {
		b.step()
	}
}

// syncDir makes sure that the names in a directory survive a loss of power, as far as
// the file system knows how to.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
