package main

import "strings"

// escape turns a help text into the Markdown that the generator of man pages
// reads. A help text is plain: what is indented is a table or an example and keeps
// its lines, and no sign has a meaning.
func escape(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") { // the texts of cobra
			b.WriteString("    " + strings.TrimPrefix(line, "\t"))
			continue
		}
		if strings.HasPrefix(line, "  ") {
			b.WriteString("  " + line) // four spaces: kept as it is
			continue
		}
		b.WriteString(special.Replace(line))
	}
	return b.String()
}

var special = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "`", "\\`", "[", `\[`, "#", `\#`)
