package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/internal/testctx"
)

var manifests = []root{{label: LabelManifests, from: "manifests", to: "manifests"}}

// TestLinksCount checks that each link counts as its target (S7).
func TestLinksCount(t *testing.T) {
	const size, links = 1 << 20, 1902
	for name, typ := range map[string]byte{"hard": tar.TypeLink, "symbolic": tar.TypeSymlink} {
		t.Run(name, func(t *testing.T) {
			layer := entries(t, tar.Header{Name: "manifests/a", Typeflag: tar.TypeReg, Size: size})
			for i := range links {
				layer = append(layer, entries(t, tar.Header{Name: fmt.Sprintf("manifests/%d", i), Typeflag: typ, Linkname: "/manifests/a"})...)
			}
			for _, limits := range []Limits{
				{Bytes: 2 << 20, Files: links + 10, Scan: 1 << 30},
				{Bytes: (links+1)*size - 1, Files: links + 10, Scan: 1 << 30},
			} {
				var text bytes.Buffer
				o := &overlay{roots: manifests, limits: limits, archive: newImageWriter(&text)}
				err := o.apply(t.Context(), plain(layer))
				if err == nil {
					_, err = o.result(t.Context())
				}
				var limit *LimitError
				if !errors.As(err, &limit) || limit.Limit != "Bytes" || int64(text.Len()) > limits.Bytes {
					t.Errorf("%d bytes in the archive, %v; want a LimitError of %d bytes", text.Len(), err, limits.Bytes)
				}
			}
			// A limit that includes the names and link targets is enough.
			o := &overlay{roots: manifests, limits: Limits{Bytes: (links + 1) * (size + 100), Files: links + 10, Scan: 1 << 30}, archive: newImageWriter(io.Discard)}
			if err := o.apply(t.Context(), plain(layer)); err != nil {
				t.Fatal(err)
			}
			files, err := o.result(t.Context())
			var total int64
			for _, f := range files {
				total += f.size
			}
			if err != nil || total != (links+1)*size || total > o.bytes {
				t.Errorf("%d files of %d bytes, charged %d, %v", len(files), total, o.bytes, err)
			}
		})
	}
}

