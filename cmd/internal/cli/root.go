package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmkit/olmkit/internal/shell"
	"github.com/olmkit/olmkit/internal/visible"
)

// The exit codes; see "olmkit help exit-codes". exitNegative does not mean that the command
// failed: its answer is complete, and is "no".
const (
	exitOK       = 0
	exitNegative = 1
	exitBadInput = 2
	// exitUnchecked means that the answer is "yes" as far as it could be checked.
	exitUnchecked = 3
	// ExitInterrupted is the exit code of a command that was ended by a signal.
	ExitInterrupted = 130
)

// errNegative is returned by a command that has printed its answer, which is no.
var errNegative = errors.New("the answer is no")

// errUnchecked is returned by a command that has printed its answer, which is yes except
// for what it could not check.
var errUnchecked = errors.New("the answer is incomplete")

// errReported is returned by a command that has already printed the errors in its input.
var errReported = errors.New("bad input was reported")

// Args returns the arguments of a process for Run. If the program is named
// kubectl_complete-olmkit, which kubectl runs to complete "kubectl olmkit", they are those of
// the hidden completion command.
func Args(process []string) []string {
	if len(process) == 0 {
		return nil
	}
	if strings.TrimSuffix(filepath.Base(process[0]), ".exe") == "kubectl_complete-olmkit" {
		return append([]string{cobra.ShellCompRequestCmd}, process[1:]...)
	}
	return process[1:]
}

// Run runs one command line and returns its exit code. It uses only the given streams.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &env{stdin: stdin, args: args}
	out, notes := newScreen(stdout, &e.settings), newScreen(stderr, &e.settings)
	e.stdout, e.stderr = out, notes
	defer func() { out.Flush(); notes.Flush() }()
	root := newRoot(e)
	defer e.images.close()
	root.SetArgs(args)
	guardCompletion(root, args)
	root.SetIn(stdin)
	root.SetOut(stdout) // help and completion
	root.SetErr(e.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	err = e.closeIndexes(err)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNegative):
		return exitNegative
	case errors.Is(err, errUnchecked):
		return exitUnchecked
	case errors.Is(err, errReported):
		return exitBadInput
	case errors.Is(err, syscall.EPIPE):
		return exitBadInput // the reader of the output has ended, as head does
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		fmt.Fprintln(e.stderr, "olmkit: interrupted")
		return ExitInterrupted
	}
	visible.Fprintf(e.stderr, "olmkit: %s\n", errorText(err))
	var usage *usageError
	if errors.As(err, &usage) {
		visible.Fprintf(e.stderr, "Run %q for usage.\n", cmd.CommandPath()+" --help")
	}
	if name := exceededLimit(err); name != "" {
		visible.Fprintf(e.stderr, "Raise the limit with --limit %s=NUMBER.\n", name)
	}
	return exitBadInput
}

// Command returns the tree of commands, for generating documents from their help texts. Use
// Run to run them.
func Command() *cobra.Command {
	return newRoot(&env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
}

// An env holds the streams and settings of a command.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	args           []string
	lazy           []lazyIndex
	settings
}

// commandLine returns the command line, to paste into a shell.
func (e *env) commandLine() string {
	line := "olmkit"
	for _, arg := range e.args {
		line += " "
		if word := strings.TrimLeft(arg, "-"); word != "" { // dashes need no quotes
			line += strings.TrimSuffix(arg, word) + shell.Quote(word)
		} else {
			line += shell.Quote(arg)
		}
	}
	return line
}

// A usageError reports an invalid command line, as opposed to invalid input.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// flagError returns the error for an invalid flag, with a suggestion.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 && cmd.Args != nil {
		// Report an unknown subcommand rather than its flags.
		if unknown := cmd.Args(cmd, args); unknown != nil {
			return unknown
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usagef("--%s %q: %v", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) == 1 {
		return &usageError{err.Error()}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	text := err.Error()
	if names := nearest(unknown.GetSpecifiedName(), known); len(names) > 0 {
		text += "; did you mean --" + strings.Join(names, ", --") + "?"
	}
	return &usageError{text}
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "olmkit",
		Short: "Resolve operators as Operator Lifecycle Manager does, without a cluster",
		Long: `olmkit reads file-based catalogs and shows what Operator Lifecycle Manager would
install or upgrade, in which order of preference, and why or why not.`,
		Example: `  olmkit resolve --sample --package grafana --package etcd:stable --installed etcd=0.9.0
  olmkit list packages ./catalog
  olmkit validate ./catalog`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q%s", args[0], hint(args[0], subcommands(cmd)))
			}
			return nil
		},
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	e.addFlags(root)
	for i, g := range e.commands() {
		id := strconv.Itoa(i)
		root.AddGroup(&cobra.Group{ID: id, Title: g.question})
		for _, cmd := range g.commands {
			cmd.GroupID = id
			e.timed(cmd)
			root.AddCommand(cmd)
		}
	}
	last := root.Groups()[len(root.Groups())-1].ID
	root.SetCompletionCommandGroupID(last)
	root.AddCommand(topics()...)
	root.SetHelpCommand(newHelp(last))
	// Change cobra's usage text: wrap it to the width of the terminal, and show topics as
	// users type them.
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", textWidth(e.stdout)),
		"Additional help topics:", "Topics, for \"olmkit help TOPIC\":",
		"{{rpad .CommandPath .CommandPathPadding}}", "{{rpad .Name .NamePadding}}",
	).Replace(root.UsageTemplate()))
	return root
}

// guardCompletion adds cobra's completion command, and makes it return an error for an
// unknown shell instead of printing help.
func guardCompletion(root *cobra.Command, args []string) {
	root.InitDefaultCompletionCmd(args...)
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			if known := subcommands(cmd); len(args) > 0 {
				return usagef("no shell %q%s; write one of %s", args[0], hint(args[0], known), strings.Join(known, ", "))
			}
			return nil
		}
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

// A group is a group of commands, with a question as its title.
type group struct {
	question string
	commands []*cobra.Command
}

// commands returns all commands, in the order of the overview.
func (e *env) commands() []group {
	return []group{
		{"What would a namespace get, and why?", []*cobra.Command{
			newResolve(e), newExplain(e), newSelect(e), newReplay(e), newShrink(e),
		}},
		{"What is in a catalog?", []*cobra.Command{
			newList(e), newGraph(e), newPath(e), newView(e),
		}},
		{"Is a catalog fit for its users?", []*cobra.Command{
			newValidate(e), newDiff(e), newReport(e),
		}},
		{"What would a cluster do?", []*cobra.Command{
			newStatus(e), newSnapshot(e), newPlan(e), newSimulate(e), newPlatform(e), newEligible(e), newManifests(e), newPermissions(e), newImpact(e), newCRDSafety(e),
		}},
		{"How is a catalog made, cut and kept?", []*cobra.Command{
			newRender(e), newFmt(e), newMerge(e), newExtract(e), newSubset(e), newIndex(e),
		}},
		{"What about olmkit itself?", []*cobra.Command{newCache(e), newVersion(e)}},
	}
}

// subcommands returns the names of the commands below one.
func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
