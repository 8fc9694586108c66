package yamljson

import "strings"

// What the first byte of a plain scalar implies.
const (
	startsString  = iota // it is a string
	startsWord           // perhaps a word like true
	startsNumber         // perhaps a number, or a word such as .inf
	startsNothing        // it is not plain, is left to Slow, or depends on the next byte
)

var plainStart = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c <= ' ' || c == 0x7f || strings.IndexByte("?:,[]{}#&*!|>'\"%@`", byte(c)) >= 0:
			t[c] = startsNothing
		case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
			t[c] = startsNumber
		case strings.IndexByte("yYnNtTfFoO~", byte(c)) >= 0:
			t[c] = startsWord
		}
	}
	return t
}()

// startsPlain reports whether a plain scalar begins at p. It returns false for question marks and colons, which can
// begin one in some contexts.
func startsPlain(doc []byte, p int) bool {
	if doc[p] == '-' {
		return !dash(doc, p) && doc[p+1] != '\t'
	}
	return plainStart[doc[p]] != startsNothing
}

// appendPlain appends the plain scalar at p, which continues on lines that are indented more than indent. It returns
// where to continue (next) and the start of that line (line); the text between them is only spaces.
func appendPlain(dst, doc []byte, p, indent int) (out []byte, line, next int, ok bool) {
	if !startsPlain(doc, p) {
		return dst, 0, 0, false
	}
	start, base := p, len(dst)
	dst = append(dst, '"')
	if dst, p, ok = appendPlainLine(dst, doc, p); !ok {
		return dst, 0, 0, false
	}
	for lines := 1; ; lines++ {
		end, blank := p, 0
		if p < len(doc) && doc[p] == '#' {
			line, ok = endLine(doc, p)
			p = line
		} else {
			line, p, blank, ok = nextText(doc, p)
		}
		if !ok {
			return dst, 0, 0, false
		}
		if p == line || p == len(doc) || p-line <= indent || doc[p] == '#' {
			dst = append(dst, '"')
			if lines == 1 {
				dst, ok = resolvePlain(dst, base, doc[start:end])
			} // else it contains a space or a line break and can only be a string
			return dst, line, p, ok
		}
		dst = appendFold(dst, blank)
		if dst, p, ok = appendPlainLine(dst, doc, p); !ok {
			return dst, 0, 0, false
		}
	}
}

// appendPlainLine appends the text of a plain scalar at p up to the end of the line or to a comment. It returns the
// position where it stopped.
func appendPlainLine(dst, doc []byte, p int) (out []byte, next int, ok bool) {
	for {
		dst, p = copyText(dst, doc, p, ':', '#')
		if p == len(doc) || doc[p] == '\n' || doc[p] == '#' && doc[p-1] == ' ' {
			n := len(dst)
			for dst[n-1] == ' ' {
				n--
			}
			return dst[:n], p, true
		}
		switch doc[p] {
		case ':':
			if p+1 == len(doc) || doc[p+1] == ' ' || doc[p+1] == '\n' || doc[p+1] == '\t' {
				return dst, 0, false // the text before the colon is a key
			}
		case '#':
		default:
			return dst, 0, false
		}
		dst = append(dst, doc[p])
		p++
	}
}

// resolvePlain replaces the JSON string at the end of dst, which begins at base, with the value of the plain scalar.
// text is the scalar in the document, possibly followed by spaces. It returns false for a value that JSON does not
// have.
func resolvePlain(dst []byte, base int, text []byte) (out []byte, ok bool) {
	if plainStart[text[0]] == startsString {
		return dst, true
	}
	for text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	switch classify(text) {
	case isNull:
		return append(dst[:base], "null"...), true
	case isTrue:
		return append(dst[:base], "true"...), true
	case isFalse:
		return append(dst[:base], "false"...), true
	case isDecimal:
		return append(dst[:base], text...), true
	case isNumeric:
		number, ok := resolveNumber(string(text))
		if !ok {
			return dst, false
		}
		if number != "" {
			return append(dst[:base], number...), true
		}
	}
	return dst, true
}

// nextText skips the line break at p and the blank lines after it. It returns the start of the next line with text,
// the position of that text and the number of blank lines.
func nextText(doc []byte, p int) (line, text, blank int, ok bool) {
	if p == len(doc) {
		return p, p, 0, true
	}
	for {
		line = p + 1
		p = skipSpaces(doc, line)
		if p == len(doc) {
			return line, p, blank, true
		}
		if doc[p] == '\t' {
			return 0, 0, 0, false
		}
		if doc[p] != '\n' {
			return line, p, blank, true
		}
		blank++
	}
}

// appendFold joins two lines of a flow scalar that have blank blank lines between them.
func appendFold(dst []byte, blank int) []byte {
	if blank == 0 {
		return append(dst, ' ')
	}
	return appendBreaks(dst, blank)
}

func appendBreaks(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, `\n`...)
	}
	return dst
}

type kind uint8

const (
	isString  kind = iota
	isNull         // null, ~ and so on
	isTrue         // true, yes, on, y
	isFalse        // false, no, off, n
	isDecimal      // an integer that is the same in JSON
	isNumeric      // perhaps a number: call resolveNumber
)

// classify returns the kind of value that a plain scalar on one line stands for, following resolve in
// go.yaml.in/yaml/v2. Timestamps are strings, because that is what they become when decoded into an interface.
func classify(text []byte) kind {
	switch plainStart[text[0]] {
	case startsWord:
		if len(text) <= len("false") {
			return classifyWord(text)
		}
	case startsNumber:
		return classifyNumber(text)
	}
	return isString
}

// isText reports whether text stands for a string.
func isText(text []byte) bool {
	switch classify(text) {
	case isString:
		return true
	case isNumeric:
		number, ok := resolveNumber(string(text))
		return ok && number == ""
	}
	return false
}

func classifyWord(text []byte) kind {
	switch string(text) {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return isTrue
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return isFalse
	case "null", "Null", "NULL", "~":
		return isNull
	}
	return isString
}

// numberByte marks the bytes that occur in numbers of any base and in the words .inf and .nan.
var numberByte = func() (t [256]bool) {
	for _, c := range "0123456789abcdefABCDEFxXoOiInN._+-" {
		t[c] = true
	}
	return t
}()

// classifyNumber is classify for text that begins like a number. Most of these are versions such as 1.2.3, which are
// strings.
func classifyNumber(text []byte) kind {
	digits, dots := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		case !numberByte[c]:
			return isString
		}
	}
	switch {
	case dots > 1:
		return isString
	case digits == len(text) && digits <= 18 && (text[0] != '0' || digits == 1):
		return isDecimal
	}
	return isNumeric
}
