package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

func newReplay(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Resolve recorded problems again and report changed answers",
		Long: `Replay resolves the problems of a file that "olmkit explain --record" wrote, one
JSON document or several, and reports answers that differ from the recorded ones.
FILE may be -, for standard input. Catalogs that the record names by directory are
loaded from there, and refused if their content has changed.

Exit codes: 0 all answers are the same, 1 some differ, 2 the input could not be
read.`,
		Example: `  olmkit explain ./catalog --package etcd --record etcd.json
  olmkit replay etcd.json`,
		Args:        nameFile,
		Annotations: map[string]string{streams: "true"},
	}
	var doc problemInput
	f := addFormat(cmd)
	doc.addRoot(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s := &solver{loader: newLoader(e), out: printer{w: e.stdout, format: *f}}
		s.open = doc.open(s.loader)
		s.loader.onDemand = true
		in, err := e.input(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		defer in.Close()
		n, differ := 0, false
		for r, err := range documents[resolver.Record](in) {
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			n++
			a := &replayed{ID: r.Problem.ID, name: label("problem", r.Problem.ID, n)}
			e.limits.bound(&r.Problem.Options)
			ctx, cancel := e.within(cmd.Context())
			a.Differences, err = r.Replay(ctx, s.open)
			err = timedOut(ctx, err)
			cancel()
			if err != nil {
				return fmt.Errorf("%s: %s: %w", args[0], a.name, err)
			}
			a.Same = len(a.Differences) == 0
			differ = differ || !a.Same
			if err := s.out.print(a); err != nil {
				return err
			}
		}
		switch {
		case n == 0:
			return fmt.Errorf("%w; \"olmkit explain --record\" writes one", nothingIn(args[0], "records"))
		case differ:
			return errNegative
		}
		return nil
	}
	return cmd
}

// nameFile checks that a command is given one file.
func nameFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("name one file, or - for standard input")
	}
	return nil
}

// A replayed is how a new answer compares with the recorded one.
type replayed struct {
	ID          string   `json:"id,omitempty"`
	Same        bool     `json:"same"`
	Differences []string `json:"differences,omitempty"`

	name string
}

func (r *replayed) text(w io.Writer) error {
	if r.Same {
		_, err := visible.Fprintf(w, "%s: same answer\n", r.name)
		return err
	}
	_, err := visible.Fprintf(w, "%s: different answer\n  %s\n", r.name, visible.Block(strings.Join(lines(r.Differences, visible.Line), "\n  ")))
	return err
}
