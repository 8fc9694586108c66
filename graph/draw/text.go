package draw

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
)

// Mermaid returns the drawing as a Mermaid flowchart. Upgrades point upwards. A
// skipRange is a separate box that points to its entry.
func (d *Drawing) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart BT\n")
	links := 0
	var path []string
	for i, p := range d.panels {
		fmt.Fprintf(&b, "  subgraph c%d[%s]\n", i, mermaidText(p.title()))
		for j, r := range p.rows {
			open, shut := "[", "]"
			if r.virtual {
				open, shut = "([", "])"
			}
			fmt.Fprintf(&b, "    n%d_%d%s%s%s%s\n", i, j, open, mermaidText(r.lines()...), shut, class(&r))
		}
		for k, c := range p.ranges {
			fmt.Fprintf(&b, "    r%d_%d{{%s}}:::range\n", i, k, mermaidText(c.text))
		}
		b.WriteString("  end\n")
		onPath := map[edge]bool{}
		for _, e := range p.path {
			onPath[e] = true
		}
		link := func(e edge, arrow string) {
			fmt.Fprintf(&b, "  n%d_%d %s|%s| n%d_%d\n", i, e.from, arrow, e.kind, i, e.to)
			if onPath[e] {
				path = append(path, fmt.Sprint(links))
				delete(onPath, e)
			}
			links++
		}
		for _, e := range p.edges {
			arrow := "-->"
			if e.kind == graph.Skips {
				arrow = "-.->"
			}
			link(e, arrow)
		}
		for k, c := range p.ranges {
			fmt.Fprintf(&b, "  r%d_%d -.-> n%d_%d\n", i, k, i, c.to)
			links++
		}
		for _, e := range p.path {
			if onPath[e] {
				link(e, "==>")
			}
		}
	}
	if len(path) > 0 {
		fmt.Fprintf(&b, "  linkStyle %s stroke:%s,stroke-width:4px\n", strings.Join(path, ","), colorPath)
	}
	fmt.Fprintf(&b, "  classDef head fill:%s,color:#fff\n", colorHead)
	fmt.Fprintf(&b, "  classDef installed fill:%s,stroke:%s,stroke-width:3px\n", fillInstalled, colorInstalled)
	fmt.Fprintf(&b, "  classDef deprecated fill:%s,stroke:%s\n", fillDeprecated, colorDeprecated)
	fmt.Fprintf(&b, "  classDef skipped fill:%s,stroke-dasharray:4\n", fillSkipped)
	b.WriteString("  classDef virtual fill:#fff,stroke-dasharray:2\n")
	fmt.Fprintf(&b, "  classDef range fill:#fff,stroke:%s\n", colorRange)
	return b.String()
}

// class returns the most specific Mermaid class of a row.
func class(r *row) string {
	switch {
	case r.installed:
		return ":::installed"
	case r.deprecated:
		return ":::deprecated"
	case r.head:
		return ":::head"
	case r.skipped:
		return ":::skipped"
	case r.virtual:
		return ":::virtual"
	}
	return ""
}

// mermaidText quotes lines for Mermaid, which knows entities, HTML breaks and \n.
func mermaidText(lines ...string) string {
	parts := make([]string, len(lines))
	for i, p := range lines {
		parts[i] = strings.NewReplacer("#", "#35;", "&", "#38;", "\"", "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;").Replace(visible.Line(p))
	}
	return `"` + strings.Join(parts, "<br/>") + `"`
}

// title returns the name of a channel and its notes.
func (p *panel) title() string {
	s := "channel " + p.name
	for _, n := range p.notes {
		s += "; " + n.text
	}
	return s
}

// lines returns the label of a row and its marks, without the range, which the text
// formats draw as a box.
func (r *row) lines() []string {
	list := []string{r.label}
	for _, m := range r.marks {
		if m.kind != markRange {
			list = append(list, m.text)
		}
	}
	return list
}

// DOT returns the drawing in the language of Graphviz. Upgrades point upwards. A
// skipRange is a separate box that points to its entry.
func (d *Drawing) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=BT;\n  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n", dotText(d.title))
	b.WriteString("  edge [fontname=\"sans-serif\", fontsize=9];\n")
	for i, p := range d.panels {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotText(p.title()))
		for j, r := range p.rows {
			fmt.Fprintf(&b, "    n%d_%d [label=%s%s];\n", i, j, dotText(r.lines()...), dotStyle(&r))
		}
		for k, c := range p.ranges {
			fmt.Fprintf(&b, "    r%d_%d [label=%s, shape=note, style=solid, color=%q];\n", i, k, dotText(c.text), colorRange)
			fmt.Fprintf(&b, "    r%d_%d -> n%d_%d [style=dotted, color=%q];\n", i, k, i, c.to, colorRange)
		}
		onPath := map[edge]bool{}
		for _, e := range p.path {
			onPath[e] = true
		}
		link := func(e edge, style string) {
			if onPath[e] {
				style += fmt.Sprintf(", color=%q, penwidth=3", colorPath)
				delete(onPath, e)
			}
			fmt.Fprintf(&b, "    n%d_%d -> n%d_%d [label=%q%s];\n", i, e.from, i, e.to, e.kind, style)
		}
		for _, e := range p.edges {
			if e.kind == graph.Skips {
				link(e, ", style=dashed")
			} else {
				link(e, "")
			}
		}
		for _, e := range p.path {
			if onPath[e] {
				link(e, "")
			}
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

func dotStyle(r *row) string {
	s := ""
	switch {
	case r.installed:
		s = fmt.Sprintf(", fillcolor=%q, color=%q, penwidth=3", fillInstalled, colorInstalled)
	case r.deprecated:
		s = fmt.Sprintf(", fillcolor=%q, color=%q", fillDeprecated, colorDeprecated)
	case r.head:
		s = fmt.Sprintf(", fillcolor=%q, fontcolor=white", colorHead)
	case r.skipped:
		s = fmt.Sprintf(", fillcolor=%q", fillSkipped)
	}
	if r.virtual {
		s += ", style=\"rounded,dashed\""
	}
	return s
}

// dotText quotes lines for DOT.
func dotText(lines ...string) string {
	parts := make([]string, len(lines))
	for i, line := range lines {
		parts[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(visible.Line(line))
	}
	return `"` + strings.Join(parts, `\n`) + `"`
}
