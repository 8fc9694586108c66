package oci

import (
	"archive/tar"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

type file struct {
	name string // in the result
	entry
}

// result returns the files of the directories of interest, sorted by name.
// Links become copies of their targets.
func (o *overlay) result(ctx context.Context) ([]file, error) {
	var out []file
	for _, r := range o.roots {
		before := len(out)
		top, err := o.top(r)
		if err == nil && top != nil {
			err = o.walk(ctx, r, r.from, top, &out)
		}
		if err != nil {
			return nil, err
		}
		if len(out) == before && !r.optional {
			return nil, &LabelError{Label: r.label, Value: r.from, Reason: "names a directory that is missing or empty"}
		}
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// top returns the node of a root's directory, or nil if the image does not have
// the directory.
func (o *overlay) top(r root) (*node, error) {
	n, at := &o.state, "."
	for elem, rest := next(r.from); elem != ""; elem, rest = next(rest) {
		n, at = n.below[elem], path.Join(at, elem)
		switch {
		case n == nil || n.typ == 0:
			return nil, nil
		case !n.isDir():
			return nil, &UnsafeError{Path: at, Reason: fmt.Sprintf("is not a directory, as label %s=%s requires", r.label, r.from)}
		}
	}
	return n, nil
}

// walk adds the files of a directory.
func (o *overlay) walk(ctx context.Context, r root, dir string, n *node, out *[]file) error {
	for _, elem := range slices.Sorted(maps.Keys(n.below)) {
		name, child := dir+"/"+elem, n.below[elem]
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case child.typ == 0:
			continue
		case child.isDir():
			if err := o.walk(ctx, r, name, child, out); err != nil {
				return err
			}
			continue
		}
		e, err := o.resolve(r, name, child.entry)
		if err != nil {
			return err
		}
		*out = append(*out, file{path.Join(r.to, strings.TrimPrefix(name, r.from+"/")), e})
	}
	return nil
}

// resolve returns the file at a path, following symbolic links within the
// directory.
func (o *overlay) resolve(r root, name string, e entry) (entry, error) {
	at := name
	for range 8 {
		switch e.typ {
		case tar.TypeReg:
			if at != name {
				return e, o.charge(e.size)
			}
			return e, nil
		case tar.TypeSymlink:
			to := e.target
			if !path.IsAbs(to) {
				to = path.Join("/", path.Dir(at), to)
			}
			at = path.Clean(to)[1:]
			found := o.state.find(at)
			if found == nil || found.typ == 0 || !within(at, r.from) {
				return entry{}, &UnsafeError{Path: name, Reason: fmt.Sprintf("is a link to %q, which is not a file in the same directory", e.target)}
			}
			e = found.entry
		case tar.TypeDir:
			return entry{}, &UnsafeError{Path: name, Reason: "is a link to a directory"}
		default:
			return entry{}, &UnsafeError{Path: name, Reason: "is a device or another special file"}
		}
	}
	return entry{}, &UnsafeError{Path: name, Reason: "is part of a cycle of links, or of a chain of more than eight"}
}
