package yamljson

import "strings"

// startsPlain reports whether a plain scalar may begin at p. Question marks and colons may, in places; they are left
// out here.
func startsPlain(doc []byte, p int) bool {
	switch doc[p] {
	case '-':
		return !dash(doc, p) && doc[p+1] != '\t'
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' ', '\n':
		return false
	}
	return true
}

// appendPlain appends the plain scalar at p. Its further lines are those indented more than indent. It returns the start
// of a line at or before the next content.
func appendPlain(dst, doc []byte, p, indent int) (out []byte, next int, ok bool) {
	if !startsPlain(doc, p) {
		return dst, 0, false
	}
	start, base := p, len(dst)
	dst = append(dst, '"')
	for lines := 1; ; lines++ {
	line:
		for {
			dst, p = copyText(dst, doc, p, ':', '#')
			if p == len(doc) {
				break
			}
			switch doc[p] {
			case ':':
				if p+1 == len(doc) || doc[p+1] == ' ' || doc[p+1] == '\n' || doc[p+1] == '\t' {
					return dst, 0, false // a key
				}
			case '#':
				if doc[p-1] == ' ' {
					break line
				}
			case '\n':
				break line
			default:
				return dst, 0, false
			}
			dst = append(dst, doc[p])
			p++
		}
		for dst[len(dst)-1] == ' ' {
			dst = dst[:len(dst)-1]
		}
		end := p
		more := false
		if p < len(doc) && doc[p] == '#' {
			if next, ok = endLine(doc, p); !ok {
				return dst, 0, false
			}
		} else {
			var breaks int
			if next, p, breaks, ok = nextText(doc, p); !ok {
				return dst, 0, false
			}
			if p < len(doc) && p-next > indent && doc[p] != '#' {
				dst = appendFold(dst, breaks)
				more = true
			}
		}
		if more {
			continue
		}
		if lines > 1 { // holds a space or a line break, and so can only be a string
			return append(dst, '"'), next, true
		}
		for doc[end-1] == ' ' {
			end--
		}
		text := doc[start:end]
		switch classify(text) {
		case isString:
			return append(dst, '"'), next, true
		case isNull:
			return append(dst[:base], "null"...), next, true
		case isTrue:
			return append(dst[:base], "true"...), next, true
		case isFalse:
			return append(dst[:base], "false"...), next, true
		case isDecimal:
			return append(dst[:base], text...), next, true
		}
		number, ok := resolveNumber(string(text))
		if !ok {
			return dst, 0, false
		}
		if number == "" {
			return append(dst, '"'), next, true
		}
		return append(dst[:base], number...), next, true
	}
}

// nextText passes over the rest of a line, which begins at p with its line break or the end of doc, and over blank
// lines. It returns the start of the line where there is text again, the position of that text and the number of blank
// lines.
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

// appendFold joins two lines of a flow scalar with that many blank lines between them.
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
	isDecimal      // an integer that JSON writes the same way
	isNumeric      // perhaps a number: ask resolveNumber
)

// classify says what a plain scalar on one line stands for, after resolve in go.yaml.in/yaml/v2. Timestamps are
// strings: that is what they become when the target is an interface.
func classify(text []byte) kind {
	switch c := text[0]; {
	case c >= '0' && c <= '9':
		return classifyNumber(text)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		if len(text) > len("false") {
			return isString
		}
		return classifyWord(text)
	case c == '~':
		if len(text) == 1 {
			return isNull
		}
	case c == '.':
		if len(text) == 1 {
			return isString
		}
		switch c := text[1]; {
		case c >= '0' && c <= '9' || c == '_', c == 'i' || c == 'I' || c == 'n' || c == 'N':
			return isNumeric
		}
	case c == '-' || c == '+':
		return isNumeric
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
	case "null", "Null", "NULL":
		return isNull
	}
	return isString
}

// classifyNumber sorts out what begins with a digit: mostly versions such as 1.2.3, which are strings.
func classifyNumber(text []byte) kind {
	digits, dots := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		case strings.IndexByte("abcdefABCDEFxXoO_+-", c) < 0:
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
