package graph

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/olmkit/olmkit/fbc"
)

// WriteIndex writes the catalog as a compiled index for [OpenIndex]. source is the hash
// of the files that the catalog was loaded from ([HashSource]), which identifies a
// stale index; it may be empty. Catalogs from the same files give the same bytes on
// machines of the same kind.
//
// A load leaves install modes in the files. WriteIndex reads them from there and includes
// them ([Bundle.InstallModes]). If the files are gone, the index does not have them.
func WriteIndex(ctx context.Context, w io.Writer, c *Catalog, source string) error {
	if err := c.writeIndex(ctx, w, source); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

func (c *Catalog) writeIndex(ctx context.Context, w io.Writer, source string) error {
	tail, err := c.extra(source)
	if err != nil {
		return err
	}
	list := newDirectoryBuilder()
	for part, err := range c.split(ctx) {
		if err != nil {
			return err
		}
		list.add(part)
	}
	d, err := list.done(tail)
	if err != nil {
		return err
	}
	return d.write(w, list.packed)
}

// extra returns an extra of the catalog as JSON.
func (c *Catalog) extra(source string) (string, error) {
	more := extra{Digest: c.Digest(), Source: source, Others: c.others}
	for _, d := range c.problems {
		more.Problems = append(more.Problems, problem{
			Code: d.Code, Warning: d.Severity == fbc.Warning, File: d.Pos.File, Line: d.Pos.Line,
			Schema: d.Schema, Package: d.Package, Name: d.Name, Path: d.Path, Message: d.Err.Error(),
		})
	}
	text, err := json.Marshal(more)
	return string(text), err
}

// write writes an index: the directory and the packages.
func (d *directory) write(w io.Writer, packed []byte) error {
	sections := d.sections()
	head := make([]byte, headerSize, headerSize+len(sections)*sectionSize)
	offset := uint64(cap(head))
	for _, s := range sections {
		b := s.bytes()
		head = binary.LittleEndian.AppendUint64(head, offset)
		head = binary.LittleEndian.AppendUint64(head, uint64(len(b)))
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(b, castagnoli))
		head = binary.LittleEndian.AppendUint32(head, uint32(s.record))
		offset = align(offset + uint64(len(b)))
	}
	copy(head, indexMagic)
	binary.LittleEndian.PutUint32(head[8:], indexVersion)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(sections)))
	binary.LittleEndian.PutUint32(head[16:], layout())
	binary.LittleEndian.PutUint64(head[24:], offset+uint64(len(packed)))
	binary.LittleEndian.PutUint32(head[20:], crc32.Checksum(head[24:], castagnoli))
	out := bufio.NewWriterSize(w, 1<<20)
	out.Write(head) // a bufio.Writer keeps its first error for Flush
	for _, s := range sections {
		b := s.bytes()
		out.Write(b)
		out.Write(make([]byte, align(uint64(len(b)))-uint64(len(b))))
	}
	out.Write(packed)
	return out.Flush()
}
