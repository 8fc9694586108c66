package prose

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver/fact"
)

// Markdown returns the messages and reasons of a step, on request with places, as a paragraph
// and a nested list.
func Markdown(s *fact.Step, places bool) string {
	var b strings.Builder
	s = s.Shown()
	if about := aboutMarkdown(s, places); about != "" {
		b.WriteString(about + "\n\n")
	}
	markdownReasons(&b, s, "", places, shown{})
	return b.String()
}

func markdownReasons(b *strings.Builder, s *fact.Step, indent string, places bool, seen shown) {
	for i, c := range s.Because {
		if i == maxReasons {
			fmt.Fprintf(b, "%s- %s\n", indent, more(s))
			return
		}
		text := Escape(c.Shown().Text)
		if seen.before(c) {
			fmt.Fprintf(b, "%s- %s (see above)\n", indent, text)
			continue
		}
		fmt.Fprintf(b, "%s- %s", indent, text)
		if about := aboutMarkdown(c.Shown(), places); about != "" {
			b.WriteString(" — " + about)
		}
		b.WriteByte('\n')
		markdownReasons(b, c.Shown(), indent+"  ", places, seen)
	}
}

// aboutMarkdown returns the position in the catalog, on request, and the authors' messages.
func aboutMarkdown(s *fact.Step, places bool) string {
	var parts []string
	if at := placed(s.Places); at != "" && places {
		parts = append(parts, "*"+Escape(at)+"*")
	}
	for _, m := range s.Messages {
		parts = append(parts, "author's message: “"+Escape(m)+"”")
	}
	return strings.Join(parts, "; ")
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`,
)

// Escape escapes text for Markdown.
func Escape(s string) string { return markdownEscapes.Replace(visible.Words(s)) }
