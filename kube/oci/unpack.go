package oci

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/olmkit/olmkit/internal/disk"
)

// Pulled images are stored as zip archives, which are compressed, have
// checksums and implement fs.FS. The files are below contentDir, and the
// metadata is in infoFile.
const (
	contentDir = "content"
	infoFile   = "image.json"
)

// The files are compressed with S2: packing and unpacking a catalog costs less than a tenth
// of what Deflate costs. The number is not assigned to any method of zip archives.
const (
	methodS2 = 0x5332
	blockS2  = 256 << 10
)

// info is the metadata of an image in its archive.
type info struct {
	Digest string            `json:"digest"`
	Labels map[string]string `json:"labels"`
}

// unpack reads the directories of interest of an image. Key is the digest in
// the reference.
func (p *Puller) unpack(ctx context.Context, from content, k kind, key string) (*Image, error) {
	roots, err := k.roots(from.labels)
	if err != nil {
		return nil, err
	}
	spool, err := p.temp()
	if err != nil {
		return nil, err
	}
	defer func() { spool.Close(); os.Remove(spool.Name()) }()
	o := &overlay{roots: roots, limits: k.limits, spool: spool}
	for i, l := range from.layers {
		if err := o.apply(ctx, l); err != nil {
			return nil, fmt.Errorf("layer %d of %d: %w", i+1, len(from.layers), err)
		}
	}
	files, err := o.result(ctx)
	if err != nil {
		return nil, err
	}
	return p.pack(ctx, k, key, info{from.digest, from.labels}, files, spool)
}

// pack writes the archive and opens it.
func (p *Puller) pack(ctx context.Context, k kind, key string, about info, files []file, spool io.ReaderAt) (*Image, error) {
	if p.opts.Dir == "" {
		var b bytes.Buffer
		if err := writeArchive(ctx, &b, about, files, spool); err != nil {
			return nil, err
		}
		img, err := openArchive(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err == nil {
			img.size, img.Requested = int64(b.Len()), key
		}
		return img, err
	}
	name := p.file(k, key)
	if err := disk.Replace(name, 0o600, func(w io.Writer) error { return writeArchive(ctx, w, about, files, spool) }); err != nil {
		return nil, err
	}
	f, err := os.Open(name) // it is closed when it becomes unreachable
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	img, err := openArchive(f, stat.Size())
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	img.Requested = key
	return img, nil
}

// temp creates a temporary file.
func (p *Puller) temp() (*os.File, error) {
	if p.opts.Dir != "" {
		if err := os.MkdirAll(p.opts.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	return os.CreateTemp(p.opts.Dir, "olmkit-spool-*.tmp")
}

// file returns the name of the archive of an image.
func (p *Puller) file(k kind, key string) string {
	pf := p.opts.Platform
	return filepath.Join(p.opts.Dir, fmt.Sprintf("%s-%s-%s-%s.zip", k.name, strings.ReplaceAll(key, ":", "-"), pf.OS, pf.Architecture))
}

// open returns an image from disk, or nil if it is missing or the context ends.
// Damaged files are deleted.
func (p *Puller) open(ctx context.Context, k kind, key string) *Image {
	if p.opts.Dir == "" {
		return nil
	}
	f, err := os.Open(p.file(k, key))
	if err != nil {
		return nil
	}
	stat, err := f.Stat()
	if err == nil {
		var img *Image
		// The file is closed when it becomes unreachable.
		if img, err = openArchive(f, stat.Size()); err == nil {
			err = img.verify(ctx)
		}
		if err == nil {
			now := time.Now() // mark as recently used, for programs that delete old files
			_ = os.Chtimes(f.Name(), now, now)
			img.Requested = key
			return img
		}
	}
	f.Close()
	if ctx.Err() == nil {
		os.Remove(f.Name())
	}
	return nil
}

func writeArchive(ctx context.Context, w io.Writer, about info, files []file, spool io.ReaderAt) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(methodS2, func(w io.Writer) (io.WriteCloser, error) {
		return s2.NewWriter(w, s2.WriterConcurrency(1), s2.WriterBlockSize(blockS2)), nil
	})
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	add := func(name string, r io.Reader) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: methodS2})
		if err == nil {
			_, err = io.Copy(w, obeying{ctx, r})
		}
		return err
	}
	for _, f := range files {
		if err := add(contentDir+"/"+f.name, io.NewSectionReader(spool, f.offset, f.size)); err != nil {
			return err
		}
	}
	// Write this last: a file that contains it is complete.
	if err := add(infoFile, bytes.NewReader(text)); err != nil {
		return err
	}
	return z.Close()
}

// openArchive opens an archive.
func openArchive(r io.ReaderAt, size int64) (*Image, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	z.RegisterDecompressor(methodS2, newPackedFile)
	text, err := fs.ReadFile(z, infoFile)
	if err != nil {
		return nil, err
	}
	var about info
	if err := json.Unmarshal(text, &about); err != nil {
		return nil, err
	}
	content, err := fs.Sub(z, contentDir)
	if err != nil {
		return nil, err
	}
	return &Image{Digest: about.Digest, Labels: about.Labels, FS: &seekFS{FS: content}, archive: z}, nil
}

// verify reads the whole archive and verifies its checksums.
func (i *Image) verify(ctx context.Context) error {
	for _, f := range i.archive.File {
		c, err := f.Open()
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, obeying{ctx, c})
		if err = errors.Join(err, c.Close()); err != nil {
			return err
		}
	}
	return nil
}

// idleReaders has idle *s2.Reader, whose buffers are costly to make.
var idleReaders = sync.Pool{New: func() any { return s2.NewReader(nil, s2.ReaderMaxBlockSize(blockS2)) }}

// A packedFile reads a file of an archive.
type packedFile struct{ *s2.Reader }

func newPackedFile(r io.Reader) io.ReadCloser {
	u := &packedFile{idleReaders.Get().(*s2.Reader)}
	u.Reset(r)
	return u
}

func (u *packedFile) Read(p []byte) (int, error) {
	if u.Reader == nil {
		return 0, fs.ErrClosed
	}
	return u.Reader.Read(p)
}

func (u *packedFile) Close() error {
	if u.Reader == nil {
		return fs.ErrClosed
	}
	u.Reset(nil)
	idleReaders.Put(u.Reader)
	u.Reader = nil
	return nil
}
