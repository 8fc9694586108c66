package decode

import "iter"

// Elements yields the elements of a valid list.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; {
			end, ok := skipValue(raw, i, MaxDepth)
			if !ok || !yield(raw[i:end:end]) {
				return
			}
			if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
				i = skipSpace(raw, i+1)
			}
		}
	}
}

// Members yields the members of a valid object: names, with their quotes, and values.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for i := skipSpace(raw, 1); i < len(raw) && raw[i] != '}'; {
			key, from, ok := member(raw, i)
			if !ok {
				return
			}
			end, ok := skipValue(raw, from, MaxDepth)
			if !ok || !yield(key, raw[from:end:end]) {
				return
			}
			if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
				i = skipSpace(raw, i+1)
			}
		}
	}
}
