package celrule

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// scalar returns a part of an object that has no parts, as the type of its
// schema.
func scalar(n *node, v any) ref.Val {
	switch v := v.(type) {
	case bool:
		return types.Bool(v)
	case string:
		return text(n, v)
	case json.Number:
		if n.typ != "number" {
			if i, err := v.Int64(); err == nil {
				return types.Int(i)
			}
		}
		f, err := v.Float64()
		if err != nil {
			return types.WrapErr(err)
		}
		return number(n, f)
	case float64:
		return number(n, v)
	}
	return types.NullValue
}

func number(n *node, f float64) ref.Val {
	if n.typ != "number" && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return types.Int(f)
	}
	return types.Double(f)
}

func text(n *node, s string) ref.Val {
	if n.intOrString {
		return types.String(s)
	}
	switch n.format {
	case "byte":
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return types.WrapErr(fmt.Errorf("%s is not base64", clip(s)))
		}
		return types.Bytes(b)
	case "date-time", "date":
		layout := time.RFC3339
		if n.format == "date" {
			layout = time.DateOnly
		}
		t, err := time.ParseInLocation(layout, s, time.UTC)
		if err != nil {
			return types.WrapErr(fmt.Errorf("%s is no %s", clip(s), n.format))
		}
		return types.Timestamp{Time: t}
	case "duration":
		d, err := time.ParseDuration(s)
		if err != nil {
			return types.WrapErr(fmt.Errorf("%s is no duration", clip(s)))
		}
		return types.Duration{Duration: d}
	}
	return types.String(s)
}

// isMissingKey reports whether an evaluation failed because the object lacks
// what the rule reads.
func isMissingKey(err error) bool { return strings.HasPrefix(err.Error(), "no such key") }

// accessible matches the names of fields that rules can read.
var accessible = regexp.MustCompile(`^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$`)

// reserved are CEL's words, which fields may be called as well.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
	"namespace", "null", "package", "return", "true", "var", "void", "while",
}

var escaper = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")

// escape returns the name by which a rule reads a field, and whether it can.
func escape(name string) (string, bool) {
	if !accessible.MatchString(name) {
		return "", false
	}
	if slices.Contains(reserved, name) {
		return "__" + name + "__", true
	}
	return escaper.Replace(name), true
}
