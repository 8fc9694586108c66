package cli

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
)

func newMerge(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge CATALOG...",
		Short: "Merge catalogs into one",
		Long: `Merge prints the union of catalogs: directories, files, or - for standard input. It is
an error if two catalogs define the same package, or the same bundle of a package.`,
		Example: `  olmkit merge ./etcd ./prometheus > catalog.yaml
  olmkit merge ./a ./b --dir ./catalog`,
	}
	w := addWriting(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("name the catalogs to merge")
		}
		var (
			all  []*fbc.Catalog
			dirs []string
		)
		for _, arg := range args {
			c, err := newLoader(e).keep(cmd.Context(), arg)
			if err != nil {
				return notLoaded(cmd.Context(), arg, err)
			}
			all, dirs = append(all, c), append(dirs, rootOf(arg))
		}
		c, err := fbc.Merge(dirs, all...)
		if err != nil {
			return err
		}
		return w.write(cmd.Context(), machine(e.stdout), c)
	}
	return cmd
}

// rootOf returns the directory of the files of a catalog, as the user wrote it,
// or "" for standard input.
func rootOf(path string) string {
	switch {
	case path == stdinPath:
		return ""
	case isReference(path):
		ref, _ := referenceOf(path)
		return ref.dir()
	case isDir(path):
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(filepath.Dir(path))
}

func newExtract(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "extract CATALOG --package PACKAGE...",
		Short: "Extract packages from a catalog",
		Long: `Extract prints everything in a catalog that belongs to some packages: all their
channels, bundles, deprecations and blobs of other schemas. "olmkit subset" selects
parts of packages, and includes their dependencies.`,
		Example: `  olmkit extract ./catalog --package etcd --package prometheus > two.yaml`,
	}
	w := addWriting(cmd)
	from := addCatalog(cmd)
	packages := cmd.Flags().StringArrayP("package", "p", nil, "a `PACKAGE` to extract (repeatable)")
	cmd.ValidArgsFunction = from.completeCatalog()
	completeFlag(cmd, "package", from.completePackage(e, false))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := from.alone(args)
		switch {
		case err != nil:
			return err
		case len(*packages) == 0:
			return usagef("nothing to extract; name packages with --package")
		}
		c, err := newLoader(e).keep(cmd.Context(), path)
		if err != nil {
			return notLoaded(cmd.Context(), path, err)
		}
		known := c.PackageNames()
		for _, name := range *packages {
			if !slices.Contains(known, name) {
				return noPackage(path, name, known)
			}
		}
		if c, err = fbc.Extract(c, *packages...); err != nil {
			return err
		}
		return w.write(cmd.Context(), machine(e.stdout), c)
	}
	return cmd
}
