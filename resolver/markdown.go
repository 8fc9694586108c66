package resolver

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
)

// Markdown returns the report as Markdown: a section for each core, with its steps as a
// nested list and its fixes as a numbered list. Text from catalogs is escaped.
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
		markdownSteps(&b, s, "", map[shownStep]bool{})
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "\n> Note: %s\n", escape(n))
		}
		if len(c.Fixes) == 0 {
			fmt.Fprintf(&b, "\n**Possible fix:** %s\n", escape(c.noFix()))
			continue
		}
		b.WriteString("\n**Possible fixes**\n\n")
		for n, f := range c.Fixes {
			fmt.Fprintf(&b, "%d. %s\n", n+1, escape(f.String()))
		}
	}
	if line := r.plannedLine(); line != "" {
		fmt.Fprintf(&b, "\n%s\n", escape(line))
	}
	return b.String()
}

func markdownSteps(b *strings.Builder, s *Step, indent string, shown map[shownStep]bool) {
	for i, c := range s.Because {
		if i == maxSteps {
			fmt.Fprintf(b, "%s- and %s\n", indent, plural(len(s.Because)-i, "similar reason"))
			return
		}
		text := c.line()
		key := shownStep{text, c.like}
		if len(c.Because) > 0 && shown[key] {
			fmt.Fprintf(b, "%s- %s (see above)\n", indent, escape(text))
			continue
		}
		shown[key] = true
		fmt.Fprintf(b, "%s- %s", indent, escape(text))
		if about := aboutMarkdown(c.folded()); about != "" {
			b.WriteString(" — " + about)
		}
		b.WriteByte('\n')
		markdownSteps(b, c.folded(), indent+"  ", shown)
	}
}

// aboutMarkdown returns the place in the catalog and the authors' messages.
func aboutMarkdown(s *Step) string {
	var parts []string
	if at := s.placed(); at != "" {
		parts = append(parts, "*"+escape(at)+"*")
	}
	for _, m := range s.Messages {
		parts = append(parts, "author's message: “"+escape(m)+"”")
	}
	return strings.Join(parts, "; ")
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`,
)

// escape escapes Markdown.
func escape(s string) string { return markdownEscapes.Replace(visible.Words(s)) }
