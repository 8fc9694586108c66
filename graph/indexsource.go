package graph

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/olmkit/olmkit/fbc"
)

// HashSource returns the hash of the names and contents of the files below the root of
// fsys that a load reads ([fbc.Files]), ignore files included. It changes whenever a
// load might give another catalog, and does not depend on ignored files. It reads
// several files at a time.
//
// Files that a load rejects, such as a named pipe that is not ignored, are errors.
func HashSource(ctx context.Context, fsys fs.FS) (string, error) {
	// Files are read in small pieces, so their size and number need no bounds.
	names, err := fbc.Files(ctx, fsys, &fbc.Limits{FileSize: 1 << 50, Files: 1 << 50})
	if err != nil {
		return "", err
	}
	sums, err := hashFiles(ctx, fsys, names)
	if err != nil {
		return "", err
	}
	all := sha256.New()
	for i, name := range names {
		all.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(name))))
		io.WriteString(all, name)
		all.Write(sums[i][:])
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

// hashFiles returns the hashes of files, in order. The error is that of the first file
// that has one.
func hashFiles(ctx context.Context, fsys fs.FS, names []string) ([][sha256.Size]byte, error) {
	sums, errs := make([][sha256.Size]byte, len(names)), make([]error, len(names))
	var next atomic.Int64
	var failed atomic.Bool
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		workers.Go(func() {
			buf := make([]byte, 256<<10)
			// Files are handed out in order, so none before a failed one is
			// left out.
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				if sums[i], errs[i] = hashFile(ctx, fsys, names[i], buf); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func hashFile(ctx context.Context, fsys fs.FS, name string, buf []byte) (sum [sha256.Size]byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			h.Sum(sum[:0])
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
	return sum, context.Cause(ctx)
}

// SourceHash returns the hash of the files that an opened index was made from. Compare
// it with [HashSource] of the current files. It is "" if the index has none, and for a
// catalog that was not opened from an index.
func (c *Catalog) SourceHash() string { return c.source }
