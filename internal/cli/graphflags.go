package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// addReading adds the flag that chooses between the two readings of a graph.
func addReading(cmd *cobra.Command) *graph.Reading {
	r := graph.Classic
	cmd.Flags().TextVar(&r, "reading", graph.Classic, "how to read the graph: `classic` as OLM (v0) does, or v1")
	complete(cmd, "reading", graph.Classic.String(), graph.V1.String())
	return &r
}

// onePackage returns the package that the arguments CATALOG PACKAGE, or with the
// sample PACKAGE alone, name, and the arguments after them.
func onePackage(ctx context.Context, l *loader, args []string, sample bool) (graph.Package, []string, error) {
	path := samplePath
	if !sample {
		if len(args) == 0 {
			return graph.Package{}, nil, usagef("no catalog; name its directory, or give --sample")
		}
		path, args = args[0], args[1:]
	}
	if len(args) == 0 {
		return graph.Package{}, nil, usagef("no package; name one after the catalog")
	}
	cat, err := l.index(ctx, path)
	if err != nil {
		return graph.Package{}, nil, err
	}
	l.note(path, cat)
	p, ok := cat.Package(args[0])
	if !ok {
		return graph.Package{}, nil, fmt.Errorf("catalog %s has no package %q%s", display(path), args[0], hint(args[0], packageNames([]resolver.Catalog{{Graph: cat}})))
	}
	return p, args[1:], nil
}

// checkChannels reports a channel that a package does not have.
func checkChannels(p graph.Package, names []string) error {
	for _, name := range names {
		if _, ok := p.Channel(name); !ok {
			var known []string
			for ch := range p.Channels() {
				known = append(known, ch.Name())
			}
			return fmt.Errorf("package %s has no channel %q; it has %s", p.Name(), name, strings.Join(known, ", "))
		}
	}
	return nil
}

// findNode returns what a text names: a bundle of the package by name or version,
// or with NAME@VERSION something that the catalog need not know.
func findNode(p graph.Package, text string) (graph.Node, error) {
	if name, version, ok := strings.Cut(text, "@"); ok {
		v, err := semver.Parse(version)
		if err != nil || name == "" {
			return graph.Node{}, fmt.Errorf("%q: write NAME@VERSION with a version like 1.2.3", text)
		}
		return graph.Node{Name: name, Version: v.String()}, nil
	}
	if b, ok := p.Bundle(text); ok {
		return b.Node(), nil
	}
	var found []graph.Node
	var known []string
	for b := range p.Bundles() {
		known = append(known, b.Name())
		if v, err := semver.ParseTolerant(text); err == nil && b.HasVersion() && (b.Version().String() == text || b.Version().EQ(v)) {
			found = append(found, b.Node())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
	default:
		return graph.Node{}, fmt.Errorf("package %s: version %s is both %s and %s; name the bundle instead", p.Name(), text, found[0].Name, found[1].Name)
	}
	for ch := range p.Channels() {
		for e := range ch.Entries() {
			if e.Replaces() == text {
				return graph.Node{Name: text}, nil
			}
			for s := range e.Skips() {
				if s == text {
					return graph.Node{Name: text}, nil
				}
			}
		}
	}
	return graph.Node{}, fmt.Errorf("package %s knows no %q%s; write NAME@VERSION for what the catalog need not know", p.Name(), text, hint(text, known))
}

// wholeIndex returns the index of a catalog whose blobs can be read again.
func wholeIndex(ctx context.Context, l *loader, path string) (*graph.Catalog, error) {
	if path == samplePath {
		return l.index(ctx, path)
	}
	opts := &fbc.LoadOptions{Keep: fbc.KeepAll}
	var blobs *fbc.Catalog
	var err error
	if path == stdinPath {
		blobs, err = fbc.LoadReader(ctx, l.stdin, "stdin", opts)
	} else {
		info, statErr := os.Stat(path)
		if statErr == nil && info.IsDir() {
			return l.index(ctx, path)
		}
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close()
			blobs, err = fbc.LoadReader(ctx, f, filepath.Base(path), opts)
		}
	}
	if err != nil {
		return nil, &catalogError{path, err}
	}
	return graph.Build(ctx, blobs, nil)
}

// reasonsText tells the edges of a step.
func reasonsText(s graph.Step) string {
	var words []string
	for _, r := range s.Reasons {
		words = append(words, strings.TrimSpace(r.Edge.String()+" "+r.Channel))
	}
	return strings.Join(words, ", ")
}
