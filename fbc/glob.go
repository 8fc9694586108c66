package fbc

import (
	"errors"
	"strings"
)

var (
	errUnclosed  = errors.New("has a [ without a matching ]; write \\[ for a literal bracket")
	errBackslash = errors.New("ends in a backslash; add the character to escape, or remove it")
	errNoClass   = errors.New("has a [ ] that no character matches")
)

// translateGlob converts a glob of .gitignore to one of doublestar. Braces are literal.
// [ ] follows the rules of git: it never matches a slash, and supports [:alpha:] and
// other classes. A trailing "**" matches at least one name.
func translateGlob(glob string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '\\':
			if i++; i == len(glob) {
				return "", errBackslash
			}
			b.WriteByte('\\')
			b.WriteByte(glob[i])
		case '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '[':
			end, err := translateClass(&b, glob, i)
			if err != nil {
				return "", err
			}
			i = end
		default:
			b.WriteByte(c)
		}
	}
	out := b.String()
	if strings.HasSuffix(out, "/**") {
		out += "/*"
	}
	return out, nil
}

// A span is a range of characters.
type span struct{ lo, hi rune }

// translateClass writes the bracket expression that begins at glob[i] and
// returns the index of its last character. It follows git's wildmatch.c.
func translateClass(b *strings.Builder, glob string, i int) (int, error) {
	set := []rune(glob[i+1:]) // what follows the bracket
	n := 0
	negated := n < len(set) && (set[n] == '!' || set[n] == '^')
	if negated {
		n++
	}
	var spans []span
	last := rune(0) // the character before a "-", with which its range begins
	for first := true; ; first = false {
		if n >= len(set) {
			return 0, errUnclosed
		}
		c := set[n]
		switch {
		case c == ']' && !first:
			if !writeClass(b, spans, negated) {
				return 0, errNoClass
			}
			return i + len(string(set[:n+1])), nil
		case c == '\\':
			if n++; n >= len(set) {
				return 0, errUnclosed
			}
			last = set[n]
			spans = append(spans, span{last, last})
		case c == '-' && last != 0 && n+1 < len(set) && set[n+1] != ']':
			n++
			if set[n] == '\\' {
				if n++; n >= len(set) {
					return 0, errUnclosed
				}
			}
			spans = append(spans, span{last, set[n]})
			last = 0
		case c == '[' && n+1 < len(set) && set[n+1] == ':':
			rest := string(set[n+2:])
			name, _, closed := strings.Cut(rest, "]")
			if !closed {
				return 0, errUnclosed
			}
			if name, ok := strings.CutSuffix(name, ":"); ok {
				class, known := posix[name]
				if !known {
					return 0, errors.New("names a class of characters that does not exist: [:" + name + ":]")
				}
				spans = append(spans, class...)
				n += 3 + len([]rune(name))
				last = 0
				break
			}
			fallthrough
		default:
			last = c
			spans = append(spans, span{c, c})
		}
		n++
	}
}

// writeClass writes a class without the slash. It returns false if the class would be
// empty.
func writeClass(b *strings.Builder, spans []span, negated bool) bool {
	var keep []span
	if negated {
		keep = append(spans, span{'/', '/'})
	} else {
		for _, s := range spans {
			if s.lo <= '/' && '/' <= s.hi {
				keep = append(keep, span{s.lo, '/' - 1}, span{'/' + 1, s.hi})
			} else {
				keep = append(keep, s)
			}
		}
	}
	begun := false
	for _, s := range keep {
		if s.lo > s.hi {
			continue
		}
		if !begun {
			b.WriteByte('[')
			if negated {
				b.WriteByte('^')
			}
			begun = true
		}
		b.WriteByte('\\')
		b.WriteRune(s.lo)
		b.WriteString("-\\")
		b.WriteRune(s.hi)
	}
	if begun {
		b.WriteByte(']')
	}
	return begun
}

// posix are the named classes, of ASCII as in git.
var posix = map[string][]span{
	"alnum":  {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
	"alpha":  {{'A', 'Z'}, {'a', 'z'}},
	"blank":  {{'\t', '\t'}, {' ', ' '}},
	"cntrl":  {{1, 31}, {127, 127}},
	"digit":  {{'0', '9'}},
	"graph":  {{'!', '~'}},
	"lower":  {{'a', 'z'}},
	"print":  {{' ', '~'}},
	"punct":  {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}},
	"space":  {{'\t', '\r'}, {' ', ' '}},
	"upper":  {{'A', 'Z'}},
	"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
}
