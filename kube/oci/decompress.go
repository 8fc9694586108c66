package oci

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A packedLayer is a layer as its store has it: as it is, or compressed with gzip or zstd,
// whatever its media type says.
type packedLayer struct{ v1.Layer }

func (l packedLayer) Uncompressed() (io.ReadCloser, error) {
	packed, err := l.Compressed()
	if err != nil {
		return nil, err
	}
	return decompress(packed)
}

// maxWindow limits the memory for decompressing zstd. It is the limit of the program zstd, too.
const maxWindow = 128 << 20

// decompress returns the decompressed content of a stream, which it closes with the content.
func decompress(packed io.ReadCloser) (io.ReadCloser, error) {
	in := bufio.NewReaderSize(packed, 64<<10)
	head, _ := in.Peek(4) // if this fails, so does the first Read
	var content io.Reader = in
	stop := func() {}
	switch {
	case isGzip(head):
		z, err := gzip.NewReader(in)
		if err != nil {
			packed.Close()
			return nil, err
		}
		content = z
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			packed.Close()
			return nil, err
		}
		content, stop = z, z.Close
	}
	return &decompressed{content, stop, packed}, nil
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

type decompressed struct {
	io.Reader
	stop   func()
	packed io.Closer
}

func (d *decompressed) Close() error {
	d.stop()
	return d.packed.Close()
}
