package celcost

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// CEL's parser cannot be interrupted. It takes two to five microseconds per
// token, a hundred for the sign of a number, and ten for each non-ASCII
// character (BenchmarkParse), so 64 KiB of these take most of a second. The
// tokens of a rule are therefore counted before parsing, in a single fast pass,
// and expensive ones count more than once.

const (
	signTokens    = 30 // the sign of a number
	unicodeTokens = 3  // a character beyond ASCII
	asciiPerToken = 64 // bytes of a name, a text or a comment
)

// Tokens returns the number of tokens in a rule. The sign of a number counts as
// 30. The characters of names, texts and comments add 1 for every 64, and 3 for
// each non-ASCII character. After text that is not a valid token, each byte
// counts as 3.
func Tokens(rule string) int {
	n := 0
	sign := false    // the last token is a unary minus
	operand := false // the last token ends an operand
	for rest := rule; rest != ""; {
		c := rest[0]
		if isSpace(c) {
			rest = rest[1:]
			continue
		}
		if strings.HasPrefix(rest, "//") {
			size := strings.IndexByte(rest, '\n')
			if size < 0 {
				size = len(rest)
			}
			n += weigh(rest[:size])
			rest = rest[size:]
			continue
		}
		size, ok, ends := 1, true, strings.IndexByte(")]}", c) >= 0
		switch {
		case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
			size, ends = numberSize(rest), true
			if sign {
				n += signTokens - 1
			}
		case c == '`':
			size, ok = quotedSize(rest)
			ends = true
		case isLetter(c) || c == '"' || c == '\'':
			size, ok = wordSize(rest)
			ends = rest[:size] != "in"
		default:
			size, ok = signSize(rest)
		}
		if !ok {
			return n + len(rest)*unicodeTokens
		}
		sign, operand = c == '-' && !operand, ends
		n += 1 + weigh(rest[:size])
		rest = rest[size:]
	}
	return n
}

// weigh returns the additional tokens for the characters of a token.
func weigh(s string) int {
	n := len(s) / asciiPerToken
	for _, r := range s {
		if r >= utf8.RuneSelf {
			n += unicodeTokens
		}
	}
	return n
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' && c != '\v' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// span counts the bytes at the beginning of s that are in a set.
func span(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

// signSize returns the size of the operator or bracket at the beginning of s.
func signSize(s string) (size int, ok bool) {
	if len(s) > 1 && slices.Contains([]string{"==", "!=", "<=", ">=", "&&", "||"}, s[:2]) {
		return 2, true
	}
	return 1, strings.IndexByte("<>[]{}().,-!?:+*/%", s[0]) >= 0
}

// numberSize returns the size of the number at the beginning of s.
func numberSize(s string) int {
	n, whole := span(s, isDigit), true
	if strings.HasPrefix(s, "0x") && len(s) > 2 && isHex(s[2]) {
		n = 2 + span(s[2:], isHex)
	} else {
		if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
			n, whole = n+1+span(s[n+1:], isDigit), false
		}
		if exp := exponentSize(s[n:]); exp > 0 {
			n, whole = n+exp, false
		}
	}
	if whole && n < len(s) && (s[n] == 'u' || s[n] == 'U') {
		n++
	}
	return n
}

func exponentSize(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	digits := span(s[n:], isDigit)
	if digits == 0 {
		return 0
	}
	return n + digits
}

// wordSize returns the size of the name or string literal at the beginning of
// s. It returns false for a literal that is unterminated or invalid.
func wordSize(s string) (size int, ok bool) {
	n := span(s, func(c byte) bool { return isLetter(c) || isDigit(c) })
	if n == len(s) || s[n] != '"' && s[n] != '\'' {
		return n, true
	}
	raw := false
	switch strings.ToLower(s[:n]) {
	case "", "b":
	case "r", "br":
		raw = true
	default:
		return n, true // a name followed by a literal
	}
	end, lines := s[n:n+1], false
	if triple := strings.Repeat(end, 3); strings.HasPrefix(s[n:], triple) {
		end, lines = triple, true
	}
	for i := n + len(end); i < len(s); {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], end):
			return i + len(end), true
		case c == '\\' && !raw:
			size := escapeSize(s[i:])
			if size == 0 {
				return 0, false
			}
			i += size
		case !lines && (c == '\n' || c == '\r'):
			return 0, false
		default:
			i++
		}
	}
	return 0, false
}

// quotedSize returns the size of the name in backquotes at the beginning of s,
// or false if it is invalid.
func quotedSize(s string) (size int, ok bool) {
	n := 1 + span(s[1:], func(c byte) bool { return isLetter(c) || isDigit(c) || strings.IndexByte(".-/ ", c) >= 0 })
	return n + 1, n > 1 && n < len(s) && s[n] == '`'
}

// escapeSize returns the size of the escape sequence at the beginning of s, or
// 0 if it is invalid.
func escapeSize(s string) int {
	if len(s) < 2 {
		return 0
	}
	size := 2
	switch c := s[1]; {
	case strings.IndexByte("abfnrtv\"'\\?`", c) >= 0:
		return size
	case c == 'x' || c == 'X':
		size += 2
	case c == 'u':
		size += 4
	case c == 'U':
		size += 8
	case '0' <= c && c <= '3':
		if len(s) >= 4 && span(s[2:4], func(c byte) bool { return '0' <= c && c <= '7' }) == 2 {
			return 4
		}
		return 0
	default:
		return 0
	}
	if len(s) < size || span(s[2:size], isHex) < size-2 {
		return 0
	}
	return size
}
