package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/shrink"
)

func newShrink(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shrink FILE",
		Short: "Reduce a problem to a minimal one with the same conflict",
		Long: `Shrink reads a problem document without a solution and prints the smallest problem
that it finds with the same kind of conflict. It removes subscriptions, operators,
catalogs, packages, bundles, entries and properties that do not matter. FILE may be -,
for standard input. The result does not need other files: attach it to a bug report.

Exit codes: 0 the problem was reduced, 1 the problem has a solution, 2 the input could
not be read.`,
		Example: `  olmkit shrink problem.json > small.json
  olmkit explain --problem small.json`,
		Args: nameFile,
	}
	var doc problemInput
	doc.addRoot(cmd)
	f := formatJSON
	addChoice(cmd, (*string)(&f), "output", "o", "how to print the problem; other commands read json", string(formatJSON), string(formatYAML))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		s := &solver{loader: newLoader(e), out: printer{w: e.stdout, format: f}}
		s.open = doc.open(s.loader)
		p, err := s.read(ctx, args[0])
		if err != nil {
			return err
		}
		if err := p.Open(ctx, s.open); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		_, err = resolver.Resolve(ctx, *p)
		var no *resolver.Conflict
		switch {
		case err == nil:
			visible.Fprintf(e.stderr, "olmkit: %s: the problem has a solution; there is no conflict to keep\n", args[0])
			return errNegative
		case !errors.As(err, &no):
			return err
		}
		small, err := shrink.Shrink(ctx, *p, shrink.SameConflict(no))
		if err != nil {
			return err
		}
		return s.out.encode(small)
	}
	return cmd
}
