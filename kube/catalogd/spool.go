package catalogd

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A spool is the file that the text of a response is written to.
type spool struct {
	*os.File
	named bool // the file still has a name and must be renamed or removed
}

// spool creates a spool. Without Options.Dir the file is unlinked at once, and
// its space is freed with the last catalog that uses it.
func (c *Client) spool() (*spool, error) {
	if c.opts.Dir != "" {
		if err := os.MkdirAll(c.opts.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(c.opts.Dir, "olmkit-catalog-*.tmp")
	if err != nil {
		return nil, err
	}
	s := &spool{f, true}
	if c.opts.Dir == "" {
		s.named = os.Remove(f.Name()) != nil
	}
	return s, nil
}

func (s *spool) discard() {
	s.Close()
	if s.named {
		os.Remove(s.Name())
	}
}

// A spooled is a file system with one file. The first open returns the arriving
// response if there is one; later opens return the saved file.
type spooled struct {
	name string
	path string   // of the file in Options.Dir, or ""
	file *os.File // closed by the garbage collector

	mu    sync.Mutex
	first io.Reader
	size  int64
}

// settle sets the final size; from now on Open returns the saved file.
func (s *spooled) settle(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.size = nil, size
}

// Open opens the file or the root directory.
func (s *spooled) Open(name string) (fs.File, error) {
	switch name {
	case ".":
		return &openRoot{s: s}, nil
	case s.name:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.first != nil {
			f := &openStream{Reader: s.first, info: info{s.name, 0, 0o444}}
			s.first = nil
			return f, nil
		}
		return &openText{io.NewSectionReader(s.file, 0, s.size), info{s.name, s.size, 0o444}}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// An openStream is the arriving text. Its size is unknown.
type openStream struct {
	io.Reader
	info
}

func (f *openStream) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openStream) Close() error               { return nil }

// An openText is the saved text. It supports seeking.
type openText struct {
	*io.SectionReader
	info info
}

func (f *openText) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openText) Close() error               { return nil }

type openRoot struct {
	s    *spooled
	done bool
}

func (d *openRoot) Stat() (fs.FileInfo, error) { return info{".", 0, fs.ModeDir | 0o555}, nil }
func (d *openRoot) Close() error               { return nil }
func (d *openRoot) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

func (d *openRoot) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.done {
		if n > 0 {
			return nil, io.EOF
		}
		return nil, nil
	}
	d.done = true
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return []fs.DirEntry{fs.FileInfoToDirEntry(info{d.s.name, d.s.size, 0o444})}, nil
}

type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
