package registryv1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// A document is a part of a file, and the line of the file where it begins.
type document struct {
	text []byte
	line int
}

// documents returns the documents of a file, as kubectl splits them: a stream of JSON
// values if it begins with one, else YAML documents between lines "---" (K2).
func documents(text []byte) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		line := 1
		if head := bytes.TrimSpace(text); len(head) > 0 && head[0] == '{' {
			d := json.NewDecoder(bytes.NewReader(text))
			for n := 0; ; n++ {
				start := d.InputOffset()
				var v json.RawMessage
				err := d.Decode(&v)
				end := d.InputOffset() - int64(len(v))
				switch {
				case err == io.EOF:
					return
				case err != nil && n > 1:
					yield(document{line: line}, err)
					return
				case err != nil: // YAML may begin like JSON
					text = text[start:]
				default:
					line += bytes.Count(text[start:end], []byte("\n"))
					if !yield(document{v, line}, nil) {
						return
					}
					line += bytes.Count(v, []byte("\n"))
					continue
				}
				break
			}
		}
		splitYAML(text, line, yield)
	}
}

// splitYAML yields the YAML documents in text. Package yamljson later reads each one as
// YAML 1.1 (K3), and reports text after an end-of-document marker as an error (K213).
func splitYAML(text []byte, line int, yield func(document, error) bool) {
	doc := document{line: line}
	for part := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(part, []byte("---")); ok {
			if rest = bytes.TrimSpace(rest); len(rest) > 0 && rest[0] != '#' {
				yield(document{line: line}, fmt.Errorf("invalid document separator: %q; put it on a line without other text", bytes.TrimSpace(part)))
				return
			}
			if len(doc.text) > 0 && !yield(doc, nil) {
				return
			}
			doc = document{line: line + 1}
		} else {
			doc.text = append(doc.text, part...)
		}
		line++
	}
	if len(doc.text) > 0 {
		yield(doc, nil)
	}
}

// firstLine returns the line of the first content of a document.
func firstLine(doc document) int {
	line := doc.line
	for part := range bytes.Lines(doc.text) {
		if part = bytes.TrimSpace(part); len(part) > 0 && part[0] != '#' {
			return line
		}
		line++
	}
	return doc.line
}
