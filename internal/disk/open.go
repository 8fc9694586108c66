package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/regular"
)

// A Root limits which files names may refer to: a directory and everything below it, including symbolic links that
// stay below it. A nil *Root allows all files, for names that the user of the program gives. Only regular files are
// opened, and opening never blocks: a pipe or device is an error, however it got there (S4).
type Root struct {
	dir     *os.Root
	escapes error // the error that dir returns for names that lead out of it
}

// ErrOutside is the cause of errors for names that lead out of a root directory.
var ErrOutside = errors.New("leads out of the root directory through a symbolic link; put a copy in its place")

// OpenRoot returns the Root of a directory.
func OpenRoot(dir string) (*Root, error) {
	info, err := os.Stat(dir) // opening a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("is not a directory")}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return newRoot(root), nil
}

func newRoot(dir *os.Root) *Root {
	_, err := dir.Lstat("..")
	return &Root{dir, errors.Unwrap(err)}
}

// inside replaces the error for a name that leads out of the directory with a clearer one. It returns other errors
// unchanged.
func (r *Root) inside(name string, err error) error {
	if r != nil && r.escapes != nil && errors.Is(err, r.escapes) {
		return &fs.PathError{Op: "open", Path: name, Err: ErrOutside}
	}
	return err
}

// Close closes the directory. Files opened from it stay open.
func (r *Root) Close() error {
	if r == nil {
		return nil
	}
	return r.dir.Close()
}

// Stat describes the file that a name leads to.
func (r *Root) Stat(name string) (fs.FileInfo, error) {
	if r == nil {
		return os.Stat(name)
	}
	info, err := r.dir.Stat(name)
	return info, r.inside(name, err)
}

// Open opens a regular file.
func (r *Root) Open(name string) (*os.File, error) {
	f, info, err := r.open(name)
	if err == nil && info.IsDir() {
		f.Close()
		return nil, irregular(name, info)
	}
	return f, err
}

// Sub returns the Root of a directory below r.
func (r *Root) Sub(name string) (*Root, error) {
	if r == nil {
		return OpenRoot(name)
	}
	info, err := r.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, irregular(name, info)
	}
	sub, err := r.dir.OpenRoot(name)
	if err != nil {
		return nil, r.inside(name, err)
	}
	return newRoot(sub), nil
}

// FS returns the file system of a Root that is not nil.
func (r *Root) FS() fs.FS { return tree{r.dir.FS().(rootFS), r} }

// open opens a regular file or a directory.
func (r *Root) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := r.Stat(name) // devices are not even opened
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, irregular(name, info)
	}
	var f *os.File
	if r == nil {
		f, err = os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	} else {
		f, err = r.dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	}
	if err != nil {
		return nil, nil, r.inside(name, err)
	}
	// The file may have been replaced since the check.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = irregular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadFile returns the content of a regular file. A file that exceeds the limit is rejected before it is read.
func (r *Root) ReadFile(ctx context.Context, name string, limit fbc.LimitError) ([]byte, error) {
	f, info, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.IsDir() {
		return nil, irregular(name, info)
	}
	var text bytes.Buffer
	if limit.Size = info.Size(); limit.Size <= limit.Max {
		limit.Size, err = text.ReadFrom(io.LimitReader(NewStream(ctx, f), limit.Max+1)) // it may grow
	}
	if err == nil && limit.Size > limit.Max {
		err = &fs.PathError{Op: "read", Path: name, Err: &limit}
	}
	return text.Bytes(), err
}

// irregular returns an error for anything but a regular file.
func irregular(name string, info fs.FileInfo) error {
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("is %s, not a regular file", regular.Kind(info.Mode()))}
}

// rootFS is the interface that [os.Root] has as a file system.
type rootFS interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadLinkFS
}

// A tree makes a Root a file system.
type tree struct {
	rootFS
	root *Root
}

func (t tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, _, err := t.root.open(filepath.FromSlash(name))
	if err != nil {
		return nil, err // not a nil *os.File
	}
	return f, nil
}

func (t tree) Stat(name string) (fs.FileInfo, error) {
	info, err := t.rootFS.Stat(name)
	return info, t.root.inside(name, err)
}

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := t.rootFS.ReadDir(name)
	return list, t.root.inside(name, err)
}

func (t tree) Lstat(name string) (fs.FileInfo, error) {
	info, err := t.rootFS.Lstat(name)
	return info, t.root.inside(name, err)
}

func (t tree) ReadLink(name string) (string, error) {
	to, err := t.rootFS.ReadLink(name)
	return to, t.root.inside(name, err)
}
