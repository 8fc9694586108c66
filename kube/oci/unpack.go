package oci

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/olmkit/olmkit/internal/disk"
)

// unpack reads the directories of interest of an image. Key is the digest in
// the reference.
func (p *Puller) unpack(ctx context.Context, from content, k kind, key string) (*Image, error) {
	roots, err := k.roots(from.labels)
	if err != nil {
		return nil, err
	}
	write := func(w io.Writer) (err error) {
		a := newImageWriter(w)
		defer func() {
			if cerr := a.close(); err == nil {
				err = cerr
			}
		}()
		o := &overlay{roots: roots, limits: k.limits, archive: a}
		for i, l := range from.layers {
			if err := o.apply(ctx, l); err != nil {
				return fmt.Errorf("layer %d of %d: %w", i+1, len(from.layers), err)
			}
		}
		files, err := o.result(ctx)
		if err != nil {
			return err
		}
		return a.finish(ctx, info{Digest: from.digest, Labels: from.labels}, files)
	}
	if p.opts.Dir == "" {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, err
		}
		img, err := openArchive(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err == nil {
			img.size, img.Requested = int64(b.Len()), key
		}
		return img, err
	}
	if err := os.MkdirAll(p.opts.Dir, 0o700); err != nil {
		return nil, err
	}
	name := p.file(k, key)
	if err := disk.Replace(name, 0o600, write); err != nil {
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
