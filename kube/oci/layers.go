package oci

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// An overlay records the content of the directories of interest after the
// layers applied so far. No file is created under a name from the image.
type overlay struct {
	roots   []root
	limits  Limits
	archive *imageWriter
	state   node

	scanned, files int64
	bytes          int64 // unpacked: files, link targets and names
}

// The names of whiteouts in image layers: a file ".wh.name" deletes name, and a
// file named opaque deletes everything that lower layers have in its directory.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// longestName is Linux's limit.
const longestName = 4096

// apply adds a layer on top of the others.
func (o *overlay) apply(ctx context.Context, l layer) error {
	content, err := l.Uncompressed()
	if err != nil {
		return err
	}
	defer content.Close()
	in := &scanner{obeying{ctx, content}, o}
	var top node
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = o.add(&top, h, obeying{ctx, archive})
		}
		if err != nil {
			return err
		}
	}
	// Read to the end of the layer, beyond the archive: the digest is verified
	// there.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	o.state = *top.over(&o.state)
	return nil
}

// add adds an entry of a layer to the layer's tree.
func (o *overlay) add(top *node, h *tar.Header, content io.Reader) error {
	name, ok := cleanName(h.Name)
	if !ok {
		return &UnsafeError{Path: shortened(h.Name), Reason: "is a path outside the image"}
	}
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	removed, hides := strings.CutPrefix(base, whiteout)
	switch {
	case base == opaque:
		name = dir
	case hides:
		if removed == "" || removed == "." || removed == ".." {
			return &UnsafeError{Path: shortened(h.Name), Reason: "is a whiteout without a file name"}
		}
		name = path.Join(dir, removed)
	}
	if root := name == "."; root && !hides || !root && !o.matters(name) {
		return nil
	}
	if len(name) > longestName || len(h.Linkname) > longestName {
		return &UnsafeError{Path: shortened(h.Name), Reason: fmt.Sprintf("has a name or link target longer than %d bytes", longestName)}
	}
	if err := o.count(); err != nil {
		return err
	}
	if err := o.charge(int64(len(name) + len(h.Linkname))); err != nil {
		return err
	}
	if hides {
		n, err := top.at(name, o.count)
		if err != nil {
			return err
		}
		if n.fresh = true; base == opaque && n.typ == 0 {
			n.typ = tar.TypeDir
		}
		return nil
	}
	e, err := o.entry(top, name, h, content)
	if err != nil {
		return err
	}
	return top.put(name, e, o.count)
}

// entry returns the entry for a path and copies the content of a file to the
// archive.
func (o *overlay) entry(top *node, name string, h *tar.Header, content io.Reader) (entry, error) {
	switch h.Typeflag {
	case tar.TypeReg:
		return o.store(name, content)
	case tar.TypeLink:
		e, err := o.hardLink(name, h.Linkname, top)
		if err != nil {
			return entry{}, err
		}
		return e, o.charge(e.size)
	}
	return entry{typ: h.Typeflag, target: h.Linkname}, nil
}

// count counts a file, a directory or a removal (S7).
func (o *overlay) count() error {
	if o.files++; o.files > o.limits.Files {
		return &LimitError{Limit: "Files", Max: o.limits.Files}
	}
	return nil
}

// charge counts unpacked bytes, including those of names (S7).
func (o *overlay) charge(n int64) error {
	if n > o.limits.Bytes-o.bytes {
		return &LimitError{Limit: "Bytes", Max: o.limits.Bytes}
	}
	o.bytes += n
	return nil
}

// matters reports whether a path is in or above one of the directories of
// interest.
func (o *overlay) matters(name string) bool {
	return slices.ContainsFunc(o.roots, func(r root) bool { return within(name, r.from) || within(r.from, name) })
}

// store copies a file to the archive.
func (o *overlay) store(name string, r io.Reader) (entry, error) {
	if !utf8.ValidString(name) || strings.Contains(name, `\`) {
		return entry{}, &UnsafeError{Path: name, Reason: "is not a portable file name"}
	}
	number, size, err := o.archive.add(io.LimitReader(r, o.limits.Bytes-o.bytes+1))
	if err == nil {
		err = o.charge(size)
	}
	return entry{typ: tar.TypeReg, number: number, size: size}, err
}

// hardLink returns the target of a hard link, in this layer or a lower one.
func (o *overlay) hardLink(name, target string, top *node) (entry, error) {
	if to, ok := cleanName(target); ok {
		for _, tree := range []*node{top, &o.state} {
			if n := tree.find(to); n != nil && n.typ == tar.TypeReg {
				return n.entry, nil
			}
		}
	}
	return entry{}, &UnsafeError{Path: name, Reason: fmt.Sprintf("is a hard link to %q, which is not a file in the directories that olmkit unpacks", target)}
}

// shortened truncates a long name for an error.
func shortened(name string) string {
	if len(name) > 200 {
		return name[:200] + "…"
	}
	return name
}

// obeying is a reader that fails when its context ends.
type obeying struct {
	ctx context.Context
	r   io.Reader
}

func (o obeying) Read(p []byte) (int, error) {
	if o.ctx.Err() != nil {
		return 0, context.Cause(o.ctx)
	}
	return o.r.Read(p)
}

// A scanner limits how many decompressed bytes are read.
type scanner struct {
	r io.Reader
	o *overlay
}

func (s *scanner) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.o.scanned += int64(n); s.o.scanned > s.o.limits.Scan {
		return 0, &LimitError{Limit: "Scan", Max: s.o.limits.Scan}
	}
	return n, err
}

// within reports whether a path is dir or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/')
}
