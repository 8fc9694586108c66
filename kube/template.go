package kube

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A template holds what is different in the JSON text of similar objects in other namespaces. In such text, control
// characters, which JSON escapes, stand for these values, and for others that are not known in advance.
type template struct {
	name, namespace string
	uid             types.UID
	version         string
}

const (
	markName = 1 + iota
	markNamespace
	markUID
	markVersion
	markOtherUID // its value, in packed.values, is 16 bytes
	markTime     // its value is a number of seconds, as encoding/binary writes it
	markRandom   // its value begins with its length, or is zero and the index of an equal value
)

// A known value is one that is not in packed.values.
type known struct {
	mark  byte
	value string
}

// known returns the known values, in the order in which they are replaced.
func (t template) known() [4]known {
	version := t.version
	if version != "" {
		version = `"` + version + `"` // a number is not specific without the quotes
	}
	return [...]known{{markUID, string(t.uid)}, {markVersion, version}, {markName, t.name}, {markNamespace, t.namespace}}
}

// replace replaces the values that are known.
func (t template) replace(text []byte) []byte {
	for _, k := range t.known() {
		if k.value != "" && !strings.ContainsFunc(k.value, func(r rune) bool { return r < ' ' }) {
			text = bytes.ReplaceAll(text, []byte(k.value), []byte{k.mark})
		}
	}
	return text
}

// extract replaces other UIDs, times, and what seems to be random, and appends them to values. Call it after replace.
func extract(text, values []byte) (out, more []byte) {
	out = make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if !isAlphanumeric(text[i]) {
			out = append(out, text[i])
			i++
			continue
		}
		rest := text[i:]
		if u, ok := parseUID(rest); ok {
			out, values = append(out, markOtherUID), append(values, u...)
			i += len(uuidForm)
			continue
		}
		if at, ok := timestamp(rest); ok {
			out, values = append(out, markTime), binary.AppendVarint(values, at)
			i += len(timeForm)
			continue
		}
		n := 1
		for n < len(rest) && isAlphanumeric(rest[n]) {
			n++
		}
		word := rest[:n]
		i += n
		if len(values) >= mostValues || !isRandom(word) {
			out = append(out, word...)
			continue
		}
		out = append(out, markRandom)
		value := append([]byte{byte(n)}, word...)
		if at := bytes.Index(values, value); at >= 0 {
			values = binary.AppendUvarint(append(values, 0), uint64(at))
		} else {
			values = append(values, value...)
		}
	}
	return out, values
}

// mostValues limits what is extracted because it seems to be random, in bytes.
const mostValues = 4096

// isRandom reports whether a word is probably different in each namespace: a number or a suffix that Kubernetes generates,
// which have no vowels, or a hash. Digests of images are longer.
func isRandom(word []byte) bool {
	const short, hash, digest = 5, 9, 64
	if len(word) < short || len(word) >= digest {
		return false
	}
	return !bytes.ContainsAny(word, "aeiouAEIOU") || len(word) >= hash && bytes.ContainsAny(word, "0123456789")
}

func isAlphanumeric(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|' ' && c|' ' <= 'z' }

// fill appends the text that replace and extract were given. The values begin at an index, and fill returns the index
// of those that follow.
func (t template) fill(out, text, values []byte, from int) ([]byte, int) {
	known := t.known()
	for _, c := range text {
		switch c {
		case markUID:
			out = append(out, known[0].value...)
		case markVersion:
			out = append(out, known[1].value...)
		case markName:
			out = append(out, known[2].value...)
		case markNamespace:
			out = append(out, known[3].value...)
		case markOtherUID:
			out = appendUID(out, values[from:from+16])
			from += 16
		case markTime:
			at, n := binary.Varint(values[from:])
			out = time.Unix(at, 0).UTC().AppendFormat(out, timeForm)
			from += n
		case markRandom:
			at := from
			if from += 1 + int(values[at]); values[at] == 0 {
				earlier, n := binary.Uvarint(values[from:])
				at, from = int(earlier), from+n
			}
			out = append(out, values[at+1:at+1+int(values[at])]...)
		default:
			out = append(out, c)
		}
	}
	return out, from
}

const (
	timeForm = "2006-01-02T15:04:05Z"
	uuidForm = "00000000-0000-0000-0000-000000000000"
)

func timestamp(text []byte) (int64, bool) {
	if len(text) < len(timeForm) || text[4] != '-' || text[10] != 'T' || text[19] != 'Z' {
		return 0, false
	}
	text = text[:len(timeForm)]
	at, err := time.Parse(timeForm, string(text))
	return at.Unix(), err == nil && string(text) == at.Format(timeForm)
}

// parseUID returns the bytes of a UUID at the beginning of text, if it is in lower case.
func parseUID(text []byte) ([]byte, bool) {
	if len(text) < len(uuidForm) || text[8] != '-' {
		return nil, false
	}
	text = text[:len(uuidForm)]
	u, err := hex.AppendDecode(nil, bytes.ReplaceAll(text, []byte("-"), nil))
	return u, err == nil && len(u) == 16 && bytes.Equal(appendUID(nil, u), text)
}

func appendUID(out, u []byte) []byte {
	for i, n := range [...]int{4, 2, 2, 2, 6} {
		if i > 0 {
			out = append(out, '-')
		}
		out, u = hex.AppendEncode(out, u[:n]), u[n:]
	}
	return out
}
