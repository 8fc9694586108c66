package oci

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
)

// Pulled images are stored as zip archives, which are compressed, have checksums and
// implement fs.FS. An archive has the files in the order of the layers, each under a number,
// and then infoFile, which has their names: which files are part of the image, and under
// which names, is known only after the last layer.
const (
	filesDir = "files/"
	infoFile = "image.json"
)

// The files are compressed as package s2 does: packing and unpacking a catalog costs less than a tenth
// of what Deflate costs. The number is not assigned to any method of zip archives.
const (
	methodS2 = 0x5332
	blockS2  = 256 << 10
)

// info is the metadata of an image in its archive.
type info struct {
	Digest string            `json:"digest"`
	Labels map[string]string `json:"labels"`
	Files  []namedFile       `json:"files"` // sorted by name
}

// A namedFile is a file of the image. Links have the number of their target.
type namedFile struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
}

// An imageWriter writes the archive of an image.
type imageWriter struct {
	zip   *zip.Writer
	count int // of files
}

func newImageWriter(w io.Writer) *imageWriter {
	a := &imageWriter{zip: zip.NewWriter(w)}
	// Compress one block while the next one is read. Files are written one after the other,
	// so all share the buffers.
	packer := s2.NewWriter(nil, s2.WriterConcurrency(2), s2.WriterBlockSize(blockS2))
	a.zip.RegisterCompressor(methodS2, func(w io.Writer) (io.WriteCloser, error) {
		packer.Reset(w)
		return packer, nil
	})
	return a
}

// add adds a file and returns its number and size.
func (a *imageWriter) add(content io.Reader) (number int, size int64, err error) {
	number = a.count
	a.count++
	size, err = a.write(filesDir+strconv.Itoa(number), content)
	return number, size, err
}

func (a *imageWriter) write(name string, content io.Reader) (int64, error) {
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: methodS2})
	if err != nil {
		return 0, err
	}
	return io.Copy(w, content)
}

// finish adds the metadata.
func (a *imageWriter) finish(ctx context.Context, about info, files []file) error {
	for _, f := range files {
		about.Files = append(about.Files, namedFile{f.name, f.number})
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	// Write this last: a file that contains it is complete.
	_, err = a.write(infoFile, obeying{ctx, strings.NewReader(string(text))})
	return err
}

func (a *imageWriter) close() error { return a.zip.Close() }

// openArchive opens an archive.
func openArchive(r io.ReaderAt, size int64) (*Image, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	z.RegisterDecompressor(methodS2, newPackedFile)
	packed := map[string]*zip.File{}
	for _, f := range z.File {
		packed[f.Name] = f
	}
	about, err := readInfo(packed[infoFile])
	if err != nil {
		return nil, err
	}
	// Give the files their names, before the reader is used as a file system.
	z.File = nil
	for _, f := range about.Files {
		from := packed[filesDir+strconv.Itoa(f.Number)]
		if from == nil || !fs.ValidPath(f.Name) {
			return nil, fmt.Errorf("file %d, %q, is missing", f.Number, f.Name)
		}
		named := *from
		named.Name = f.Name
		z.File = append(z.File, &named)
	}
	return &Image{Digest: about.Digest, Labels: about.Labels, FS: &seekFS{FS: z}, archive: z}, nil
}

func readInfo(f *zip.File) (about info, err error) {
	if f == nil {
		return about, errors.New(infoFile + " is missing")
	}
	r, err := f.Open()
	if err != nil {
		return about, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return about, err
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return about, err
	}
	if len(about.Files) == 0 { // an image without files is not stored
		return about, errors.New(infoFile + " names no files")
	}
	return about, nil
}

// verify reads all files of the image and verifies their checksums.
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
