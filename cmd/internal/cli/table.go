package cli

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
)

// A table prints rows of text under a header, in columns as wide as needed.
type table struct {
	header []string
	rows   [][]string
}

// columnGap separates two columns.
const columnGap = "  "

// minColumn is the minimum width of a column.
const minColumn = 12

func (t *table) add(cells ...string) {
	for i, c := range cells {
		if c == "" {
			c = "-"
		}
		cells[i] = visible.Words(c)
	}
	t.rows = append(t.rows, cells)
}

// text prints the table. On a narrow terminal, it truncates the widest columns;
// in a file or pipe, it truncates nothing.
func (t *table) text(w io.Writer) error {
	widths := t.widths(tableWidth(w))
	b := bufio.NewWriter(w)
	visible.Fprintf(b, "%s\n", paint(w, bold, line(t.header, widths)))
	for _, row := range t.rows {
		b.WriteString(line(row, widths) + "\n")
	}
	return b.Flush()
}

// widths returns the width of each column for rows of at most limit characters;
// 0 means no limit.
func (t *table) widths(limit int) []int {
	widths := make([]int, len(t.header))
	total := len(columnGap) * (len(widths) - 1)
	for i, h := range t.header {
		widths[i] = utf8.RuneCountInString(h)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		total += widths[i]
	}
	for limit > 0 && total > limit {
		widest := 0
		for i, n := range widths {
			if n > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			break // let the terminal wrap the rows
		}
		widths[widest]--
		total--
	}
	return widths
}

// cut truncates a sentence at its end, and a name in its middle, because names
// of bundles differ at the end.
func cut(s string, width int) string {
	r := []rune(s)
	if strings.Contains(s, " ") {
		return strings.TrimRight(string(r[:width-1]), " ") + "…"
	}
	head := (width - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(width-1-head):])
}

// line lays out one row.
func line(cells []string, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		n := utf8.RuneCountInString(c)
		if n > widths[i] {
			c, n = cut(c, widths[i]), widths[i]
		}
		b.WriteString(c)
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-n) + columnGap)
		}
	}
	return b.String()
}
