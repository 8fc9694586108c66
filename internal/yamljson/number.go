package yamljson

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/internal/lazyregexp"
)

var styleFloat = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolveNumber returns the JSON number that the plain scalar s stands for, or "" if it is a string. ok is false for
// infinities and NaN, which JSON does not have. s must begin with a digit, a sign or a dot. This is the numeric part of
// resolve in go.yaml.in/yaml/v2, including its quirks: integers are parsed with base 0, so that 0777, 0o777 and 0x1ff
// are the same; underscores are dropped anywhere; and a leading dot is left to strconv.
func resolveNumber(s string) (number string, ok bool) {
	switch s {
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return "", false
	}
	if s[0] == '.' {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return formatFloat(f)
		}
		return "", true
	}
	plain := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return strconv.FormatInt(i, 10), true
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return strconv.FormatUint(u, 10), true
	}
	if styleFloat().MatchString(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return formatFloat(f)
		}
	}
	if digits, ok := strings.CutPrefix(plain, "0b"); ok {
		if i, err := strconv.ParseInt(digits, 2, 64); err == nil {
			return strconv.FormatInt(i, 10), true
		}
		if u, err := strconv.ParseUint(digits, 2, 64); err == nil {
			return strconv.FormatUint(u, 10), true
		}
	} else if digits, ok := strings.CutPrefix(plain, "-0b"); ok {
		if i, err := strconv.ParseInt("-"+digits, 2, 64); err == nil {
			return strconv.FormatInt(i, 10), true
		}
	}
	return "", true
}

func formatFloat(f float64) (string, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false
	}
	b, err := json.Marshal(f)
	return string(b), err == nil
}
