package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
)

func newDiff(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show how a new catalog affects users of an old one",
		Long: `Diff shows what a new catalog changes: versions that lose, gain or change their
path to the head of a channel, heads that moved, skipRanges that changed, bundles
and APIs that are gone, bundles whose content changed under the same name,
deprecations.

Exit codes: 0 no version loses its path, 1 a version does, 2 the input could not be
read.`,
		Example: `  olmkit diff ./catalog-4.16 ./catalog-4.17
  git show HEAD:catalog.json | olmkit diff - ./catalog.json -o json`,
	}
	f, reading := addFormat(cmd), addReading(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usagef("two catalogs are compared, and got %d; name the old one, then the new one", len(args))
		}
		if args[0] == stdinPath && args[1] == stdinPath {
			return usagef("standard input is one catalog, and a difference needs two; name the other one")
		}
		l := newLoader(e)
		var cats [2]*graph.Catalog
		for i, path := range args {
			c, err := l.index(cmd.Context(), path)
			if err != nil {
				return err
			}
			l.note(path, c)
			cats[i] = c
		}
		d, err := graph.Compare(cmd.Context(), cats[0], cats[1], *reading)
		if err != nil {
			return err
		}
		if err := (&printer{w: e.stdout, format: *f}).print((*diffAnswer)(d)); err != nil {
			return err
		}
		if d.Lost > 0 {
			return errNegative
		}
		return nil
	}
	return cmd
}

type diffAnswer graph.Diff

func (a *diffAnswer) text(w io.Writer) error {
	_, err := io.WriteString(w, (*graph.Diff)(a).String())
	return err
}
