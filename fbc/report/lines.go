package report

import (
	"bytes"
	"context"
	"io/fs"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/yamljson"
)

// maxSource is the size of the largest file that is read again.
const maxSource = 64 << 20

// Locate returns copies of findings with the lines of their fields, which it finds in the
// files of the catalog. The line is 0 for a finding about a whole blob, and if the file or
// the field cannot be found. Locate parses only blobs with findings. When the context
// ends, the remaining lines are 0.
func Locate(ctx context.Context, source fs.FS, found fbc.Diagnostics) fbc.Diagnostics {
	l := locator{ctx: ctx, source: source, files: map[string][]byte{}}
	out := make(fbc.Diagnostics, len(found))
	for i, d := range found {
		located := *d
		located.FieldLine = 0
		if ctx.Err() == nil && d.Path != "" && d.Pos.IsValid() && d.Pos.Line > 0 {
			located.FieldLine = l.line(d)
		}
		out[i] = &located
	}
	return out
}

// A locator finds fields in files. It remembers only the fields of the last blob, because
// findings are in the order of their blobs.
type locator struct {
	ctx    context.Context // of one call
	source fs.FS
	files  map[string][]byte
	// at is the position of the last blob, and fields has the lines of its fields, by JSON
	// pointer.
	at     fbc.Pos
	fields map[string]int
}

func (l *locator) line(d *fbc.Diagnostic) int {
	if l.fields == nil || l.at != d.Pos {
		l.at, l.fields = d.Pos, map[string]int{}
		text := from(l.file(d.Pos.File), d.Pos.Line)
		if trimmed := bytes.TrimLeft(text, " \t\ufeff"); bytes.HasPrefix(trimmed, []byte("{")) {
			jsonLines(text, d.Pos.Line, l.fields)
		} else {
			yamlLines(l.ctx, text, d.Pos.Line, l.fields)
		}
	}
	// A missing field does not have a line, but the object that lacks it does.
	for path := d.Path; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if n := l.fields[path]; n > 0 {
			return n
		}
	}
	return 0
}

// file returns the text of a file, nil when it cannot be read or is too large.
func (l *locator) file(name string) []byte {
	if text, ok := l.files[name]; ok {
		return text
	}
	var text []byte
	if info, err := fs.Stat(l.source, name); err == nil && info.Mode().IsRegular() && info.Size() <= maxSource {
		if text, err = fs.ReadFile(l.source, name); err != nil {
			text = nil
		}
	}
	clear(l.files) // findings of a file follow each other
	l.files[name] = text
	return text
}

// from returns the text from a line on.
func from(text []byte, line int) []byte {
	for ; line > 1; line-- {
		at := bytes.IndexByte(text, '\n')
		if at < 0 {
			return nil
		}
		text = text[at+1:]
	}
	return text
}

// jsonLines records the lines of the fields of the first value in a text. The text
// begins on a line.
func jsonLines(text []byte, line int, fields map[string]int) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	seen := int64(0)
	for {
		if _, err := d.ReadToken(); err != nil {
			return // the rest has no lines
		}
		at := d.InputOffset()
		line += bytes.Count(text[seen:at], []byte("\n"))
		seen = at
		if path := string(d.StackPointer()); fields[path] == 0 {
			fields[path] = line
		}
		if d.StackDepth() == 0 {
			return
		}
	}
}

// yamlLines records the lines of the fields of the first document in a text. The text
// begins on a line.
func yamlLines(ctx context.Context, text []byte, line int, fields map[string]int) {
	if end := bytes.Index(text, []byte("\n---")); end >= 0 && !bytes.HasPrefix(text, []byte("---")) {
		text = text[:end+1]
	}
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
