package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/regular"
	"github.com/olmkit/olmkit/internal/visible"
)

// A writing holds the flags of commands that write catalogs.
type writing struct {
	syntax string
	dir    string
	force  bool
	notes  func() io.Writer
}

var syntaxes = []string{"yaml", "json", "jsonl"}

// addSyntax adds the flag for the syntax of a catalog.
func addSyntax(cmd *cobra.Command, text string) *writing {
	w := &writing{}
	addChoice(cmd, &w.syntax, "output", "o", text, syntaxes...)
	return w
}

// addWriting adds the flags for writing a catalog.
func addWriting(cmd *cobra.Command) *writing {
	w := addSyntax(cmd, "syntax of the catalog: yaml, json (indented) or jsonl (one blob a line) (default yaml)")
	cmd.Flags().StringVar(&w.dir, "dir", "", "write a file for each package, `DIR`/PACKAGE/catalog.yaml, instead of printing; the directory must be new or empty")
	cmd.Flags().BoolVar(&w.force, "force", false, "with --dir, write to a directory that is not empty; files with other names stay")
	w.notes = cmd.ErrOrStderr
	return w
}

// options returns the options for writing a file. Its syntax depends on the
// flag, or else on its name.
func (w *writing) options(file string) *fbc.WriteOptions {
	syntax := w.syntax
	if syntax == "" && strings.EqualFold(filepath.Ext(file), ".json") {
		syntax = "json"
	}
	switch syntax {
	case "json":
		return &fbc.WriteOptions{Syntax: fbc.JSON}
	case "jsonl":
		return &fbc.WriteOptions{Syntax: fbc.JSONLines}
	}
	return &fbc.WriteOptions{Syntax: fbc.YAML}
}

// write prints the catalog, or writes its files.
func (w *writing) write(ctx context.Context, out io.Writer, c *fbc.Catalog) error {
	opts := w.options("")
	if w.dir == "" {
		return fbc.Write(ctx, out, c, opts)
	}
	name := "catalog.yaml"
	if opts.Syntax != fbc.YAML {
		name = "catalog.json"
	}
	parts := map[string]*fbc.Catalog{} // by their names in the directory
	for pkg, part := range c.ByPackage() {
		if pkg != "" && (strings.ContainsAny(pkg, `/\`) || !filepath.IsLocal(pkg) || pkg == ".") {
			return fmt.Errorf("nothing was written: package %q cannot be the name of a directory", pkg)
		}
		parts[filepath.Join(pkg, name)] = part
	}
	if err := w.checkDir(parts); err != nil {
		return err
	}
	var files disk.Batch
	defer files.Discard()
	dir, err := files.Dir(w.dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	for _, file := range slices.Sorted(maps.Keys(parts)) {
		if err := files.Add(dir, file, newFile, content(ctx, parts[file], opts)); err != nil {
			return fmt.Errorf("--dir: nothing was written: %w", err)
		}
	}
	if err := files.Commit(); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	return nil
}

// checkDir refuses a directory that is not empty. With --force, it instead prints a note about
// files in the directory that will not be overwritten: loading the directory later loads them,
// too.
func (w *writing) checkDir(parts map[string]*fbc.Catalog) error {
	list, err := os.ReadDir(w.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--dir: %w", err)
	case len(list) == 0:
		return nil
	case !w.force:
		return fmt.Errorf("--dir: %s is not empty; name a new directory, or add --force to write over its files", w.dir)
	}
	var stay, left []string
	err = filepath.WalkDir(w.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at, err := filepath.Rel(w.dir, name)
		switch {
		case err != nil || parts[at] != nil:
		case d.Type().IsRegular() && regular.IsTemporary(d.Name()):
			left = append(left, name)
		default:
			stay = append(stay, name)
		}
		return err
	})
	if len(stay) > 0 {
		visible.Fprintf(w.notes(), "note: kept %s in %s, such as %s\n", phrase.Count(len(stay), "other file"), w.dir, stay[0])
	}
	if len(left) > 0 {
		visible.Fprintf(w.notes(), "warning: interrupted writes left %s in %s, such as %s; check that no other file is missing, then delete them\n", phrase.Count(len(left), "file"), w.dir, left[0])
	}
	return err
}

// newFile is the mode of new files, before the umask is applied.
const newFile = 0o666

// content returns a function that writes a catalog.
func content(ctx context.Context, c *fbc.Catalog, opts *fbc.WriteOptions) func(io.Writer) error {
	return func(w io.Writer) error { return fbc.Write(ctx, w, c, opts) }
}

// replaceOutput is [disk.Replace] for a command that writes to standard output
// when --output is "-".
func replaceOutput(name string, write func(io.Writer) error) error {
	err := disk.Replace(name, newFile, write)
	if errors.As(err, new(*disk.NotFileError)) {
		return fmt.Errorf("--output: %w, or - for standard output", err)
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

// checkFile refuses the name of a format as the value of an --output that names
// a file: in other commands, --output names a format.
func checkFile(name, what string) error {
	switch format(name) {
	case formatText, formatJSON, formatYAML:
		return usagef("--output is the file for %[2]s, not a format; use ./%[1]s for a file named %[1]q", name, what)
	}
	return nil
}
