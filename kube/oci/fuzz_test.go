package oci

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
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
		var text bytes.Buffer
		out := newImageWriter(&text)
		defer out.close()
		o := &overlay{roots: []root{{label: LabelManifests, from: "manifests", to: "manifests"}}, limits: limits, archive: out}
		for _, text := range [][]byte{lower, upper} {
			if err := o.apply(t.Context(), plain(text)); err != nil {
				return
			}
		}
		if o.bytes > limits.Bytes || o.scanned > limits.Scan || o.files > limits.Files {
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
			if !fs.ValidPath(file.name) || !within(file.name, "manifests") || file.number < 0 || file.number >= out.count {
				t.Errorf("%+v is not a regular file with a valid name", file)
			}
		}
		if err := errors.Join(out.finish(t.Context(), info{Digest: "x"}, files), out.close()); err != nil {
			t.Fatal(err)
		}
		img, err := openArchive(bytes.NewReader(text.Bytes()), int64(text.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(img.FS, file.name)
			if want := contents(t, file.number, lower, upper); err != nil || !bytes.Equal(text, want) {
				t.Errorf("%s: %q, want %q (%v)", file.name, text, want, err)
			}
		}
	})
}

// contents returns the content of the regular file with a number in layers, counting those
// that are unpacked.
func contents(t *testing.T, number int, layers ...[]byte) []byte {
	for _, layer := range layers {
		for r := tar.NewReader(bytes.NewReader(layer)); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			name, _ := cleanName(h.Name)
			if h.Typeflag != tar.TypeReg || !within(name, "manifests") || strings.HasPrefix(path.Base(name), whiteout) {
				continue
			}
			if number--; number < 0 {
				text, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
		}
	}
	return nil
}

// A plain layer is not compressed.
type plain []byte

func (p plain) Uncompressed() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p)), nil }
