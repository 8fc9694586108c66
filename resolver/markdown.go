package resolver

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
)

// Markdown tells the report as Markdown: a section for each core, its steps as
// a nested list, the fixes as a numbered one. Text from catalogs is escaped.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# No solution in namespace %s\n", escape(r.Namespace))
	for i := range r.Cores {
		c := &r.Cores[i]
		fmt.Fprintf(&b, "\n## %s\n\n", escape(c.Headline))
		s := c.Conclusion.folded()
		if about := aboutMarkdown(s); about != "" {
			b.WriteString(about + "\n\n")
		}
		markdownSteps(&b, s, "", map[toldStep]bool{})
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "\n> Note: %s\n", escape(n))
		}
		if len(c.Fixes) == 0 {
			fmt.Fprintf(&b, "\n**What would help:** %s\n", escape(c.noFix()))
			continue
		}
		b.WriteString("\n**What would help**\n\n")
		for n, f := range c.Fixes {
			fmt.Fprintf(&b, "%d. %s\n", n+1, escape(f.String()))
		}
	}
	if line := r.plannedLine(); line != "" {
		fmt.Fprintf(&b, "\n%s\n", escape(line))
	}
	return b.String()
}

func markdownSteps(b *strings.Builder, s *Step, indent string, told map[toldStep]bool) {
	for i, c := range s.Because {
		if i == maxSteps {
			fmt.Fprintf(b, "%s- and %s of this kind\n", indent, plural(len(s.Because)-i, "more reason"))
			return
		}
		text := c.line()
		key := toldStep{text, c.like}
		if len(c.Because) > 0 && told[key] {
			fmt.Fprintf(b, "%s- %s (as said above)\n", indent, escape(text))
			continue
		}
		told[key] = true
		fmt.Fprintf(b, "%s- %s", indent, escape(text))
		if about := aboutMarkdown(c.folded()); about != "" {
			b.WriteString(" — " + about)
		}
		b.WriteByte('\n')
		markdownSteps(b, c.folded(), indent+"  ", told)
	}
}

// aboutMarkdown returns where the catalog says so and the author's words.
func aboutMarkdown(s *Step) string {
	var parts []string
	if at := s.placed(); at != "" {
		parts = append(parts, "*"+escape(at)+"*")
	}
	for _, m := range s.Messages {
		parts = append(parts, "the author says: “"+escape(m)+"”")
	}
	return strings.Join(parts, "; ")
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`,
)

// escape keeps text from being read as Markdown.
func escape(s string) string { return markdownEscapes.Replace(visible.Words(s)) }
