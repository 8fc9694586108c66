package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/olmkit/olmkit/internal/disk"
)

// maxArchived limits the number of files in an archive of images.
const maxArchived = 100_000

// An archiveFile is a tar archive as a flat file system of its regular files.
// Links lead to other files in the same archive.
type archiveFile struct {
	file  *os.File
	temp  bool
	files map[string]span
	links map[string]string
}

type span struct{ offset, size int64 }

// openArchiveFile opens an archive. Standard input and compressed archives are
// copied to a temporary file first.
func (p *Puller) openArchiveFile(ctx context.Context, name string, limits Limits) (*archiveFile, error) {
	a := &archiveFile{files: map[string]span{}, links: map[string]string{}}
	var err error
	if name == "-" {
		if p.opts.Stdin == nil {
			return nil, errors.New("there is no standard input to read")
		}
		err = a.copy(ctx, p, disk.NewStream(ctx, p.opts.Stdin), limits)
	} else if a.file, err = (*disk.Root)(nil).Open(name); err == nil {
		var head [2]byte
		if n, _ := a.file.ReadAt(head[:], 0); n == 2 && isGzip(head[:]) {
			packed := a.file
			err = a.copy(ctx, p, packed, limits)
			packed.Close()
		}
	}
	if err == nil {
		err = a.index(ctx)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// copy copies an archive to a temporary file, decompressed.
func (a *archiveFile) copy(ctx context.Context, p *Puller, from io.Reader, limits Limits) (err error) {
	if a.file, err = p.temp(); err != nil {
		return err
	}
	a.temp = true
	in := bufio.NewReader(obeying{ctx, from})
	if _, err := in.Peek(1); err == io.EOF {
		return errors.New("the archive is empty; if it is standard input, pipe an archive in")
	}
	r, err := decompress(io.NopCloser(in))
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(a.file, io.LimitReader(r, limits.Scan+1))
	if err == nil && n > limits.Scan {
		return &LimitError{Limit: "Scan", Max: limits.Scan}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("not a whole archive: %w", err)
	}
	return err
}

// index finds the files of the archive.
func (a *archiveFile) index(ctx context.Context) error {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for r := tar.NewReader(a.file); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("not a whole tar archive: %w", err)
		}
		name, ok := cleanName(h.Name)
		if !ok {
			return &UnsafeError{Path: shortened(h.Name), Reason: "is a path outside the archive"}
		}
		if len(a.files)+len(a.links) >= maxArchived {
			return fmt.Errorf("the archive has more than %d files", maxArchived)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			offset, err := a.file.Seek(0, io.SeekCurrent)
			if err != nil {
				return err
			}
			a.files[name] = span{offset, h.Size}
		case tar.TypeSymlink:
			a.links[name] = path.Join(path.Dir(name), h.Linkname)
		case tar.TypeLink:
			a.links[name] = path.Clean(h.Linkname)
		}
	}
}

// Open opens a regular file, following links.
func (a *archiveFile) Open(name string) (fs.File, error) {
	at := name
	for range 8 {
		if s, ok := a.files[at]; ok {
			return archived{io.NewSectionReader(a.file, s.offset, s.size), path.Base(name)}, nil
		}
		to, ok := a.links[at]
		if !ok {
			break
		}
		at = to
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Close closes the archive and removes a temporary file.
func (a *archiveFile) Close() error {
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	if a.temp {
		err = errors.Join(err, os.Remove(a.file.Name()))
	}
	return err
}

// An archived is an open file of an archive.
type archived struct {
	*io.SectionReader
	name string
}

func (f archived) Close() error               { return nil }
func (f archived) Stat() (fs.FileInfo, error) { return f, nil }
func (f archived) Name() string               { return f.name }
func (f archived) Mode() fs.FileMode          { return 0o444 }
func (f archived) ModTime() time.Time         { return time.Time{} }
func (f archived) IsDir() bool                { return false }
func (f archived) Sys() any                   { return nil }

// docker returns the image of an archive that docker save or podman save wrote.
func (s *stored) docker(tag string, limits Limits) (content, error) {
	text, err := s.file("manifest.json")
	if err != nil {
		return content{}, err
	}
	var list []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return content{}, fmt.Errorf("manifest.json: %w", err)
	}
	chosen, tags := -1, []string(nil)
	for i, m := range list {
		tags = append(tags, m.RepoTags...)
		if tag == "" && len(list) == 1 || slices.ContainsFunc(m.RepoTags, func(t string) bool { return t == tag || tag != "" && strings.HasSuffix(t, ":"+tag) }) {
			chosen = i
		}
	}
	if chosen < 0 {
		slices.Sort(tags)
		return content{}, &TagError{Tag: tag, Tags: tags}
	}
	m := list[chosen]
	if int64(len(m.Layers)) > limits.Layers {
		return content{}, &LimitError{Limit: "Layers", Max: limits.Layers}
	}
	f, err := s.fsys.Open(path.Clean(m.Config))
	if err != nil {
		return content{}, err
	}
	raw, err := readSmall(f, m.Config, maxConfig)
	if err != nil {
		return content{}, err
	}
	config, err := v1.ParseConfigFile(bytes.NewReader(raw))
	if err != nil {
		return content{}, fmt.Errorf("%s: %w", m.Config, err)
	}
	if len(config.RootFS.DiffIDs) != len(m.Layers) {
		return content{}, fmt.Errorf("manifest.json lists %d layers, and the configuration %d", len(m.Layers), len(config.RootFS.DiffIDs))
	}
	digest, _, err := v1.SHA256(bytes.NewReader(raw))
	out := content{digest: digest.String(), labels: config.Config.Labels}
	for i, name := range m.Layers {
		out.layers = append(out.layers, savedLayer{s.fsys, path.Clean(name), config.RootFS.DiffIDs[i]})
	}
	return out, err
}

// A savedLayer is a layer of an archive that has no digests of compressed
// layers. Its decompressed content must have the digest that the image's
// configuration lists.
type savedLayer struct {
	fsys fs.FS
	name string
	diff v1.Hash
}

func (l savedLayer) Uncompressed() (io.ReadCloser, error) {
	f, err := l.fsys.Open(l.name)
	if err != nil {
		return nil, err
	}
	content, err := decompress(f)
	if err != nil {
		return nil, err
	}
	return verify(content, l.diff)
}
