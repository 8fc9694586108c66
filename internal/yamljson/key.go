package yamljson

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// keyBytes classes the bytes of plain keys: 0 is copied as it is, 1 may end the key, 2 needs care.
var keyBytes = func() (t [256]uint8) {
	for c := range t {
		if c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			t[c] = 2
		}
	}
	t[':'], t['#'], t['\n'] = 1, 1, 1
	return t
}()

// plainKeyEnd returns the position of the colon after the plain key at p, or -1 if the text at p is not a key. Simple
// tells that the key can be copied into JSON without a look.
func plainKeyEnd(doc []byte, p int) (colon int, simple bool) {
	simple = true
	for i := p; i < len(doc); i++ {
		class := keyBytes[doc[i]]
		if class == 0 {
			continue
		}
		if class == 2 {
			simple = false
			continue
		}
		switch doc[i] {
		case ':':
			if i+1 == len(doc) || doc[i+1] == ' ' || doc[i+1] == '\n' {
				return i, simple
			}
		case '#':
			if i > 0 && doc[i-1] == ' ' {
				return -1, false
			}
		case '\n':
			return -1, false
		}
	}
	return -1, false
}

// startsKey reports whether the node at p is a mapping, because a key begins there.
func startsKey(doc []byte, p int) bool {
	switch c := doc[p]; c {
	case '"', '\'':
		end := quotedEnd(doc, p)
		return end > 0 && end < len(doc) && doc[end] == ':' &&
			(end+1 == len(doc) || doc[end+1] == ' ' || doc[end+1] == '\n')
	case '[', '{', '|', '>':
		return false
	}
	colon, _ := plainKeyEnd(doc, p)
	return colon >= 0
}

// quotedEnd returns the position after the quoted scalar at p if that ends on the same line, or -1.
func quotedEnd(doc []byte, p int) int {
	quote := doc[p]
	for i := p + 1; i < len(doc); i++ {
		switch doc[i] {
		case '\n':
			return -1
		case '\\':
			if quote == '"' && i+1 < len(doc) && doc[i+1] != '\n' {
				i++
			}
		case quote:
			if quote == '\'' && i+1 < len(doc) && doc[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
	}
	return -1
}

// appendKey appends the key at p as a JSON string and returns the position of the colon after it.
func appendKey(dst, doc []byte, p int) (out []byte, colon int, ok bool) {
	switch c := doc[p]; c {
	case '"', '\'':
		if !startsKey(doc, p) {
			return dst, 0, false
		}
		start := p
		if c == '"' {
			dst, p, ok = appendDouble(dst, doc, p)
		} else {
			dst, p, ok = appendSingle(dst, doc, p)
		}
		// The colon proves that both functions read the key alike.
		return dst, p, ok && p < len(doc) && doc[p] == ':' && p-start <= maxKey
	}
	if !startsPlain(doc, p) {
		return dst, 0, false
	}
	colon, simple := plainKeyEnd(doc, p)
	if colon < 0 || colon-p > maxKey || doc[colon-1] == ' ' {
		return dst, 0, false
	}
	key := doc[p:colon]
	if !isText(key) || string(key) == "<<" {
		return dst, 0, false
	}
	dst = append(dst, '"')
	if simple {
		dst = append(dst, key...)
	} else if dst, p = copyText(dst, doc[:colon], p, '\n', '\n'); p != colon {
		return dst, 0, false
	}
	return append(dst, '"'), colon, true
}

// A keySet holds the hashes of the keys of all open mappings, the outermost first. Equal hashes are taken for equal
// keys: at worst a document goes to the full parser without need.
type keySet []uint64

// fewKeys is the number of keys up to which a new key is compared with all others at once. In larger mappings
// repeated keys are found by sorting, when the mapping ends.
const fewKeys = 16

// add adds name to the keys from index from. It reports false if the name is there already.
func (s keySet) add(from int, name []byte) (keySet, bool) {
	h := hash(name)
	if len(s)-from < fewKeys {
		for _, k := range s[from:] {
			if k == h {
				return s, false
			}
		}
	}
	return append(s, h), true
}

// drop removes the keys from index from. It reports false if two of them are equal.
func (s keySet) drop(from int) (keySet, bool) {
	keys := s[from:]
	if len(keys) > fewKeys {
		slices.Sort(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				return s, false
			}
		}
	}
	return s[:from], true
}

// hash mixes all bytes of a key. Its step is one-to-one, so keys of one length up to eight bytes never collide.
func hash(b []byte) uint64 {
	const m = 0x9e3779b97f4a7c15
	h := uint64(len(b)) * m
	for ; len(b) > 8; b = b[8:] {
		h = bits.RotateLeft64((h^binary.LittleEndian.Uint64(b))*m, 29)
	}
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return bits.RotateLeft64((h^w)*m, 29)
}
