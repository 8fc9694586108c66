package yamljson

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// plainKeyEnd returns the position of the colon after the plain key at p, or -1 if the text at p is not a key. simple
// reports whether the key can be copied into JSON unchanged.
func plainKeyEnd(doc []byte, p int) (colon int, simple bool) {
	simple = true
	for i := p; ; i++ {
		i = nextSpecial(doc, i, ':', '#')
		if i == len(doc) {
			return -1, false
		}
		switch doc[i] {
		case ':':
			if i+1 == len(doc) || doc[i+1] == ' ' || doc[i+1] == '\n' {
				return i, simple
			}
		case '#':
			if i > p && doc[i-1] == ' ' {
				return -1, false
			}
		case '\n':
			return -1, false
		default:
			simple = false
		}
	}
}

// keyEnd returns the position of the colon after the key at p, or -1 if the node at p does not begin with a key.
// simple reports whether the key is plain and can be copied into JSON unchanged.
func keyEnd(doc []byte, p int) (colon int, simple bool) {
	switch doc[p] {
	case '"', '\'':
		end := quotedEnd(doc, p)
		if end > 0 && end < len(doc) && doc[end] == ':' &&
			(end+1 == len(doc) || doc[end+1] == ' ' || doc[end+1] == '\n') {
			return end, false
		}
		return -1, false
	case '[', '{', '|', '>':
		return -1, false
	}
	return plainKeyEnd(doc, p)
}

// quotedEnd returns the position after the quoted scalar at p, or -1 if it does not end on the same line.
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

// appendKey appends the key between p and colon, as found by keyEnd, as a JSON string.
func appendKey(dst, doc []byte, p, colon int, simple bool) (out []byte, ok bool) {
	if colon-p > maxKey {
		return dst, false
	}
	end := p
	switch doc[p] {
	case '"':
		dst, end, ok = appendDouble(dst, doc[:colon], p)
		return dst, ok && end == colon
	case '\'':
		dst, end, ok = appendSingle(dst, doc[:colon], p)
		return dst, ok && end == colon
	}
	key := doc[p:colon]
	if !startsPlain(doc, p) || !isText(key) || key[len(key)-1] == ' ' || string(key) == "<<" {
		return dst, false
	}
	dst = append(dst, '"')
	if simple {
		dst = append(dst, key...)
	} else if dst, end = copyText(dst, doc[:colon], p, '\n', '\n'); end != colon {
		return dst, false
	}
	return append(dst, '"'), true
}

// A keySet holds the hashes of the keys of all open mappings, the outermost first. Keys with equal hashes are treated
// as equal: at worst, a document is left to the full parser unnecessarily.
type keySet []uint64

// fewKeys is the maximum number of keys with which each new key is compared. In larger mappings, repeated keys are
// found by sorting when the mapping ends.
const fewKeys = 16

// add adds a key, given by its hash h, to the mapping f. It returns false if the mapping already has the key.
func (s keySet) add(f *frame, h uint64) (keySet, bool) {
	bit := uint64(1) << (h >> 58)
	if f.seen&bit != 0 && len(s)-f.keys < fewKeys && slices.Contains(s[f.keys:], h) {
		return s, false
	}
	f.seen |= bit
	return append(s, h), true
}

// drop removes the keys of the mapping f. It returns false if two of them are equal.
func (s keySet) drop(f *frame) (keySet, bool) {
	keys := s[f.keys:]
	if len(keys) > fewKeys {
		slices.Sort(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				return s, false
			}
		}
	}
	return s[:f.keys], true
}

// hash mixes all bytes of b. Each step is reversible, so texts of the same length up to eight bytes never collide.
func hash(b []byte) uint64 {
	const m = 0x9e3779b97f4a7c15
	h := uint64(len(b)) * m
	for ; len(b) > 8; b = b[8:] {
		h = bits.RotateLeft64((h^binary.LittleEndian.Uint64(b))*m, 29)
	}
	var w uint64
	if cap(b) >= 8 { // the usual case: b is part of a larger buffer
		w = binary.LittleEndian.Uint64(b[:8]) << (64 - 8*len(b))
	} else {
		for i := len(b) - 1; i >= 0; i-- {
			w = w<<8 | uint64(b[i])
		}
		w <<= 64 - 8*len(b)
	}
	return bits.RotateLeft64((h^w)*m, 29)
}
