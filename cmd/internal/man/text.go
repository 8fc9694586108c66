package main

import "strings"

// escape converts a help text to Markdown for the generator of man pages. A
// help text has no markup: indented lines are tables or examples and stay as
// they are.
func escape(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") { // from texts of cobra
			b.WriteString("    " + strings.TrimPrefix(line, "\t"))
			continue
		}
		if strings.HasPrefix(line, "  ") {
			b.WriteString("  " + line) // indented by four: preformatted
			continue
		}
		b.WriteString(special.Replace(line))
	}
	return b.String()
}

var special = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "`", "\\`", "[", `\[`, "#", `\#`)
