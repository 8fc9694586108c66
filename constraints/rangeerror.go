package constraints

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
)

// A RangeError reports a text that is not a valid range.
type RangeError struct {
	// Range is the whole text.
	Range string
	// Part is the invalid part of Range, or "" if Range is invalid as a whole.
	Part string
	// Reason states what is wrong with the part.
	Reason string
	// Instead is a suggested replacement, or "".
	Instead string
}

// Error returns, for example, `invalid range ">=1.0": a version has three
// numbers: write ">=1.0.0"`.
func (e *RangeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "invalid range %s: ", clip(e.Range))
	if e.Part != "" && e.Part != e.Range {
		fmt.Fprintf(&b, "%s: ", clip(e.Part))
	}
	b.WriteString(e.Reason)
	if e.Instead != "" {
		fmt.Fprintf(&b, ": write %s", clip(e.Instead))
	}
	return b.String()
}

// clip quotes s, truncated to about eighty bytes.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
}

// cut truncates a message of the CEL or range library, which may contain long
// quotes.
func cut(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

const rangeSyntax = `want comparisons such as ">=1.0.0 <2.0.0" or "1.x", alternatives separated by " || "`

// rangeError explains why the library rejected the alternative alt of text. The
// library's messages describe the state of its parser, so common mistakes get a
// clearer explanation.
func rangeError(text, alt string, err error) *RangeError {
	e := &RangeError{Range: text}
	switch {
	case strings.TrimSpace(text) == "":
		e.Reason = "empty; " + rangeSyntax + `; ">=0.0.0" matches any release`
		return e
	case strings.TrimSpace(alt) == "":
		e.Reason = `missing range next to "||"`
		return e
	}
	for _, word := range words(alt) {
		if _, err := semver.ParseRange(word); err == nil {
			continue
		}
		if explainWord(e, word) {
			return e
		}
	}
	e.Reason = cause(err) + "; " + rangeSyntax
	return e
}

// words splits an alternative into comparisons. Spaces between an operator and
// its version are dropped.
func words(alt string) []string {
	var ws []string
	for _, f := range strings.Split(alt, " ") {
		switch last := len(ws) - 1; {
		case f == "":
		case last >= 0 && strings.Trim(ws[last], "<>=") == "":
			ws[last] += f
		default:
			ws = append(ws, f)
		}
	}
	return ws
}

const otherSyntax = "is valid only in OLM v1 version ranges"

// explainWord sets the Part, Reason and Instead of e for an invalid comparison,
// and reports whether it found a reason.
func explainWord(e *RangeError, word string) bool {
	e.Part, e.Instead = word, ""
	op, version := splitOperator(word)
	switch {
	case strings.ContainsAny(word, "\t\n\r"):
		e.Reason = "only spaces may separate comparisons"
	case strings.Contains(word, "||"):
		e.Reason = `"||" needs a space on both sides`
	case strings.Contains(word, ","):
		e.Reason = "a comma " + otherSyntax + "; separate comparisons with spaces"
		if better := strings.Join(strings.FieldsFunc(e.Range, isCommaOrSpace), " "); parses(better) {
			e.Instead = better
		}
	case word[0] == '^' || word[0] == '~':
		e.Reason = fmt.Sprintf("the comparison operator %s %s", clip(op), otherSyntax)
		e.Instead = expand(op, version)
	case strings.ContainsAny(word, "()"):
		e.Reason = "parentheses are not allowed; " + rangeSyntax
	case strings.Contains(word, "*") || strings.Contains(version, "X") || version == "x":
		e.Reason = `a wildcard is written "x"`
		if better := op + strings.NewReplacer("*", "x", "X", "x").Replace(version); parses(better) {
			e.Instead = better
		} else if len(version) == 1 {
			e.Instead = ">=0.0.0"
		}
	case op == "=<" || op == "=>":
		e.Reason = fmt.Sprintf("unknown comparison operator %s", clip(op))
		if better := op[1:] + "=" + version; parses(better) {
			e.Instead = better
		}
	case version == "" || strings.Trim(op, "<>=!") != "" || !known(op):
		return explainOperator(e, op, version)
	default:
		return explainVersion(e, op, version)
	}
	return true
}

func isCommaOrSpace(r rune) bool { return r == ',' || r == ' ' }

func parses(s string) bool {
	_, err := semver.ParseRange(s)
	return err == nil
}

func known(op string) bool {
	switch op {
	case "", "=", "==", "!", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// splitOperator cuts a comparison before its first digit, 'v' or wildcard.
func splitOperator(word string) (op, version string) {
	if i := strings.IndexAny(word, "0123456789vVxX*"); i >= 0 {
		return word[:i], word[i:]
	}
	return word, ""
}

func explainOperator(e *RangeError, op, version string) bool {
	switch {
	case version == "" && strings.Trim(op, "<>=!") == "":
		e.Reason = "a comparison operator without a version"
	case version == "" || op != "" && strings.Trim(op, "<>=!~^") != "":
		e.Reason = "not a version; " + rangeSyntax
	default:
		e.Reason = fmt.Sprintf("unknown comparison operator %s; want =, !=, <, <=, > or >=", clip(op))
	}
	return true
}

func explainVersion(e *RangeError, op, version string) bool {
	if v := strings.TrimLeft(version, "vV"); v != version {
		e.Reason = "not a version; " + rangeSyntax
		if parses(op + v) {
			e.Reason, e.Instead = `a version must not begin with "v"`, op+v
		}
		return true
	}
	core, rest := version, ""
	if i := strings.IndexAny(version, "-+"); i >= 0 {
		core, rest = version[:i], version[i:]
	}
	switch dots := strings.Count(core, "."); {
	case strings.Contains(core, "x"):
		e.Reason = "a wildcard may replace only the last numbers of a version: 1.x, 1.2.x"
		return true
	case strings.Contains(rest, "x") && (op == "" || op == "=" || op == "==" || op == ">" || op == "<=" || op == "!=" || op == "!"):
		// The library treats any x as a wildcard.
		e.Reason = fmt.Sprintf("a pre-release or build that contains %q can be used only with >= and <", "x")
		return true
	case dots < 2 && parses(op+core+strings.Repeat(".0", 2-dots)+rest):
		e.Reason, e.Instead = "a version has three numbers", op+core+strings.Repeat(".0", 2-dots)+rest
		return true
	case dots != 2 && !strings.ContainsAny(core, "<>=!"):
		e.Reason = "a version has three numbers"
		return true
	}
	if strings.ContainsAny(version, "<>=!") {
		e.Reason = "comparisons need a space between them"
		return true
	}
	if _, err := semver.Parse(version); err != nil {
		e.Reason = cause(err)
		return true
	}
	return false
}

// expand returns the equivalent of a caret or tilde range, or "" if its version
// is invalid.
func expand(op, version string) string {
	v, err := semver.ParseTolerant(version)
	if err != nil || strings.ContainsAny(version, "xX*") {
		return ""
	}
	next := semver.Version{Major: v.Major, Minor: v.Minor + 1}
	switch dots := strings.Count(version, "."); {
	case op == "^" && v.Major == 0 && v.Minor == 0 && dots >= 2:
		next = semver.Version{Patch: v.Patch + 1}
	case op == "^" && v.Major > 0, dots == 0:
		next = semver.Version{Major: v.Major + 1}
	}
	return fmt.Sprintf(">=%s <%s", v, next)
}

// cause returns the last part of the library's message in lower case.
func cause(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i >= 0 && i+2 < len(s) && s[i+2] != '"' {
		s = s[i+2:]
	}
	return cut(strings.ToLower(s[:1]) + s[1:])
}
