package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/buildversion"
	"github.com/olmkit/olmkit/internal/visible"
)

// outputVersion is the version of the JSON output. It is incremented when a
// field changes its meaning or is removed, not when one is added.
const outputVersion = 1

type versionInfo struct {
	buildversion.Info
	Output int `json:"output"`
}

func (v versionInfo) text(w io.Writer) error {
	_, err := visible.Fprintf(w, "%s\n", v.Line("olmkit"))
	return err
}

func newVersion(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of olmkit",
		Long: `Version prints the version of olmkit, its revision, and the version of Go. With -o
json or yaml, it also prints "output", the version of the output for programs, which
grows when a field changes its meaning or is removed.`,
		Example: `  olmkit version
  olmkit version -o json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := addFormat(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		p := printer{w: e.stdout, format: *f}
		return p.print(versionInfo{buildversion.Read(), outputVersion})
	}
	return cmd
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments; got %q", cmd.Name(), args[0])
	}
	return nil
}
