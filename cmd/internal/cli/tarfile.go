package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"github.com/olmkit/olmkit/internal/disk"
)

// errTar is the error for an archive in the place of a catalog.
var errTar = errors.New("is a tar archive; for an image in it, write docker-archive: or oci-archive: before its name, otherwise unpack it")

// isTarFile reports whether a file is a tar archive, which may be compressed with gzip.
func (l *loader) isTarFile(root *disk.Root, name string) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	_, isArchive, err := l.unpacked(f)
	return err == nil && isArchive
}

// unpacked returns the content of a stream, which may be compressed with gzip, and whether
// it is a tar archive.
func (l *loader) unpacked(in io.Reader) (io.Reader, bool, error) {
	r := bufio.NewReader(in)
	if head, _ := r.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, false, err
		}
		r = bufio.NewReader(z)
		if !isTar(r) {
			return l.limited(r), false, nil
		}
	}
	return r, isTar(r), nil
}

func isTar(r *bufio.Reader) bool {
	head, _ := r.Peek(262)
	return len(head) == 262 && string(head[257:]) == "ustar"
}
