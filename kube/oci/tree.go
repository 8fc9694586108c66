package oci

import (
	"archive/tar"
	"strings"
)

// An entry is the content of a path in a layer.
type entry struct {
	typ    byte // of package tar; 0 if the layer does not define the path
	target string
	number int // in the archive, for files
	size   int64
}

func (e *entry) isDir() bool { return e.typ == tar.TypeDir }

// A node is a path in the tree of one layer or of several merged layers.
type node struct {
	entry
	fresh bool             // hides everything in lower layers
	below map[string]*node // by name, in a directory
}

// find returns the node of a path, "." for the root, or nil.
func (n *node) find(name string) *node {
	for elem, rest := next(name); elem != "" && n != nil; elem, rest = next(rest) {
		n = n.below[elem]
	}
	return n
}

// at returns the node of a path, creating it and its parent directories if
// necessary. It calls implied for each parent that it creates.
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

// put sets the entry at a path, replacing an earlier one of the same layer.
func (n *node) put(name string, e entry, implied func() error) error {
	at, err := n.at(name, implied)
	if err != nil {
		return err
	}
	// Turn all parents into directories.
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

// over merges n, from an upper layer, with the lower layers' node at the same
// path. It may modify either node, and returns one of them.
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

// next splits a clean path into its first element and the rest. The root has no
// elements.
func next(name string) (elem, rest string) {
	if name == "." {
		return "", ""
	}
	elem, rest, _ = strings.Cut(name, "/")
	return elem, rest
}
