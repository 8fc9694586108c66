package report

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/jsonscan"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/property"
)

// maxSource is the size of the largest file that is read again.
const maxSource = 64 << 20

// Locate returns copies of findings with the lines of their fields, which it finds in the
// files of the catalog. The line is 0 for a finding about a whole blob, and if the file or
// the field cannot be found. Locate parses only blobs with findings. When the context
// ends, the remaining lines are 0.
func Locate(ctx context.Context, source fs.FS, found fbc.Diagnostics) fbc.Diagnostics {
	l := locator{ctx: ctx, source: source}
	out := make(fbc.Diagnostics, len(found))
	for i, d := range found {
		located := *d
		located.FieldLine = 0
		if ctx.Err() == nil && d.Path != "" && d.Pos.IsValid() && d.Pos.Line > 0 {
			located.FieldLine = l.field(d)
		}
		out[i] = &located
	}
	return out
}

// A locator finds fields in files. It remembers only the last file and the last blob, because
// findings are in their order.
type locator struct {
	ctx    context.Context // of one call
	source fs.FS
	name   string // of the last file
	text   []byte // of it, from a line on
	line   int    // that line
	// What was made of the last document. The first two are empty for JSON, the last
	// unless the fields are found otherwise.
	json  []byte
	marks []yamljson.Mark
	tree  map[string]int // the lines of all fields
}

// field returns the line of the field of a finding, or 0.
func (l *locator) field(d *fbc.Diagnostic) int {
	if l.advance(d.Pos); len(l.text) == 0 {
		return 0
	}
	if trimmed := bytes.TrimLeft(l.text, " \t\ufeff"); bytes.HasPrefix(trimmed, []byte("{")) {
		if at, _ := find(trimmed, d.Path); at >= 0 {
			return l.lineAt(len(l.text) - len(trimmed) + at)
		}
		return 0
	}
	return l.yaml(d.Path)
}

// advance sets the text and the line to those of a position.
func (l *locator) advance(pos fbc.Pos) {
	if l.name != pos.File || l.line > pos.Line {
		l.name, l.text, l.line, l.tree = pos.File, l.file(pos.File), 1, nil
	}
	for ; l.line < pos.Line && len(l.text) > 0; l.line++ {
		_, l.text, _ = bytes.Cut(l.text, []byte("\n"))
		l.tree = nil
	}
}

// lineAt returns the line of an offset in the text.
func (l *locator) lineAt(offset int) int { return l.line + bytes.Count(l.text[:offset], []byte("\n")) }

// file returns the text of a file, nil when it cannot be read or is too large.
func (l *locator) file(name string) []byte {
	info, err := fs.Stat(l.source, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil
	}
	text, err := fs.ReadFile(l.source, name)
	if err != nil {
		return nil
	}
	return text
}

// find returns the offset of the field that a JSON pointer names in a JSON text, and true. If
// the text lacks the field, find returns the offset of the last field or item on the way to it,
// or -1, and false.
func find(text []byte, path string) (at int, ok bool) {
	at = -1
	value := 0
	for name := range jsontext.Pointer(path).Tokens() {
		next, from, ok := child(text, jsonscan.Space(text, value), name)
		if !ok {
			return at, false
		}
		at, value = next, from
	}
	return at, true
}

// child returns where the member or item with a name begins in the object or list at i, and
// where its value begins.
func child(text []byte, i int, name string) (at, value int, ok bool) {
	if i == len(text) || text[i] != '{' && text[i] != '[' {
		return 0, 0, false
	}
	object := text[i] == '{'
	for index := 0; ; index++ {
		if at = jsonscan.Space(text, i+1); at == len(text) || text[at] == '}' || text[at] == ']' {
			return 0, 0, false
		}
		value = at
		found := !object && strconv.Itoa(index) == name
		if object {
			var key []byte
			if key, value, ok = jsonscan.Member(text, at); !ok {
				return 0, 0, false
			}
			plain, _ := jsontext.AppendUnquote(nil, key)
			found = string(plain) == name
		}
		if found {
			return at, value, true
		}
		if i, ok = jsonscan.Value(text, value, jsonscan.MaxDepth); !ok {
			return 0, 0, false
		}
		if i = jsonscan.Space(text, i); i == len(text) || text[i] != ',' {
			return 0, 0, false
		}
	}
}

// document returns the first YAML document in the text.
func (l *locator) document() []byte {
	if end := bytes.Index(l.text, []byte("\n---")); end >= 0 && !bytes.HasPrefix(l.text, []byte("---")) {
		return l.text[:end+1]
	}
	return l.text
}

// yaml returns the line of a field of the first document in the text, or 0.
func (l *locator) yaml(path string) int {
	doc := l.document()
	// A field that is missing may be in a heavy value.
	for _, heavy := range []func([]byte) bool{func(typ []byte) bool { return property.IsHeavy(string(typ)) }, nil} {
		l.marks = l.marks[:0]
		var ok bool
		if l.json, ok = yamljson.Convert(l.json[:0], doc, &yamljson.Options{SkipValue: heavy, Marks: &l.marks}); !ok {
			break
		}
		if at, ok := find(l.json, path); ok || heavy == nil {
			if at < 0 {
				return 0
			}
			i, marked := slices.BinarySearchFunc(l.marks, at, func(m yamljson.Mark, at int) int { return m.JSON - at })
			if !marked {
				break
			}
			return l.lineAt(l.marks[i].YAML)
		}
	}
	if l.tree == nil {
		l.tree = map[string]int{}
		yamlLines(l.ctx, doc, l.line, l.tree)
	}
	// A missing field does not have a line, but the object that lacks it does.
	for ; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if n := l.tree[path]; n > 0 {
			return n
		}
	}
	return 0
}

// yamlLines records the lines of the fields of a document, which begins on a line.
func yamlLines(ctx context.Context, text []byte, line int, fields map[string]int) {
	doc, err := yamljson.Tree(ctx, text)
	if err != nil || len(doc.Content) == 0 {
		return
	}
	note(doc.Content[0], "", line-1, fields)
}

// note records the lines of the fields of a node. It does not follow aliases, whose
// values are elsewhere.
func note(n *yamlv3.Node, path jsontext.Pointer, before int, fields map[string]int) {
	switch n.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := path.AppendToken(n.Content[i].Value)
			fields[string(at)] = before + n.Content[i].Line
			note(n.Content[i+1], at, before, fields)
		}
	case yamlv3.SequenceNode:
		for i, item := range n.Content {
			at := path.AppendToken(strconv.Itoa(i))
			fields[string(at)] = before + item.Line
			note(item, at, before, fields)
		}
	}
}