// TestNamesCount checks the limits on names, implied directories and link targets (S7).
func TestNamesCount(t *testing.T) {
	deep := "manifests/" + string(bytes.Repeat([]byte("a/"), 1000))
	for _, tt := range []struct {
		name   string
		header tar.Header
		want   string
	}{
		{"implied directories", tar.Header{Name: deep + "b", Typeflag: tar.TypeReg}, "the image has more than 100 files and directories; raise the limit on the number of files in images to allow it"},
		{"a long name", tar.Header{Name: "manifests/" + long(4000), Typeflag: tar.TypeReg}, "the files are larger than 3000 bytes in total; raise the limit on the size of files in images to allow it"},
		{"a long target", tar.Header{Name: "manifests/a", Linkname: long(4000), Typeflag: tar.TypeSymlink}, "the files are larger than 3000 bytes in total; raise the limit on the size of files in images to allow it"},
		{"a removal with a long name", tar.Header{Name: "manifests/.wh." + long(4000), Typeflag: tar.TypeReg}, "the files are larger than 3000 bytes in total; raise the limit on the size of files in images to allow it"},
		{"a very long name", tar.Header{Name: "manifests/" + long(5000), Typeflag: tar.TypeReg}, `"manifests/` + long(190) + `…" has a name or link target longer than 4096 bytes`},
		{"a very long target", tar.Header{Name: "manifests/a", Linkname: long(5000), Typeflag: tar.TypeSymlink}, `"manifests/a" has a name or link target longer than 4096 bytes`},
		{"a removal without a name", tar.Header{Name: "manifests/.wh.", Typeflag: tar.TypeReg}, `"manifests/.wh." is a whiteout without a file name`},
		{"a removal of the parent", tar.Header{Name: "manifests/.wh...", Typeflag: tar.TypeReg}, `"manifests/.wh..." is a whiteout without a file name`},
	} {
		o := &overlay{roots: manifests, limits: Limits{Bytes: 3000, Files: 100, Scan: 1 << 20}, archive: newImageWriter(io.Discard)}
		if err := o.apply(t.Context(), plain(entries(t, tt.header))); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func long(n int) string { return string(bytes.Repeat([]byte("n"), n)) }

// TestUnpackingObeysItsContext checks that unpacking stops when its context ends, at any
// point in a layer, and then reads and writes almost nothing (S7).
func TestUnpackingObeysItsContext(t *testing.T) {
	huge := int64(1) << 40
	file := entries(t, tar.Header{Name: "manifests/a", Typeflag: tar.TypeReg})
	pax := entries(t, tar.Header{Name: "manifests/a", Typeflag: tar.TypeReg, Format: tar.FormatPAX, PAXRecords: map[string]string{"comment": long(900 << 10)}})
	for _, tt := range []struct {
		name  string
		layer io.Reader
	}{
		{"zeros in a file", io.MultiReader(bytes.NewReader(header(t, "manifests/a", huge)), forever(make([]byte, 1<<10)))},
		{"zeros in another directory", io.MultiReader(bytes.NewReader(header(t, "bin/opm", huge)), forever(make([]byte, 1<<10)))},
		{"zeros behind the archive", forever(make([]byte, 1<<10))},
		{"empty files", forever(file)},
		{"empty files elsewhere", forever(entries(t, tar.Header{Name: "bin/a", Typeflag: tar.TypeReg}))},
		{"removals", forever(entries(t, tar.Header{Name: "manifests/.wh.a", Typeflag: tar.TypeReg}))},
		{"links", io.MultiReader(bytes.NewReader(file), forever(entries(t, tar.Header{Name: "manifests/b", Linkname: "manifests/a", Typeflag: tar.TypeLink})))},
		{"large records", forever(pax)},
		{"records without a file", forever(pax[:len(pax)-512])},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			m := &meter{left: 8 << 20, end: func() { cancel(errEnded) }}
			o := &overlay{roots: manifests, limits: Limits{Scan: 64 << 20, Bytes: 64 << 20, Files: 1 << 20}, archive: newImageWriter(meteredWriter{m})}
			err := o.apply(ctx, endless{meteredReader{tt.layer, m}})
			if !errors.Is(err, errEnded) {
				t.Errorf("apply = %v", err)
			}
			m.check(t)
		})
	}
	t.Run("a sparse file", func(t *testing.T) { // its zeros are neither read nor, once compressed, worth counting
		layer := sparse(t, "manifests/a", huge)
		o := &overlay{roots: manifests, limits: Limits{Scan: 1 << 20, Bytes: 2 * huge, Files: 1}, archive: newImageWriter(io.Discard)}
		if err := o.apply(testctx.EndsAfter(200, errEnded), plain(layer)); !errors.Is(err, errEnded) {
			t.Errorf("apply = %v", err)
		}
	})
}

