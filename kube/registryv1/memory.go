package registryv1

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// A memory is a file system in memory: a map from file names to contents.
type memory map[string][]byte

// Open implements fs.FS.
func (m memory) Open(name string) (fs.File, error) {
	text, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memoryFile{bytes.NewReader(text), memoryInfo{path.Base(name), int64(len(text))}}, nil
}

// ReadDir implements fs.ReadDirFS.
func (m memory) ReadDir(dir string) (out []fs.DirEntry, err error) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if path.Dir(name) == dir {
			out = append(out, fs.FileInfoToDirEntry(memoryInfo{path.Base(name), int64(len(m[name]))}))
		}
	}
	if out == nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	return out, nil
}

type memoryFile struct {
	*bytes.Reader
	info memoryInfo
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (*memoryFile) Close() error                 { return nil }

type memoryInfo struct {
	name string
	size int64
}

func (i memoryInfo) Name() string     { return i.name }
func (i memoryInfo) Size() int64      { return i.size }
func (memoryInfo) Mode() fs.FileMode  { return 0o444 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }
