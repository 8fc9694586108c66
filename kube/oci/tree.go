package oci

import (
	"archive/tar"
	"strings"
)

// An entry is what a layer has at a path.
type entry struct {
	typ          byte // of package tar; 0 for nothing, or for what lower layers have
	target       string
	offset, size int64 // in the spool, for files
}

func (e *entry) isDir() bool { return e.typ == tar.TypeDir }

// A node is a path in the tree of a layer, or of several that lie on each other.
type node struct {
	entry
	fresh bool             // what lower layers have here is gone
	below map[string]*node // by name, in a directory
}

// find returns the node of a path, "." for the root, or nil.
func (n *node) find(name string) *node {
	for elem, rest := next(name); elem != "" && n != nil; elem, rest = next(rest) {
		n = n.below[elem]
	}
	return n
}

// at returns the node of a path, which it makes with the directories on the way. It
// calls implied for each directory that it makes.
func (n *node) at(name string, implied func() error) (*node, error) {
	for elem, rest := next(name); elem != ""; elem, rest = next(rest) {
		child := n.below[elem]
		if child == nil {
			if rest != "" {
				if err := implied(); err != nil {
					return nil, err
				}
			}
			child = &node{}
			if n.below == nil {
				n.below = map[string]*node{}
			}
			n.below[elem] = child
		}
		n = child
	}
	return n, nil
}

// put puts an entry at a path, in place of what the same layer had there before.
func (n *node) put(name string, e entry, implied func() error) error {
	at, err := n.at(name, implied)
	if err != nil {
		return err
	}
	// What is on the way becomes a directory.
	for elem, rest := next(name); elem != ""; elem, rest = next(rest) {
		if !n.isDir() {
			n.entry = entry{typ: tar.TypeDir}
		}
		n = n.below[elem]
	}
	at.entry = e
	if !e.isDir() {
		at.fresh, at.below = true, nil
	}
	return nil
}

// over returns n, of an upper layer, on top of what lower ones have at its path.
// It may change and return either.
func (n *node) over(lower *node) *node {
	switch {
	case lower == nil || n.fresh:
		return n
	case lower.typ != 0 && !lower.isDir():
		if n.typ == 0 {
			return lower
		}
		return n
	}
	for name, child := range n.below {
		if lower.below == nil {
			lower.below = map[string]*node{}
		}
		lower.below[name] = child.over(lower.below[name])
	}
	if n.typ != 0 {
		lower.entry = n.entry
	}
	return lower
}

// next returns the first element of a clean path, and the others. The root has none.
func next(name string) (elem, rest string) {
	if name == "." {
		return "", ""
	}
	elem, rest, _ = strings.Cut(name, "/")
	return elem, rest
}