// TestPackingObeysItsContext checks the same for the steps after unpacking: resolving
// links, and writing and reading the archive (S7).
func TestPackingObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnded)
	o := &overlay{roots: manifests, limits: Limits{Scan: 1 << 20, Bytes: 1 << 20, Files: 10}, archive: newImageWriter(io.Discard)}
	if err := o.apply(t.Context(), plain(entries(t, tar.Header{Name: "manifests/a", Typeflag: tar.TypeReg}))); err != nil {
		t.Fatal(err)
	}
	if _, err := o.result(ctx); !errors.Is(err, errEnded) {
		t.Errorf("result = %v", err)
	}

	const size = 1 << 20
	noise := make([]byte, size) // does not compress
	rand.NewChaCha8([32]byte{}).Read(noise)
	write := func(ctx context.Context, w io.Writer, content func() io.Reader) error {
		out := newImageWriter(w)
		defer out.close()
		var files []file
		for i := range 32 {
			number, size, err := out.add(obeying{ctx, content()})
			if err != nil {
				return err
			}
			files = append(files, file{fmt.Sprintf("manifests/%02d", i), entry{typ: tar.TypeReg, number: number, size: size}})
		}
		if err := out.finish(ctx, info{}, files); err != nil {
			return err
		}
		return out.close()
	}
	var whole bytes.Buffer
	if err := write(t.Context(), &whole, func() io.Reader { return bytes.NewReader(noise) }); err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func(context.Context, *meter) error{
		"write": func(ctx context.Context, m *meter) error {
			return write(ctx, meteredWriter{m}, func() io.Reader { return bytes.NewReader(noise) })
		},
		"write compressible content": func(ctx context.Context, m *meter) error {
			return write(ctx, io.Discard, func() io.Reader { return meteredReader{bytes.NewReader(make([]byte, size)), m} })
		},
		"read": func(ctx context.Context, m *meter) error {
			img, err := openArchive(meteredReaderAt{bytes.NewReader(whole.Bytes()), m}, int64(whole.Len()))
			if err != nil {
				return err
			}
			return img.verify(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			m := &meter{left: 4 << 20, end: func() { cancel(errEnded) }}
			if err := work(ctx, m); !errors.Is(err, errEnded) {
				t.Errorf("got %v", err)
			}
			m.check(t)
		})
	}
}

var errEnded = errors.New("ended by the test")

// A meter ends a context after a number of bytes and counts later ones.
type meter struct {
	mu         sync.Mutex
	left, late int
	end        func()
}

func (m *meter) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left <= 0 {
		m.late += n
	} else if m.left -= n; m.left <= 0 {
		m.end()
	}
}

func (m *meter) check(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left > 0 || m.late > 256<<10 {
		t.Errorf("the context would end after %d more bytes; %d bytes came later", m.left, m.late)
	}
}

type meteredWriter struct{ m *meter }

func (w meteredWriter) Write(p []byte) (int, error) { w.m.count(len(p)); return len(p), nil }

type meteredReader struct {
	r io.Reader
	m *meter
}

func (r meteredReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.m.count(n)
	return n, err
}

type meteredReaderAt struct {
	r io.ReaderAt
	m *meter
}

func (r meteredReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := r.r.ReadAt(p, at)
	r.m.count(n)
	return n, err
}

// An endless is a layer that can be read only once.
type endless struct{ io.Reader }

func (e endless) Uncompressed() (io.ReadCloser, error) { return io.NopCloser(e.Reader), nil }

// A repeater repeats the same bytes forever.
type repeater struct {
	text []byte
	at   int
}

func forever(text []byte) io.Reader { return &repeater{text: text} }

func (r *repeater) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// entries returns the entries of an archive without its end.
func entries(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.Mode = 0o644
		err := w.WriteHeader(&h)
		if err == nil {
			_, err = w.Write(make([]byte, h.Size))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// header returns the header of a file without its content.
func header(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: size}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sparse returns an entry for a file that is a single hole. Package tar can read but not
// write it.
func sparse(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var records []byte
	for _, r := range [][2]string{{"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"}, {"GNU.sparse.name", name}, {"GNU.sparse.realsize", fmt.Sprint(size)}} {
		text := fmt.Sprintf(" %s=%s\n", r[0], r[1])
		n := len(text) + 2
		records = fmt.Appendf(records, "%d%s", n, text)
	}
	block := func(text []byte) []byte { return append(text, make([]byte, 512-len(text))...) }
	extended := header(t, "x", int64(len(records)))
	extended[156] = tar.TypeXHeader
	extended = checksummed(extended)
	spans := []byte(fmt.Sprintf("1\n%d\n0\n", size))
	return slices.Concat(extended, block(records), header(t, name, 512), block(spans), make([]byte, 1024))
}

// checksummed returns a header with its checksum.
func checksummed(h []byte) []byte {
	copy(h[148:156], "        ")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return h
}
