package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// markdown turns the help texts of a command and of those below it into the
// Markdown that the generator of man pages reads. A help text is plain: what is
// indented is a table or an example and keeps its lines, and no sign has a
// meaning.
func markdown(cmd *cobra.Command) {
	cmd.Long = escape(cmd.Long)
	cmd.DisableAutoGenTag = true // the date of the page says enough
	for _, sub := range cmd.Commands() {
		markdown(sub)
	}
}

func escape(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			b.WriteString("  " + line) // four spaces: kept as it is
			continue
		}
		b.WriteString(special.Replace(line))
	}
	return b.String()
}

var special = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "`", "\\`", "[", `\[`, "#", `\#`)
