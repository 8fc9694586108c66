package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// CheckText returns an error for text that is not UTF-8, because the YAML parser would
// guess its encoding.
func CheckText(doc []byte) error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(doc, []byte(mark)) {
			return errors.New("the text is UTF-16; it must be UTF-8")
		}
	}
	if i := bytes.IndexByte(doc, 0); i >= 0 {
		return fmt.Errorf("the document is not text (a zero byte at its offset %d)", i)
	}
	if !utf8.Valid(doc) {
		i := 0
		for rest := doc; ; i++ {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n <= 1 {
				break
			}
			rest, i = rest[n:], i+n-1
		}
		return fmt.Errorf("the document must be UTF-8, but byte %#02x at its offset %d is not", doc[i], i)
	}
	return nil
}
