package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
)

func newIndex(e *env) *cobra.Command {
	var output string
	var check bool
	cmd := &cobra.Command{
		Use:   "index CATALOG -o FILE",
		Short: "Compile a catalog into a file that opens at once",
		Long: `Index compiles a catalog directory into one file, which every command that reads or
resolves a catalog accepts. Opening it takes about as long as reading it. It contains
only what resolution needs. Commands that check or write the content of a catalog
(validate, fmt, merge, extract, subset), and platform, need the directory. For
manifests and descriptions, plan, simulate and view need the directory in addition to
the index: --catalog NAME=FILE,source=DIR.

With --check, index compares the file with the directory and writes nothing.

Exit codes: 0 written, or up to date; 1 the file is stale; 2 the catalog or the
file could not be read.`,
		Example: `  olmkit index ./catalog -o catalog.index
  olmkit resolve --catalog community=catalog.index --package etcd
  olmkit plan -f state.yaml --catalog community=catalog.index,source=./catalog
  olmkit index ./catalog -o catalog.index --check`,
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `FILE` to write; - for standard output")
	cmd.Flags().BoolVar(&check, "check", false, "only report whether the file is up to date")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) != 1:
			return usagef("name one catalog directory")
		case output == "":
			return usagef("name the file to write with --output")
		}
		if err := checkFile(output, "an index"); err != nil {
			return err
		}
		l := newLoader(e)
		ctx, dir := cmd.Context(), args[0]
		var files fs.FS
		if ref, ok := referenceOf(dir); ok {
			c, err := l.fetch(ctx, ref)
			if err != nil {
				return notLoaded(ctx, dir, err)
			}
			files = c.files
		} else {
			dir = filepath.Clean(dir)
			root, err := disk.OpenRoot(dir)
			if err != nil {
				return &catalogError{dir, err}
			}
			defer root.Close()
			files = root.FS()
		}
		if output != stdinPath && isWithin(dir, output) {
			return usagef("%s is in the catalog directory; write the index to a file outside it", output)
		}
		source, err := graph.HashSource(ctx, files)
		if err != nil {
			return &catalogError{dir, err}
		}
		if check {
			c, err := openIndex(output)
			if err != nil {
				return err
			}
			if c.SourceHash() != source {
				visible.Fprintf(e.stdout, "%s is stale: %s has changed since; write it again\n", output, dir)
				return errNegative
			}
			visible.Fprintf(e.stdout, "%s is up to date\n", output)
			return nil
		}
		l.strict, l.forIndex = true, true
		c, err := l.index(ctx, dir)
		if err != nil {
			return err
		}
		l.note(dir, c)
		return writeIndex(ctx, e, output, c, source)
	}
	return cmd
}

// writeIndex writes an index to a file, or to standard output.
func writeIndex(ctx context.Context, e *env, name string, c *graph.Catalog, source string) error {
	if name == stdinPath {
		return graph.WriteIndex(ctx, exact(e.stdout), c, source)
	}
	return replaceOutput(name, func(w io.Writer) error { return graph.WriteIndex(ctx, w, c, source) })
}

// isWithin reports whether a file, which may not exist, is below a directory
// after resolving links.
func isWithin(dir, name string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	} else if parent, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(parent, filepath.Base(name))
	}
	dir, derr := filepath.Abs(dir)
	name, nerr := filepath.Abs(name)
	rel, err := filepath.Rel(dir, name)
	return derr == nil && nerr == nil && err == nil && filepath.IsLocal(rel)
}

func openIndex(name string) (*graph.Catalog, error) {
	c, err := graph.OpenIndex(name, nil)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("index %s does not exist; write it with \"olmkit index\"", name)
	}
	return c, err
}

// errIndex is the error for a compiled index where blobs are needed.
var errIndex = errors.New("is a compiled index, which does not hold the blobs; name the catalog that it was made from")

// isIndex reports whether a file is a compiled index.
func isIndex(root *disk.Root, name string) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [8]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && graph.IsIndex(head[:])
}

// indexNamed adds the name of an index to an error.
func indexNamed(name string, err error) error {
	if bad := (*graph.IndexError)(nil); errors.As(err, &bad) {
		bad.Name = name
	}
	return err
}

// noteKubernetes prints a note if a source is a compiled index without its files, which lacks minKubeVersion.
func (l *loader) noteKubernetes(s source) {
	if s.path != stdinPath && s.path != samplePath && s.files == "" && isIndex(s.place()) {
		visible.Fprintf(l.stderr, "note: index %s does not have minKubeVersion, so the version of Kubernetes is not checked; to check it, add the files of the index: --catalog NAME=%[1]s,source=DIR\n", visible.Block(display(s.path)))
	}
}
