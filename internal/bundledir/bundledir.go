// Package bundledir reads bundle directories: it lists files, reads them, and splits them into
// documents, within limits and with the line of every error.
//
// It neither skips nor rejects anything that it can read. Its callers do, as the programs that
// they follow: opm skips what is not a manifest, and OLM v1 rejects it.
package bundledir

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/regular"
	"github.com/olmkit/olmkit/internal/yamljson"
)

// Limits bound the cost of a bundle. A zero field means no limit, except for Expansion, whose
// default is [yamljson.DefaultExpansion]. Exceeding one is an [*fbc.LimitError] with its name.
type Limits struct {
	Files        int64 // entries of a directory
	FileSize     int64 // one file, in bytes
	BundleSize   int64 // all files together, in bytes
	DocumentSize int64 // one document as JSON, in bytes
	Expansion    int64 // what the aliases of all documents add, in bytes
}

// A Reader reads the files of one bundle. It must not be used by several goroutines at once.
type Reader struct {
	fsys   fs.FS
	limits Limits
	left   int64 // of Limits.BundleSize
	room   int64 // of Limits.Expansion
}

// New returns a reader of the bundle at the root of fsys.
func New(fsys fs.FS, limits Limits) *Reader {
	return &Reader{fsys: fsys, limits: limits, left: limits.BundleSize, room: cmp.Or(limits.Expansion, yamljson.DefaultExpansion)}
}

// List returns the entries of a directory, sorted by name. The error is an [*fbc.LimitError] or
// that of the file system, without the path.
func (r *Reader) List(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.fsys, dir)
	if n := int64(len(entries)); err == nil && r.limits.Files > 0 && n > r.limits.Files {
		return nil, &fbc.LimitError{Limit: "Files", What: "number of files", Size: n, Max: r.limits.Files}
	}
	return entries, regular.Cause(err)
}

// Read returns the content of a file. The error is an [*fbc.LimitError], a [*regular.Error] if e is not a
// regular file of the bundle, or that of the file system, without the path.
func (r *Reader) Read(name string, e fs.DirEntry) ([]byte, error) {
	info, err := regular.Stat(r.fsys, name, e, "bundle", "move it out of the bundle if it does not belong to it")
	if err != nil {
		return nil, err
	}
	if err := r.fits(info.Size()); err != nil {
		return nil, err
	}
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, regular.Cause(err)
	}
	defer f.Close()
	// The size may be wrong, so no more is read than fits.
	in := io.Reader(f)
	if r.limits.BundleSize > 0 {
		in = io.LimitReader(in, r.left+1)
	}
	if r.limits.FileSize > 0 {
		in = io.LimitReader(in, r.limits.FileSize+1)
	}
	text := bytes.NewBuffer(make([]byte, 0, min(info.Size(), maxGuess)+bytes.MinRead))
	if _, err := text.ReadFrom(in); err != nil {
		return nil, regular.Cause(err)
	}
	return text.Bytes(), r.Count(text.Bytes())
}

// maxGuess is how much memory is allocated before anything is read.
const maxGuess = 1 << 20

// Count counts a file that was not read with Read. The error is an [*fbc.LimitError].
func (r *Reader) Count(text []byte) error {
	err := r.fits(int64(len(text)))
	r.left -= int64(len(text))
	return err
}

// fits returns an error if a file of a size exceeds a limit.
func (r *Reader) fits(size int64) error {
	switch {
	case r.limits.FileSize > 0 && size > r.limits.FileSize:
		return &fbc.LimitError{Limit: "FileSize", What: "file", Size: size, Max: r.limits.FileSize}
	case r.limits.BundleSize > 0 && size > r.left:
		return &fbc.LimitError{Limit: "BundleSize", What: "size of the bundle", Max: r.limits.BundleSize}
	}
	return nil
}
