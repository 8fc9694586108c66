package oci

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/fstest"
)

// forward is a file system whose files cannot seek or be read when closed. It counts the bytes that are read.
type forward struct {
	fs.FS
	read, open *int64
}

func (f forward) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if stat, err := file.Stat(); err != nil || stat.IsDir() {
		return file, err
	}
	*f.open++
	return &counted{File: file, in: f}, nil
}

type counted struct {
	fs.File
	in     forward
	closed bool
}

func (c *counted) Read(p []byte) (int, error) {
	if c.closed {
		return 0, fs.ErrClosed
	}
	n, err := c.File.Read(p)
	*c.in.read += int64(n)
	return n, err
}

func (c *counted) Close() error {
	if c.closed {
		return fs.ErrClosed
	}
	c.closed = true
	*c.in.open--
	return c.File.Close()
}

// readAt reads a part of a file like a second load.
func readAt(t *testing.T, fsys fs.FS, name string, offset int64, length int) []byte {
	t.Helper()
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.(io.Seeker).Seek(offset, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(f, text); err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		t.Fatal(err)
	} else {
		text = text[:n]
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSeekFS(t *testing.T) {
	files := fstest.MapFS{}
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b/c", "b/d", "e", "f", "g"}
	const size = 10_000
	for _, name := range names {
		text := make([]byte, size)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	var read, open int64
	r := &seekFS{FS: forward{files, &read, &open}}
	if err := fstest.TestFS(r, names...); err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		name, from, n := names[random.IntN(len(names))], random.Int64N(size+10), random.IntN(300)
		want := files[name].Data[min(from, size):min(int(from)+n, size)]
		if got := readAt(t, r, name, from, n); !bytes.Equal(got, want) {
			t.Fatalf("%s from %d: %d bytes differ from the %d of the file", name, from, len(got), len(want))
		}
		if open > maxIdle {
			t.Fatalf("%d files are open", open)
		}
	}
	// All parts in order, of as many files at a time as are kept open.
	r.idle, read = nil, 0
	for from := int64(0); from < size; from += 100 {
		for _, name := range names[:maxIdle] {
			readAt(t, r, name, from, 100)
		}
	}
	if want := int64(maxIdle * size); read != want {
		t.Errorf("read %d bytes for %d", read, want)
	}
}

// TestSeekFile tests a file that stays open.
func TestSeekFile(t *testing.T) {
	text := []byte("0123456789")
	var read, open int64
	f, err := (&seekFS{FS: forward{fstest.MapFS{"f": {Data: text}}, &read, &open}}).Open("f")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offset int64
		whence int
		want   string
	}{{3, io.SeekStart, "34"}, {2, io.SeekCurrent, "78"}, {-3, io.SeekEnd, "78"}, {0, io.SeekStart, "01"}, {-1, io.SeekEnd, "9"}, {5, io.SeekEnd, ""}} {
		if _, err := f.(io.Seeker).Seek(tt.offset, tt.whence); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 2)
		n, err := io.ReadFull(f, got)
		if string(got[:n]) != tt.want {
			t.Errorf("after Seek(%d, %d): %q, want %q (%v)", tt.offset, tt.whence, got[:n], tt.want, err)
		}
	}
	if _, err := f.(io.Seeker).Seek(-1, io.SeekStart); err == nil {
		t.Error("no error before the start")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) || !errors.Is(f.Close(), fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
