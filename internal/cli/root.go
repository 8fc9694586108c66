package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. A command that prints its whole answer and exits with
// exitNegative is not broken: the answer is no.
const (
	exitOK       = 0
	exitNegative = 1 // a conflict, or findings in a catalog
	exitBadInput = 2 // the question could not be read
	// ExitInterrupted is that of a command that a signal ended.
	ExitInterrupted = 130
)

// errNegative ends a command whose answer, already printed, is no.
var errNegative = errors.New("the answer is no")

// errReported ends a command that has already told what is wrong with its input.
var errReported = errors.New("bad input was reported")

// Run runs one command line and returns its exit code. It reads and writes
// nothing but the given streams and the files that the arguments name.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&env{stdin: stdin, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNegative):
		return exitNegative
	case errors.Is(err, errReported):
		return exitBadInput
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		fmt.Fprintln(stderr, "olmkit: interrupted")
		return ExitInterrupted
	}
	fmt.Fprintf(stderr, "olmkit: %s\n", err)
	var usage *usageError
	if errors.As(err, &usage) || isCobraUsage(err) {
		fmt.Fprintf(stderr, "Run %q for usage.\n", cmd.CommandPath()+" --help")
	}
	return exitBadInput
}

// Command returns the tree of commands, for what is made of their help texts. Run
// runs them.
func Command() *cobra.Command {
	return newRoot(&env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
}

// An env is what a command may touch.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// A usageError is a command line that makes no sense, as opposed to input that
// cannot be read.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// isCobraUsage reports whether cobra made the error: it has no type for them.
func isCobraUsage(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown command ")
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "olmkit",
		Short: "Resolve operators as Operator Lifecycle Manager does, without a cluster",
		Long: `olmkit reads file-based catalogs and answers what Operator Lifecycle Manager
would install or upgrade, in which order of preference, and if nothing, why not.

Exit codes: 0 answered, 1 the answer is no (a conflict, an invalid catalog),
2 the input could not be read.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q", args[0])
			}
			return nil
		},
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err.Error()} })
	root.AddCommand(newResolve(e), newSelect(e), newGraph(e), newPath(e), newDiff(e), newSubset(e), newPlatform(e), newPlan(e), newSimulate(e), newList(e), newValidate(e), newExplain(e), newReplay(e), newShrink(e), newFmt(e), newRender(e), newMerge(e), newExtract(e), newIndex(e), newVersion(e))
	return root
}
