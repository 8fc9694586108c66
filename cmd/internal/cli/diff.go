package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/olm"
)

func newDiff(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff {OLD|--cluster} NEW",
		Short: "Show how a new catalog affects users of an old one",
		Long: `Diff shows what a new catalog changes: versions that lose, gain or change their
path to the head of a channel, heads that moved, skipRanges that changed, bundles
and APIs that are gone, bundles whose content changed under the same name,
deprecations. Before that, it states how versions that lose their path get further:
with the old catalog, before the new one replaces it, or with the new one.

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
			return d.print(e, *f)
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
		return (&diffAnswer{Diff: d}).print(e, *f)
	}
	return cmd
}

// A diffAnswer is a difference, and the operators of the cluster that it is about, if it is about some.
type diffAnswer struct {
	*graph.Diff
	operators []operatorStatus
}

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
	lines := proseWriter(w)
	for _, p := range a.Packages {
		a.precautions(lines, &p)
	}
	text := lines.String()
	if text != "" {
		text = "What to do for versions that lose their path:\n" + text + "\n"
	}
	_, err := io.WriteString(w, text+a.String())
	return err
}

// precautions writes what to do for the versions of a package that lose their path, with those for which it is the same in
// one line, and the commands for the operators of the cluster.
func (a *diffAnswer) precautions(lines *prose.Writer, p *graph.PackageDiff) {
	var texts []string
	alike := map[string][]graph.Precaution{}
	for i, x := range p.Precautions {
		if slices.ContainsFunc(p.Precautions[:i], func(y graph.Precaution) bool { return sameEnds(&x, &y) }) && a.operators == nil {
			continue // only another channel differs
		}
		text := prose.Precaution(&x, a.Reading)
		if alike[text] == nil {
			texts = append(texts, text)
		}
		alike[text] = append(alike[text], x)
	}
	for _, text := range texts {
		var from []string
		for _, x := range alike[text] {
			if name := cmp.Or(x.From.Version, x.From.Name); !slices.Contains(from, name) {
				from = append(from, name)
			}
		}
		lines.Line(nil, fmt.Sprintf("%s %s: %s", p.Name, phrase.Few(from), text), "  ", "    ")
		for i := range a.operators {
			o := &a.operators[i]
			at := slices.IndexFunc(alike[text], func(x graph.Precaution) bool { return x.From.Name == o.Installed && o.follows(x.Channel) })
			if o.Package != p.Name || at < 0 || o.Object.Kind == olm.KindClusterServiceVersion {
				continue
			}
			manager := kubectl.Operator{V1: o.isV1(), Namespace: o.Namespace, Name: o.Object.Name}
			x := &alike[text][at]
			if x.Before != nil {
				lines.Legs(x.Before, prose.LegCommands(x.Before, manager, false, nil), "    ")
			}
			if x.After != nil {
				lines.Line(nil, "with the new catalog:", "    ", "    ")
				lines.Legs(x.After, prose.LegCommands(x.After, manager, false, nil), "    ")
			}
		}
	}
}

// sameEnds reports whether two precautions are about the same node, and lead to the same bundles.
func sameEnds(a, b *graph.Precaution) bool {
	same := func(v, w *graph.Way) bool { return v == nil && w == nil || v != nil && w != nil && v.End() == w.End() }
	return a.From == b.From && same(a.Before, b.Before) && same(a.After, b.After)
}
