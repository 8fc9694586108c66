package yamlout

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Style is the style of strings in AppendYAML.
type Style int

const (
	// Readable uses plain scalars and literal blocks where possible.
	Readable Style = iota
	// Quoted writes all strings in double quotes, which cannot be misread.
	Quoted
)

// AppendYAML appends the tree as a YAML document without a separator line.
func (n *Node) AppendYAML(b []byte, style Style) []byte {
	w := writer{b, style}
	w.node(n, 0, false)
	return w.b
}

type writer struct {
	b     []byte
	style Style
}

// node writes a value and ends the line. The value follows a colon or dash
// (inline) or begins a line. New lines are indented by indent.
func (w *writer) node(n *Node, indent int, inline bool) {
	switch {
	case n.Kind == '{' && len(n.Members) > 0:
		for i, m := range n.Members {
			if i > 0 || !inline {
				w.indent(indent)
			}
			w.scalar(String(m.Key), 0, true)
			w.b = append(w.b, ':')
			w.below(m.Value, indent)
		}
	case n.Kind == '[' && len(n.Elems) > 0:
		for i, e := range n.Elems {
			if i > 0 || !inline {
				w.indent(indent)
			}
			w.b = append(w.b, '-')
			if e.empty() {
				w.below(e, indent)
				continue
			}
			w.b = append(w.b, ' ')
			w.node(e, indent+2, true)
		}
	default:
		w.scalar(n, indent, false)
		w.b = append(w.b, '\n')
	}
}

// empty reports whether the node is written on the line of its key, because it
// is a scalar or an empty collection.
func (n *Node) empty() bool {
	return (n.Kind != '{' || len(n.Members) == 0) && (n.Kind != '[' || len(n.Elems) == 0)
}

// below writes the value of a key. indent is the indent of the key's line.
func (w *writer) below(n *Node, indent int) {
	switch {
	case n.empty():
		w.b = append(w.b, ' ')
		w.scalar(n, indent+2, false)
		if w.b[len(w.b)-1] != '\n' {
			w.b = append(w.b, '\n')
		}
	case n.Kind == '[':
		w.b = append(w.b, '\n')
		w.node(n, indent, false)
	default:
		w.b = append(w.b, '\n')
		w.node(n, indent+2, false)
	}
}

func (w *writer) indent(n int) {
	for range n {
		w.b = append(w.b, ' ')
	}
}

// scalar writes a scalar or an empty collection.
func (w *writer) scalar(n *Node, indent int, key bool) {
	switch n.Kind {
	case '{':
		w.b = append(w.b, "{}"...)
	case '[':
		w.b = append(w.b, "[]"...)
	case '"':
		switch {
		case n.Raw != "":
			w.b = append(w.b, n.Raw...)
		case w.style == Readable && plain(n.Text):
			w.b = append(w.b, n.Text...)
		case w.style == Readable && !key && indent > 0 && literal(n.Text):
			w.block(n.Text, indent)
		default:
			w.quoted(n.Text)
		}
	default:
		w.b = append(w.b, n.literal()...)
	}
}

// block writes a literal block, including its last line break.
func (w *writer) block(s string, indent int) {
	body := strings.TrimRight(s, "\n")
	switch n := len(s) - len(body); n {
	case 0:
		w.b = append(w.b, "|-\n"...)
	case 1:
		w.b = append(w.b, "|\n"...)
	default:
		w.b = append(w.b, "|+\n"...)
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.indent(indent)
			w.b = append(w.b, line...)
		}
		w.b = append(w.b, '\n')
	}
	for range len(s) - len(body) - 1 {
		w.b = append(w.b, '\n')
	}
}

// literal reports whether a text of several lines can be a literal block.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || strings.Trim(s, "\n") == "" {
		return false
	}
	for _, r := range s {
		if (r < ' ' || r >= 0x7f) && r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" && strings.Trim(line, " \t") == "" {
			return false // indistinguishable from an empty line
		}
	}
	return true
}

// printable reports whether a character may occur unescaped anywhere in YAML
// 1.1 and is not a line break to any parser.
func printable(r rune) bool {
	switch {
	case r < ' ', r == 0x7f, 0x80 <= r && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == utf8.RuneError:
		return false
	case 0xd800 <= r && r < 0xe000, r >= 0xfffe && r <= 0xffff:
		return false
	}
	return true
}

// quoted writes a text in double quotes.
func (w *writer) quoted(s string) {
	w.b = append(w.b, '"')
	if simple(s) {
		w.b = append(append(w.b, s...), '"')
		return
	}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b = append(w.b, '\\', byte(r))
		case r == '\n':
			w.b = append(w.b, `\n`...)
		case r == '\t':
			w.b = append(w.b, `\t`...)
		case r == '\r':
			w.b = append(w.b, `\r`...)
		case r == utf8.RuneError || printable(r):
			w.b = utf8.AppendRune(w.b, r)
		default:
			w.b = fmt.Appendf(w.b, `\u%04x`, r)
		}
	}
	w.b = append(w.b, '"')
}

// simple reports whether a text needs no escapes.
func simple(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// plain reports whether a text needs no quotes: it begins with a letter, or is
// a path or a version such as 1.2.3, contains no special characters, and is not
// a word that YAML 1.1 reads as a boolean or null.
func plain(s string) bool {
	if s == "" || len(s) > 200 || s[len(s)-1] == ':' || s[len(s)-1] == ' ' {
		return false
	}
	switch c := s[0]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '/':
	case '0' <= c && c <= '9':
		if !version(s) {
			return false
		}
	default:
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("_./@+-=<>()*;'$&~^", c) >= 0:
		case c == ':' && s[i+1] != ' ':
		case c == ' ' && s[i+1] != '#' && s[i+1] != ' ':
		case c == ',' || c == '#' && s[i-1] != ' ':
		default:
			return false
		}
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return false
	}
	return true
}

// version reports whether a text that begins with a digit has at least three
// numbers separated by dots, so that it is neither a number nor a date.
func version(s string) bool {
	parts := strings.SplitN(s, ".", 4)
	if len(parts) < 3 || strings.ContainsAny(s, ":_ ") {
		return false
	}
	for _, p := range parts[:2] {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return parts[2] != "" && '0' <= parts[2][0] && parts[2][0] <= '9'
}
