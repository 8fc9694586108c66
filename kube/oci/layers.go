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

// An entry is what a layer says of a path.
type entry struct {
	typ          byte // of package tar
	target       string
	offset, size int64 // in the spool, for files
}

// An overlay is the state of the wanted directories after some layers. It only
// records; nothing is written under a name of the image.
type overlay struct {
	roots  []root
	limits Limits
	spool  io.Writer
	state  map[string]entry

	scanned, bytes, files int64
}

// The whiteouts of image layers: ".wh.name" removes name, opaque all that lower
// layers have in the directory.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// A layer is a layer of an image.
type layer interface {
	Uncompressed() (io.ReadCloser, error)
}

// apply applies a layer on top of the others.
func (o *overlay) apply(ctx context.Context, layer layer) (err error) {
	content, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer content.Close()
	in := &scanner{ctx: ctx, r: content, o: o}
	var removed []string
	added := map[string]entry{}
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		name, ok := cleanName(h.Name)
		if !ok {
			return &UnsafeError{Path: h.Name, Reason: "is a name that leads out of the image"}
		}
		dir, base := path.Split(name)
		hides := strings.HasPrefix(base, whiteout)
		if !hides && !o.matters(name) {
			continue
		}
		// Whatever is remembered counts.
		if o.files++; o.files > o.limits.Files {
			return &LimitError{Limit: "Files", Max: o.limits.Files}
		}
		switch {
		case base == opaque:
			removed = append(removed, path.Clean(dir)+"/")
			continue
		case hides:
			removed = append(removed, dir+strings.TrimPrefix(base, whiteout))
			continue
		}
		e := entry{typ: h.Typeflag, target: h.Linkname}
		switch h.Typeflag {
		case tar.TypeReg:
			if e.offset, e.size, err = o.store(name, archive); err != nil {
				return err
			}
		case tar.TypeLink:
			if e, err = o.hardLink(name, h.Linkname, added); err != nil {
				return err
			}
		}
		added[name] = e
	}
	// The digest is compared at the very end of the layer, behind the archive.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	o.merge(removed, added)
	return nil
}

// matters reports whether a path is in one of the directories, or on the way to
// one.
func (o *overlay) matters(name string) bool {
	return slices.ContainsFunc(o.roots, func(r root) bool { return within(name, r.from) || within(r.from, name) })
}

// store copies a file to the spool.
func (o *overlay) store(name string, r io.Reader) (offset, size int64, err error) {
	if !utf8.ValidString(name) || strings.Contains(name, `\`) {
		return 0, 0, &UnsafeError{Path: name, Reason: "is a name that not every system understands"}
	}
	offset = o.bytes
	size, err = io.Copy(o.spool, io.LimitReader(r, o.limits.Bytes-o.bytes+1))
	if err != nil {
		return 0, 0, err
	}
	if o.bytes += size; o.bytes > o.limits.Bytes {
		return 0, 0, &LimitError{Limit: "Bytes", Max: o.limits.Bytes}
	}
	return offset, size, nil
}

// hardLink returns the file that a hard link names, of this layer or a lower one.
func (o *overlay) hardLink(name, target string, added map[string]entry) (entry, error) {
	to, ok := cleanName(target)
	if ok {
		if e, ok := added[to]; ok && e.typ == tar.TypeReg {
			return e, nil
		}
		if e, ok := o.state[to]; ok && e.typ == tar.TypeReg {
			return e, nil
		}
	}
	return entry{}, &UnsafeError{Path: name, Reason: fmt.Sprintf("is a link to %q, which is no file of the same directory", target)}
}

// merge applies what a layer removes, and then what it adds.
func (o *overlay) merge(removed []string, added map[string]entry) {
	gone := map[string]bool{}
	for _, r := range removed {
		gone[r] = true
	}
	for name := range added {
		if added[name].typ != tar.TypeDir {
			gone[name+"/"] = true // a file in the place of a directory
		}
		// A directory in the place of a file.
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if e, ok := o.state[dir]; ok && e.typ != tar.TypeDir {
				delete(o.state, dir)
			}
		}
	}
	if len(gone) > 0 {
		for name := range o.state {
			// "a" removes a and all below it, "a/" what is below it.
			if gone[name] || gone["./"] {
				delete(o.state, name)
				continue
			}
			for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
				if gone[dir] || gone[dir+"/"] {
					delete(o.state, name)
					break
				}
			}
		}
	}
	for name, e := range added {
		o.state[name] = e
	}
}

// A scanner bounds what is decompressed, and obeys the context.
type scanner struct {
	ctx context.Context
	r   io.Reader
	o   *overlay
}

func (s *scanner) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, context.Cause(s.ctx)
	}
	n, err := s.r.Read(p)
	if s.o.scanned += int64(n); s.o.scanned > s.o.limits.Scan {
		return 0, &LimitError{Limit: "Scan", Max: s.o.limits.Scan}
	}
	return n, err
}

// A file is a file of the result.
type file struct {
	name string // in the result
	entry
}

// result returns the files of the directories, by name.
func (o *overlay) result() ([]file, error) {
	var out []file
	for _, r := range o.roots {
		for dir := r.from; dir != "."; dir = path.Dir(dir) {
			if e, ok := o.state[dir]; ok && e.typ != tar.TypeDir {
				return nil, &UnsafeError{Path: dir, Reason: fmt.Sprintf("is no directory, and label %s=%s needs one", r.label, r.from)}
			}
		}
		before := len(out)
		for name, e := range o.state {
			rel, ok := strings.CutPrefix(name, r.from+"/")
			if !ok || e.typ == tar.TypeDir {
				continue
			}
			e, err := o.resolve(r, name, e)
			if err != nil {
				return nil, err
			}
			out = append(out, file{path.Join(r.to, rel), e})
		}
		if len(out) == before && !r.optional {
			return nil, &LabelError{Label: r.label, Value: r.from, Reason: "names a directory that the image does not have, or that is empty"}
		}
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// resolve returns the file that a path stands for, which symbolic links may lead
// to within their directory.
func (o *overlay) resolve(r root, name string, e entry) (entry, error) {
	at := name
	for range 8 {
		switch e.typ {
		case tar.TypeReg:
			return e, nil
		case tar.TypeSymlink:
			to := e.target
			if !path.IsAbs(to) {
				to = path.Join("/", path.Dir(at), to)
			}
			at = path.Clean(to)[1:]
			next, ok := o.state[at]
			if !ok || !within(at, r.from) {
				return entry{}, &UnsafeError{Path: name, Reason: fmt.Sprintf("is a link to %q, which is no file of the same directory", e.target)}
			}
			e = next
		case tar.TypeDir:
			return entry{}, &UnsafeError{Path: name, Reason: "is a link to a directory"}
		default:
			return entry{}, &UnsafeError{Path: name, Reason: "is a special file, such as a device"}
		}
	}
	return entry{}, &UnsafeError{Path: name, Reason: "is a link in a circle"}
}
