package draw

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
)

// The colors of all formats.
const (
	colorInk        = "#334155"
	colorSkips      = "#b45309"
	colorRange      = "#2563eb"
	colorPath       = "#16a34a"
	colorHead       = "#0f766e"
	colorInstalled  = "#7c3aed"
	colorDeprecated = "#b91c1c"
	colorFaint      = "#64748b"
	fillInstalled   = "#ede9fe"
	fillDeprecated  = "#fee2e2"
	fillSkipped     = "#e2e8f0"
)

// The measures of an SVG drawing, in pixels.
const (
	rowHeight  = 24
	laneWidth  = 9
	margin     = 24
	titleSpace = 34
	radius     = 6
	labelGap   = 14
	charWidth  = 7.3 // of the 12 pixel monospace font of labels
	panelGap   = 48
	legendRow  = 22
	noteWidth  = 76 // characters of a line of notes
	maxRanges  = 8  // of one panel; the others are not drawn, but their text is shown
)

// SVG returns the drawing as an SVG image without external references.
func (d *Drawing) SVG() string {
	var body strings.Builder
	x, height := float64(margin), 0.0
	for i := range d.panels {
		p := &d.panels[i]
		w, h := p.svg(&body, x, margin+titleSpace)
		x += w + panelGap
		height = max(height, h)
	}
	if len(d.panels) > 0 {
		x -= panelGap
	}
	height += margin + titleSpace
	legend := d.legend(height + 8)
	width := max(x+margin, 660)
	height += 8 + legendRow + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="12">`+"\n", width, height, width, height)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="17" font-weight="bold" fill="%s">%s</text>`+"\n", margin, margin+6, colorInk, xmlText("package "+d.title))
	b.WriteString(body.String())
	b.WriteString(legend)
	b.WriteString("</svg>\n")
	return b.String()
}

// wrap breaks a text into lines of at most n characters where it has spaces.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// A wire is a line next to the rows: an edge, or several edges that lead to the same row.
type wire struct {
	to    int
	from  []int
	style string
	lane  int
}

func (w *wire) span() (top, bottom int) {
	top, bottom = w.to, w.to
	for _, f := range w.from {
		top, bottom = min(top, f), max(bottom, f)
	}
	return top, bottom
}

// wires returns the lines that run next to the rows, and the number of lanes. A lane is the
// column of a line; lanes are numbered from the rows outwards. Edges between adjacent rows
// are drawn straight and are not included.
func (p *panel) wires() (list []wire, lanes int) {
	var path []wire
	for _, e := range p.path {
		path = append(path, wire{to: e.to, from: []int{e.from}, style: "path"})
	}
	skips := map[int]*wire{}
	for _, e := range p.edges {
		switch {
		case e.from == e.to:
		case e.kind == graph.Skips:
			if skips[e.to] == nil {
				skips[e.to] = &wire{to: e.to, style: "skips"}
			}
			skips[e.to].from = append(skips[e.to].from, e.from)
		case e.from != e.to+1:
			list = append(list, wire{to: e.to, from: []int{e.from}, style: "replaces"})
		}
	}
	for i := range p.rows {
		if w := skips[i]; w != nil {
			list = append(list, *w)
		}
	}
	named := len(list)
	for _, c := range p.ranges {
		if len(c.rows) > 0 {
			list = append(list, wire{to: c.to, from: c.rows, style: "range"})
		}
	}
	lanes = assign(path, 0)
	// If there are too many ranges, draw only those of the topmost entries. The
	// text of all ranges is next to their rows.
	if n := assign(list[named:], 0); n > maxRanges {
		list = list[:named+maxRanges]
	}
	lanes = assign(list, lanes)
	return append(list, path...), lanes
}

// assign assigns each wire the innermost free lane, short wires first, and
// returns the number of lanes.
func assign(list []wire, first int) int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		t1, b1 := list[i].span()
		t2, b2 := list[j].span()
		return (b1 - t1) - (b2 - t2)
	})
	var used [][][2]int
	for _, i := range order {
		top, bottom := list[i].span()
		lane := 0
		for ; lane < len(used); lane++ {
			if !slices.ContainsFunc(used[lane], func(s [2]int) bool { return top < s[1] && s[0] < bottom }) {
				break
			}
		}
		if lane == len(used) {
			used = append(used, nil)
		}
		used[lane] = append(used[lane], [2]int{top, bottom})
		list[i].lane = first + lane
	}
	return first + len(used)
}

// svg draws a panel at a place and returns its width and height.
func (p *panel) svg(b *strings.Builder, x, y float64) (width, height float64) {
	title := "channel " + p.name
	line := y
	write := func(text, weight, color string) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-weight="%s" fill="%s">%s</text>`+"\n", x, line, weight, color, xmlText(text))
		width = max(width, float64(utf8.RuneCountInString(text))*charWidth)
		line += 16
	}
	write(title, "bold", colorInk)
	for _, note := range p.notes {
		color := colorFaint
		if note.fault {
			color = colorDeprecated
		}
		for _, text := range wrap(note.text, noteWidth) {
			write(text, "normal", color)
		}
	}
	top := line + 8
	wires, lanes := p.wires()
	column := x + float64(lanes)*laneWidth + 16
	at := func(row int) float64 { return top + float64(row)*rowHeight }
	for _, e := range p.edges {
		if e.kind == graph.Replaces && e.from == e.to+1 {
			fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1f" stroke="%s" stroke-width="1.5" fill="none"/>`+"\n", column, at(e.from)-radius, at(e.to)+radius, colorInk)
			arrow(b, column, at(e.to)+radius, true, colorInk)
		}
	}
	for _, w := range wires {
		w.svg(b, column, column-16-float64(w.lane)*laneWidth, at)
	}
	for i := range p.rows {
		width = max(width, column-x+p.rows[i].svg(b, column, at(i)))
	}
	return width, top - y + float64(len(p.rows))*rowHeight
}

