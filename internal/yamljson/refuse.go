package yamljson

import (
	"bytes"
	"errors"
	"strings"
)

var (
	errTag   = errors.New("%TAG directives are not supported; write the tags in full, and drop the directive")
	errUTF16 = errors.New("the text is UTF-16; save it as UTF-8")
)

// refuse returns an error for text that must not reach a parser (S1). The prefix that a %TAG directive declares is
// copied for each node with its handle, so a single line can take any amount of memory. kubectl and opm do not read
// such documents either, because they split streams before every "---". UTF-16 would hide text from all checks.
func refuse(doc []byte) error {
	if bytes.HasPrefix(doc, []byte("\xff\xfe")) || bytes.HasPrefix(doc, []byte("\xfe\xff")) {
		return &Error{Err: errUTF16}
	}
	const directive = "%TAG"
	for p := 0; ; p += len(directive) {
		i := bytes.Index(doc[p:], []byte(directive))
		if i < 0 {
			return nil
		}
		if p += i; beginsLine(doc[:p]) {
			return &Error{Line: 1 + bytes.Count(doc[:p], []byte{'\n'}), Err: errTag}
		}
	}
}

// beginsLine reports whether a parser treats the text after this prefix as the beginning of a line.
func beginsLine(text []byte) bool {
	if len(text) == 0 || string(text) == "\ufeff" {
		return true
	}
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.HasSuffix(string(text[max(0, len(text)-3):]), end) {
			return true
		}
	}
	return false
}
