package oci

import (
	"archive/tar"
	"io"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTree compares the trees of random layers with a map from paths to entries, to which
// each layer's removals and then its additions are applied.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 19))
	names := []string{"m/a", "m/b", "m/a/a", "m/a/b", "m/b/a", "m/a/a/a", "m"}
	for range 3000 {
		o := &overlay{roots: []root{{from: "m", to: "m"}}, limits: Limits{Scan: 1 << 20, Bytes: 1 << 20, Files: 1000}, archive: newImageWriter(io.Discard)}
		want := map[string]byte{}
		var story []string
		for range 1 + r.IntN(4) {
			var headers []tar.Header
			var removed []string
			added := map[string]byte{}
			for range r.IntN(5) {
				name := names[r.IntN(len(names))]
				switch typ := "0025wo"[r.IntN(6)]; {
				case typ == 'w':
					removed = append(removed, name)
					headers = append(headers, tar.Header{Name: path.Dir(name) + "/.wh." + path.Base(name), Typeflag: tar.TypeReg})
				case typ == 'o':
					removed = append(removed, name+"/")
					headers = append(headers, tar.Header{Name: name + "/.wh..wh..opq", Typeflag: tar.TypeReg})
				case fits(added, name, typ):
					added[name] = typ
					h := tar.Header{Name: name, Typeflag: typ}
					if typ == tar.TypeSymlink {
						h.Linkname = "x"
					}
					headers = append(headers, h)
				}
			}
			for _, h := range headers {
				story = append(story, string(h.Typeflag)+" "+h.Name)
			}
			story = append(story, "--")
			reference(want, removed, added)
			if err := o.apply(t.Context(), plain(entries(t, headers...))); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]byte{}
		leaves(&o.state, "", got)
		for name, typ := range want {
			if typ == tar.TypeDir {
				delete(want, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", strings.Join(story, "\n"), diff)
		}
	}
}

// fits reports whether an entry can be added to a layer, because nothing would be below a
// file.
func fits(added map[string]byte, name string, typ byte) bool {
	for other, t := range added {
		if other == name || within(other, name) && typ != tar.TypeDir || within(name, other) && t != tar.TypeDir {
			return false
		}
	}
	return true
}

// reference applies a layer. Removing "a" removes a and everything below it; "a/" only
// removes what is below.
func reference(state map[string]byte, removed []string, added map[string]byte) {
	remove := func(name string, self bool) {
		for other := range state {
			if within(other, name) && (self || other != name) {
				delete(state, other)
			}
		}
	}
	for _, name := range removed {
		dir, opaque := strings.CutSuffix(name, "/")
		remove(dir, !opaque)
		if opaque && state[dir] != tar.TypeDir {
			delete(state, dir) // an opaque directory is a directory
		}
	}
	for name, typ := range added {
		if typ != tar.TypeDir {
			remove(name, true)
		} else if t, ok := state[name]; ok && t != tar.TypeDir {
			delete(state, name)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if t, ok := state[dir]; ok && t != tar.TypeDir {
				delete(state, dir)
			}
		}
	}
	for name, typ := range added {
		state[name] = typ
	}
}

// leaves adds the entries of a tree that are not directories.
func leaves(n *node, name string, into map[string]byte) {
	for elem, child := range n.below {
		switch at := path.Join(name, elem); {
		case child.isDir():
			leaves(child, at, into)
		case child.typ != 0:
			into[at] = child.typ
		}
	}
}
