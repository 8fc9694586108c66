package oci

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// maxIdle is the number of files that a seekFS keeps open.
const maxIdle = 4

// A seekFS is a file system of compressed files, which can only be read from their
// start. Its files can seek. Reading a part of a file continues, if possible, where an earlier
// reader of the file stopped, so reading all parts of a file in order costs as much as reading
// the file once.
type seekFS struct {
	fs.FS

	mu   sync.Mutex
	idle []*reading // the last used last
}

// A reading is an open file and the position in it.
type reading struct {
	name string
	file fs.File
	at   int64
}

// Open opens a file or directory.
func (r *seekFS) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil || !stat.Mode().IsRegular() {
		return f, err
	}
	return &seekFile{fs: r, now: &reading{name: name, file: f}, size: stat.Size()}, nil
}

// take returns the idle reading that is nearest before a position, if it is beyond least.
func (r *seekFS) take(name string, least, to int64) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	best := -1
	for i, x := range r.idle {
		if x.name == name && x.at > least && x.at <= to {
			best, least = i, x.at
		}
	}
	if best < 0 {
		return nil
	}
	x := r.idle[best]
	r.idle = slices.Delete(r.idle, best, best+1)
	return x
}

// put makes a reading idle, and closes the one that was idle for the longest time.
func (r *seekFS) put(x *reading) error {
	if x.at == 0 {
		return x.file.Close() // as good as a new one
	}
	r.mu.Lock()
	r.idle = append(r.idle, x)
	var old *reading
	if len(r.idle) > maxIdle {
		old = r.idle[0]
		r.idle = slices.Delete(r.idle, 0, 1)
	}
	r.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.file.Close()
}

// A seekFile is a file of a seekFS.
type seekFile struct {
	fs     *seekFS
	now    *reading // nil when closed
	to     int64    // where the next Read begins
	size   int64
	failed bool
}

func (s *seekFile) Stat() (fs.FileInfo, error) {
	if s.now == nil {
		return nil, fs.ErrClosed
	}
	return s.now.file.Stat()
}

func (s *seekFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.to
	case io.SeekEnd:
		offset += s.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of the file")
	}
	s.to = offset
	return offset, nil
}

func (s *seekFile) Read(p []byte) (int, error) {
	switch {
	case s.now == nil:
		return 0, fs.ErrClosed
	case s.to >= s.size && s.now.at != s.to:
		return 0, io.EOF
	}
	if err := s.move(); err != nil {
		return 0, err
	}
	n, err := s.now.file.Read(p)
	s.now.at += int64(n)
	s.to = s.now.at
	s.failed = s.failed || err != nil
	return n, err
}

// move brings the reading to the position of the next Read.
func (s *seekFile) move() error {
	if s.now.at == s.to {
		return nil
	}
	least := s.now.at
	if least > s.to {
		least = -1
	}
	if x := s.fs.take(s.now.name, least, s.to); x != nil {
		s.now, x = x, s.now
		if err := s.fs.put(x); err != nil {
			return err
		}
	} else if least < 0 {
		f, err := s.fs.FS.Open(s.now.name)
		if err != nil {
			return err
		}
		x := s.now
		s.now = &reading{name: x.name, file: f}
		if err := s.fs.put(x); err != nil {
			return err
		}
	}
	n, err := io.CopyN(io.Discard, s.now.file, s.to-s.now.at)
	s.now.at += n
	s.failed = s.failed || err != nil
	return err
}

// Close keeps a reading that can be continued.
func (s *seekFile) Close() error {
	x := s.now
	if x == nil {
		return fs.ErrClosed
	}
	s.now = nil
	if s.failed {
		return x.file.Close()
	}
	return s.fs.put(x)
}
