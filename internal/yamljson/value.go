package yamljson

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// appendValue appends the JSON form of a value from the full parser. Keys become strings as in sigs.k8s.io/yaml.
func appendValue(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case string:
		return appendString(dst, v), nil
	case []any:
		dst = append(dst, '[')
		for i, x := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendValue(dst, x); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case map[any]any:
		return appendMap(dst, v)
	}
	text, err := json.Marshal(v) // a float64, unless it is infinite
	return append(dst, text...), err
}

// A member is an element of a map, with its key as a string.
type member struct {
	name  string
	key   any
	value any
}

func appendMap(dst []byte, m map[any]any) ([]byte, error) {
	members := make([]member, 0, len(m))
	for k, v := range m {
		name, err := keyName(k)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name, k, v})
	}
	// If the keys 1 and "1" become the same, the string wins.
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(fmt.Sprintf("%T", a.key), fmt.Sprintf("%T", b.key)))
	})
	dst = append(dst, '{')
	first := true
	for i, x := range members {
		if i+1 < len(members) && members[i+1].name == x.name {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendString(dst, x.name), ':')
		var err error
		if dst, err = appendValue(dst, x.value); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func keyName(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case bool:
		return strconv.FormatBool(k), nil
	case float64:
		switch s := strconv.FormatFloat(k, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return s, nil
		}
	case nil:
		return "", &Error{Err: fmt.Errorf("a key is null; keys must be strings")}
	}
	return "", &Error{Err: fmt.Errorf("a key is of type %T; keys must be strings", k)}
}

// appendString appends a JSON string, with U+FFFD for invalid UTF-8.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // it fails only for invalid UTF-8
	return dst
}

// sizeOf returns the number of bytes of a value as JSON, or slightly more.
func sizeOf(v any) int64 {
	n := int64(nodeSize)
	switch v := v.(type) {
	case string:
		n += textSize(v)
	case []any:
		for _, x := range v {
			n = plus(n, sizeOf(x))
		}
	case map[any]any:
		for k, x := range v {
			n = plus(n, sizeOf(k), sizeOf(x))
		}
	default:
		n += maxNumber
	}
	return n
}
