package oci

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"testing"
)

// FuzzLayers checks that any layers result in an error, or in a file system
// with valid names within its directories and limits, but never in a panic.
func FuzzLayers(f *testing.F) {
	seed := func(headers ...tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			h.Mode = 0o644
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			if _, err := w.Write(make([]byte, h.Size)); err != nil {
				f.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	lower := seed(tar.Header{Name: "manifests/a", Typeflag: tar.TypeReg, Size: 3}, tar.Header{Name: "manifests/d/b", Typeflag: tar.TypeReg}, tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg})
	for _, upper := range [][]tar.Header{
		{{Name: "manifests/.wh.a", Typeflag: tar.TypeReg}},
		{{Name: "manifests/.wh..wh..opq", Typeflag: tar.TypeReg}, {Name: "manifests/c", Typeflag: tar.TypeReg, Size: 5}},
		{{Name: "manifests/l", Linkname: "a", Typeflag: tar.TypeSymlink}, {Name: "manifests/h", Linkname: "manifests/a", Typeflag: tar.TypeLink}},
		{{Name: "manifests/l", Linkname: "../../etc/passwd", Typeflag: tar.TypeSymlink}},
		{{Name: "../x", Typeflag: tar.TypeReg}},
		{{Name: "manifests/d", Typeflag: tar.TypeReg}, {Name: "/manifests//./e/", Typeflag: tar.TypeDir}},
		{{Name: "manifests", Typeflag: tar.TypeSymlink, Linkname: "etc"}},
	} {
		f.Add(lower, seed(upper...))
	}
	f.Add(lower, lower[:600])
	limits := Limits{Scan: 1 << 20, Bytes: 4 << 10, Files: 50}
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		var spool bytes.Buffer
		o := &overlay{roots: []root{{label: LabelManifests, from: "manifests", to: "manifests"}}, limits: limits, spool: &spool}
		for _, text := range [][]byte{lower, upper} {
			if err := o.apply(t.Context(), plain(text)); err != nil {
				return
			}
		}
		if o.bytes > limits.Bytes || o.spooled > o.bytes || int64(spool.Len()) != o.spooled || o.scanned > limits.Scan || o.files > limits.Files {
			t.Errorf("%d bytes, %d scanned, %d files: a limit was exceeded", o.bytes, o.scanned, o.files)
		}
		files, err := o.result(t.Context())
		if err != nil {
			return
		}
		var total int64
		for _, file := range files {
			if total += file.size; total > limits.Bytes {
				t.Errorf("%d bytes with %s: the limit was exceeded (S7)", total, file.name)
			}
			if !fs.ValidPath(file.name) || !within(file.name, "manifests") || file.offset < 0 || file.offset+file.size > o.spooled {
				t.Errorf("%+v is not a regular file with a valid name", file)
			}
		}
		var b bytes.Buffer
		if err := writeArchive(t.Context(), &b, info{Digest: "x"}, files, bytes.NewReader(spool.Bytes())); err != nil {
			t.Fatal(err)
		}
		img, err := openArchive(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(img.FS, file.name)
			if err != nil || !bytes.Equal(text, spool.Bytes()[file.offset:file.offset+file.size]) {
				t.Errorf("%s: %q, %v", file.name, text, err)
			}
		}
	})
}

// A plain layer is not compressed.
type plain []byte

func (p plain) Uncompressed() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p)), nil }
