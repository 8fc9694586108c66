package cli

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
)

func newFmt(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fmt [CATALOG...]",
		Short: "Format catalog files",
		Long: `Fmt sorts the blobs of each file, and their keys: packages by name, and in each its
olm.package, channels by name, bundles by version, deprecations, then other blobs.
The same catalog gives the same text, so diffs show only changes. Comments are lost.

It prints the result. -w overwrites the files instead, and --check lists the files
that would change and exits with 1 if there are any. Without an argument, it reads
standard input.`,
		Example: `  olmkit fmt catalog/etcd/catalog.yaml
  olmkit fmt -w ./catalog
  olmkit fmt --check ./catalog`,
	}
	w := addSyntax(cmd, "syntax: yaml, json (indented) or jsonl (one blob a line) (default: by the extension of the file)")
	write := cmd.Flags().BoolP("write", "w", false, "overwrite the files instead of printing")
	check := cmd.Flags().Bool("check", false, "only list the files that would change")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *write && *check {
			return usagef("-w and --check cannot be combined; remove one")
		}
		if len(args) == 0 {
			args = []string{stdinPath}
		}
		changed := false
		var files disk.Batch
		defer files.Discard()
		for _, arg := range args {
			one, err := formatAll(cmd.Context(), e, arg, w, &files, *write, *check)
			if err != nil {
				return err
			}
			changed = changed || one
		}
		if err := files.Commit(); err != nil {
			return err
		}
		if *check && changed {
			return errNegative
		}
		return nil
	}
	return cmd
}

// formatAll formats the files of a catalog, adds the changed ones to files if -w is set,
// and reports whether there are any.
func formatAll(ctx context.Context, e *env, arg string, w *writing, files *disk.Batch, write, check bool) (bool, error) {
	c, err := newLoader(e).keep(ctx, arg)
	if err != nil {
		return false, notLoaded(ctx, arg, err)
	}
	var root *disk.Root
	if arg != stdinPath && isDir(arg) {
		if root, err = files.Dir(arg); err != nil {
			return false, err
		}
	}
	changed := false
	for file, part := range c.Files() {
		name, place := arg, arg
		if isReference(arg) {
			name = file
		}
		if root != nil {
			place = filepath.FromSlash(file)
			name = filepath.Join(arg, place)
		}
		opts := w.options(name)
		if !write && !check {
			if err := fbc.Write(ctx, machine(e.stdout), part, opts); err != nil {
				return false, err
			}
			continue
		}
		if arg == stdinPath {
			return false, usagef("-w and --check need files, not standard input")
		}
		if isReference(arg) {
			return false, usagef("-w and --check need files, not %s", arg)
		}
		var text bytes.Buffer
		if err := fbc.Write(ctx, &text, part, opts); err != nil {
			return false, err
		}
		old, err := root.ReadFile(ctx, place, fbc.LimitError{Max: int64(text.Len())})
		if err != nil && !errors.As(err, new(*fbc.LimitError)) { // a longer file differs
			return false, notLoaded(ctx, arg, err)
		}
		if err == nil && bytes.Equal(old, text.Bytes()) {
			continue
		}
		changed, err = true, nil
		switch {
		case check:
			visible.Fprintf(e.stdout, "%s\n", name)
		case root != nil:
			err = files.Add(root, place, newFile, content(ctx, part, opts))
		default:
			err = files.AddFile(name, newFile, content(ctx, part, opts))
		}
		if err != nil {
			return false, err
		}
	}
	return changed, nil
}

// notLoaded adds the path of the catalog to an error.
func notLoaded(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &catalogError{path, err}
}