// svg draws a wire whose lane is at x, from the rows in from to the row that it leads to.
func (w *wire) svg(b *strings.Builder, column, x float64, at func(int) float64) {
	color, attr := colorInk, `stroke-width="1.5"`
	switch w.style {
	case "skips":
		color, attr = colorSkips, `stroke-width="1.5" stroke-dasharray="5 3"`
	case "range":
		color, attr = colorRange, `stroke-width="1.2" stroke-dasharray="1.5 2.5"`
	case "path":
		color, attr = colorPath, `stroke-width="3.5"`
	}
	top, bottom := w.span()
	fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1fM%.1f %.1fV%.1f`, column-radius-4, at(w.to), x, x, at(top), at(bottom))
	for _, f := range w.from {
		end := column - radius
		if w.style == "range" && len(w.from) > 1 {
			end = x + 4 // a tick shows that the row is covered
		}
		fmt.Fprintf(b, "M%.1f %.1fH%.1f", x, at(f), end)
	}
	fmt.Fprintf(b, `" stroke="%s" %s fill="none"/>`+"\n", color, attr)
	arrow(b, column-radius, at(w.to), false, color)
}

// arrow draws the head of an arrow that points up or to the right.
func arrow(b *strings.Builder, x, y float64, up bool, color string) {
	if up {
		fmt.Fprintf(b, `<path d="M%.1f %.1fl-3.5 6h7z" fill="%s"/>`+"\n", x, y, color)
		return
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1fl-6 -3.5v7z" fill="%s"/>`+"\n", x, y, color)
}

// svg draws a row and returns how far it reaches to the right of its column.
func (r *row) svg(b *strings.Builder, x, y float64) float64 {
	fill, stroke, extra := "#fff", colorInk, ""
	switch {
	case r.deprecated:
		fill, stroke = fillDeprecated, colorDeprecated
	case r.head:
		fill, stroke = colorHead, colorHead
	case r.skipped:
		fill, stroke = fillSkipped, colorFaint
	}
	if r.virtual {
		extra = ` stroke-dasharray="2 2"`
	}
	if r.onPath {
		stroke = colorPath
	}
	fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="%s" stroke="%s" stroke-width="2"%s/>`+"\n", x, y, radius, fill, stroke, extra)
	if r.installed {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="none" stroke="%s" stroke-width="2.5"/>`+"\n", x, y, radius+4, colorInstalled)
	}
	color, weight, style := colorInk, "normal", ""
	switch {
	case r.deprecated:
		color = colorDeprecated
	case r.skipped, r.virtual:
		color = colorFaint
	}
	if r.head || r.installed || r.onPath {
		weight = "bold"
	}
	if r.virtual {
		style = ` font-style="italic"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" font-weight="%s"%s>%s`, x+labelGap, y+4, color, weight, style, xmlText(r.label))
	n := utf8.RuneCountInString(r.label)
	for _, m := range r.marks {
		fmt.Fprintf(b, `<tspan dx="10" fill="%s" font-weight="normal" font-size="11">%s</tspan>`, m.kind.color(), xmlText(m.text))
		n += 2 + utf8.RuneCountInString(m.text)
	}
	b.WriteString("</text>\n")
	return labelGap + float64(n)*charWidth
}

func (k markKind) color() string {
	switch k {
	case markHead:
		return colorHead
	case markInstalled:
		return colorInstalled
	case markDeprecated:
		return colorDeprecated
	case markSkipped:
		return colorSkips
	case markRange:
		return colorRange
	}
	return colorFaint
}

// legend explains the kinds of lines in the drawing.
func (d *Drawing) legend(y float64) string {
	var b strings.Builder
	x := float64(margin)
	item := func(text, color, attr string) {
		fmt.Fprintf(&b, `<path d="M%.1f %.1fh28" stroke="%s" %s fill="none"/>`, x, y, color, attr)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="%s" font-size="11">%s</text>`+"\n", x+34, y+4, colorFaint, xmlText(text))
		x += 34 + float64(len(text))*6.7 + 22
	}
	item("replaces", colorInk, `stroke-width="1.5"`)
	item("skips", colorSkips, `stroke-width="1.5" stroke-dasharray="5 3"`)
	item("skipRange", colorRange, `stroke-width="1.2" stroke-dasharray="1.5 2.5"`)
	if slices.ContainsFunc(d.panels, func(p panel) bool { return len(p.path) > 0 }) {
		item("path", colorPath, `stroke-width="3.5"`)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="%s" font-size="11">arrows point to the newer</text>`+"\n", x, y+4, colorFaint)
	return b.String()
}

// xmlText escapes a text for XML.
func xmlText(s string) string {
	var b strings.Builder
	// Writing to a strings.Builder never fails.
	_ = xml.EscapeText(&b, []byte(visible.Line(s)))
	return b.String()
}
