package graph

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
)

// HashSource returns the hash of the files below the root of fsys: of their names
// and bytes. It changes whenever a load might give another catalog. Reading is
// all that it costs.
func HashSource(ctx context.Context, fsys fs.FS) (string, error) {
	sum := sha256.New()
	buf := make([]byte, 256<<10)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir():
			return nil
		}
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		one := sha256.New()
		if _, err := io.CopyBuffer(struct{ io.Writer }{one}, struct{ io.Reader }{f}, buf); err != nil {
			return err
		}
		sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(name))))
		sum.Write([]byte(name))
		sum.Write(one.Sum(nil))
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// SourceHash returns the hash of the files that an opened index was made from,
// to be compared with [HashSource] of what they are now; "" where the index
// does not tell, and for a catalog that was not opened from an index.
func (c *Catalog) SourceHash() string { return c.source }
