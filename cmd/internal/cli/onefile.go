package cli

import (
	"cmp"
	"io/fs"
	"path/filepath"

	"github.com/olmkit/olmkit/internal/disk"
)

// A oneFile is a file system that contains a single file on disk. It is used for catalogs that
// are one file, so that the file can be read again.
type oneFile struct {
	name string
	root *disk.Root
	path string // in root
}

func (o oneFile) Open(name string) (fs.File, error) {
	if name != o.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := o.root.Open(o.path)
	if err != nil {
		return nil, err // return an untyped nil, not a nil *os.File
	}
	return f, nil
}

func (o oneFile) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return o.root.Stat(filepath.Dir(o.path))
	}
	info, err := o.root.Stat(o.path)
	if err != nil || name != o.name {
		return nil, cmp.Or(err, error(&fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}))
	}
	return named{info, o.name}, nil
}

func (o oneFile) ReadDir(string) ([]fs.DirEntry, error) {
	info, err := o.Stat(o.name)
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

// named is the info of a file under the requested name. If the file is a link, the info alone
// would have the name of its target.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }
