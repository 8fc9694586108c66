package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
)

func newDiff(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff {OLD|--cluster} NEW",
		Short: "Show how a new catalog affects users of an old one",
		Long: `Diff shows what a new catalog changes: versions that lose, gain or change their
path to the head of a channel, heads that moved, skipRanges that changed, bundles
and APIs that are gone, bundles whose content changed under the same name,
deprecations.

With --cluster or --filename, the old catalog is the one in the cluster that NEW would
replace: the one with the name of NEW (NAME in NAME=PATH), or else the only one. The
answer is limited to the installed operators and their channels.

Exit codes: 0 no version loses its path, 1 a version does, 2 the input could not be
read.`,
		Example: `  olmkit diff ./catalog-4.16 ./catalog-4.17
  olmkit diff --cluster redhat-operators=registry.redhat.io/redhat/redhat-operator-index:v4.19
  git show HEAD:catalog.json | olmkit diff - ./catalog.json -o json`,
	}
	f, reading := addFormat(cmd), addReading(cmd)
	var s clusterState
	s.addCluster(cmd)
	s.addNamespace(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l := newLoader(e)
		if s.given() {
			if len(args) != 1 {
				return usagef("name one catalog to compare with that of the cluster; got %d", len(args))
			}
			d, err := s.diff(cmd.Context(), l, args[0], *reading)
			if err != nil {
				return err
			}
			return (*diffAnswer)(d).print(e, *f)
		}
		if err := s.checkNamespace(); err != nil {
			return err
		}
		if len(args) != 2 {
			return usagef("name two catalogs, the old one first; got %d", len(args))
		}
		if args[0] == stdinPath && args[1] == stdinPath {
			return usagef("standard input is one catalog, and a difference needs two; name the other one")
		}
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
		return (*diffAnswer)(d).print(e, *f)
	}
	return cmd
}

type diffAnswer graph.Diff

func (a *diffAnswer) print(e *env, f format) error {
	if err := (&printer{w: e.stdout, format: f}).print(a); err != nil {
		return err
	}
	if a.Lost > 0 {
		return errNegative
	}
	return nil
}

func (a *diffAnswer) text(w io.Writer) error {
	_, err := io.WriteString(w, (*graph.Diff)(a).String())
	return err
}
