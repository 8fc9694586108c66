// Man writes the man pages of olmkit, one for each command in
// section 1, and one for each help topic in section 7.
//
//	go run . DIR
//
// The same source gives the same pages: their date is SOURCE_DATE_EPOCH or, if it is not set,
// January 1, 1970.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

func main() {
	if err := run(os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH"), os.Getenv("VERSION")); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(2)
	}
}

// run writes the pages to the directory that args names.
func run(args []string, epoch, version string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, a directory; got %d", len(args))
	}
	var seconds int64
	if epoch != "" {
		var err error
		if seconds, err = strconv.ParseInt(epoch, 10, 64); err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH %q is not a number of seconds", epoch)
		}
	}
	date := time.Unix(seconds, 0).UTC()
	if err := os.MkdirAll(args[0], 0o777); err != nil {
		return err
	}
	source := "olmkit"
	if version != "" {
		source += " " + version
	}
	root := cli.Command()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	g := &generator{dir: args[0], date: date.Format("Jan 2006"), source: source}
	return g.tree(root)
}

// A generator writes pages.
type generator struct{ dir, date, source string }

// tree writes the pages of a command and its subcommands.
func (g *generator) tree(cmd *cobra.Command) error {
	if cmd.Hidden {
		return nil
	}
	if err := os.WriteFile(filepath.Join(g.dir, strings.ReplaceAll(page(cmd), "(", ".")[:len(page(cmd))-1]), g.page(cmd), 0o666); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := g.tree(sub); err != nil {
			return err
		}
	}
	return nil
}

// page returns the name and section of a page, such as olmkit-list(1).
func page(cmd *cobra.Command) string {
	section := "(1)"
	if cmd.IsAdditionalHelpTopicCommand() {
		section = "(7)"
	}
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-") + section
}

// page returns the page of a command or help topic. Flags are shown as --help shows
// them, with their placeholders and choices.
func (g *generator) page(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	name, section, _ := strings.Cut(strings.TrimSuffix(page(cmd), ")"), "(")
	var b strings.Builder
	fmt.Fprintf(&b, "%% %q %q %q %q \"olmkit\"\n# NAME\n%s \\- %s\n\n", strings.ToUpper(name), section, g.date, g.source, name, escape(cmd.Short))
	if section == "1" {
		fmt.Fprintf(&b, "# SYNOPSIS\n%s\n", block(cmd.UseLine()))
	}
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	fmt.Fprintf(&b, "# DESCRIPTION\n%s\n\n", escape(long))
	if section == "1" {
		for _, part := range []struct{ title, text string }{
			{"COMMANDS", commands(cmd)},
			{"OPTIONS", cmd.NonInheritedFlags().FlagUsagesWrapped(72)},
			{"OPTIONS OF ALL COMMANDS", cmd.InheritedFlags().FlagUsagesWrapped(72)},
			{"EXAMPLES", cmd.Example},
		} {
			if part.text != "" {
				fmt.Fprintf(&b, "# %s\n%s\n", part.title, block(part.text))
			}
		}
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, page(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			also = append(also, page(c))
		}
	}
	for _, c := range cmd.Root().Commands() {
		if c.IsAdditionalHelpTopicCommand() && c != cmd && cmd.HasParent() {
			also = append(also, page(c))
		}
	}
	fmt.Fprintf(&b, "# SEE ALSO\n**%s**\n", strings.Join(also, "**, **"))
	return md2man.Render([]byte(b.String()))
}

// commands lists the subcommands of a command with their descriptions.
func commands(cmd *cobra.Command) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if !c.Hidden && !c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "%-12s %s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}

// block returns text as a preformatted block.
func block(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString("    " + line)
	}
	return "\n" + b.String()
}
