package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
)

// A writing says how commands that make catalogs write them.
type writing struct {
	syntax string
	dir    string
}

var syntaxes = []string{"yaml", "json", "jsonl"}

// addSyntax adds the flag for the syntax of a catalog.
func addSyntax(cmd *cobra.Command, text string) *writing {
	w := &writing{}
	cmd.Flags().StringVarP(&w.syntax, "output", "o", "", text)
	complete(cmd, "output", syntaxes...)
	return w
}

// addWriting adds the flags for writing a catalog.
func addWriting(cmd *cobra.Command) *writing {
	w := addSyntax(cmd, "syntax of the catalog: yaml, json (indented) or jsonl (one blob a line) (default yaml)")
	cmd.Flags().StringVar(&w.dir, "dir", "", "write a file for each package, `DIR`/PACKAGE/catalog.yaml, instead of printing")
	return w
}

// options returns the options for a file, whose name decides unless a flag
// does.
func (w *writing) options(file string) (*fbc.WriteOptions, error) {
	syntax := w.syntax
	if syntax == "" && strings.EqualFold(filepath.Ext(file), ".json") {
		syntax = "json"
	}
	switch syntax {
	case "", "yaml":
		return &fbc.WriteOptions{Syntax: fbc.YAML}, nil
	case "json":
		return &fbc.WriteOptions{Syntax: fbc.JSON}, nil
	case "jsonl":
		return &fbc.WriteOptions{Syntax: fbc.JSONLines}, nil
	}
	return nil, usagef("--output %q is not one of %s", syntax, strings.Join(syntaxes, ", "))
}

// write prints the catalog, or writes its files.
func (w *writing) write(ctx context.Context, out io.Writer, c *fbc.Catalog) error {
	opts, err := w.options("")
	if err != nil {
		return err
	}
	if w.dir == "" {
		return fbc.Write(ctx, out, c, opts)
	}
	name := "catalog.yaml"
	if opts.Syntax != fbc.YAML {
		name = "catalog.json"
	}
	for pkg, part := range c.ByPackage() {
		if strings.ContainsAny(pkg, `/\`) || pkg == "." || pkg == ".." {
			return fmt.Errorf("package %q cannot be the name of a directory", pkg)
		}
		if err := writeFile(ctx, filepath.Join(w.dir, pkg, name), part, opts); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a catalog to a file, whole or not at all.
func writeFile(ctx context.Context, name string, c *fbc.Catalog, opts *fbc.WriteOptions) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".olmkit-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is left of it after a rename
	mode := os.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	err = fbc.Write(ctx, f, c, opts)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
