// Man writes the man pages of olmkit, one for each command in
// section 1, and one for each help topic in section 7.
//
//	go run . DIR
//
// The same source gives the same pages: they are dated with SOURCE_DATE_EPOCH, or
// with the day 0 of Unix.
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
	"github.com/spf13/cobra/doc"

	"github.com/olmkit/olmkit/internal/cli"
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
		return fmt.Errorf("want one argument, a directory, and got %d", len(args))
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
	markdown(root)
	for _, cmd := range root.Commands() {
		if !cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		name := "olmkit-" + cmd.Name()
		if err := os.WriteFile(filepath.Join(args[0], name+".7"), topic(cmd, name, date.Format("Jan 2006"), source), 0o666); err != nil {
			return err
		}
	}
	return doc.GenManTree(root, &doc.GenManHeader{
		Section: "1",
		Date:    &date,
		Source:  source,
		Manual:  "olmkit",
	}, args[0])
}

// topic returns the page of a help topic, which has nothing to be run.
func topic(cmd *cobra.Command, name, date, source string) []byte {
	return md2man.Render(fmt.Appendf(nil, `%% %q "7" %q %q "olmkit"
# NAME
%s \- %s

# DESCRIPTION
%s

# SEE ALSO
**olmkit(1)**
`, strings.ToUpper(name), date, source, name, cmd.Short, cmd.Long))
}
