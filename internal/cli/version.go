package cli

import (
	"cmp"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
)

// outputVersion numbers the shape of the output for machines. It grows when a
// field changes its meaning or goes away, not when one is added.
const outputVersion = 1

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitzero"`
	Go       string `json:"go"`
	Output   int    `json:"output"`
}

func (v versionInfo) text(w io.Writer) error {
	text := "olmkit " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			text += ", modified"
		}
		text += ")"
	}
	_, err := visible.Fprintf(w, "%s, built with %s\n", text, v.Go)
	return err
}

// buildVersion tells what the binary was built from, as the go command recorded.
func buildVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Output: outputVersion}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func newVersion(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print which version this is and what it was built from",
		Long: `Version prints the version of olmkit, the revision that it was built from, and
the version of Go. As json or yaml it also tells "output", the version of the
output for programs, which grows when a field changes its meaning or goes away.`,
		Example: `  olmkit version
  olmkit version -o json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := addFormat(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		p := printer{w: e.stdout, format: *f}
		return p.print(buildVersion())
	}
	return cmd
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, and got %q", cmd.Name(), args[0])
	}
	return nil
}
