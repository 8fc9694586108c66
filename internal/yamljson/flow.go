package yamljson

// maxFlowDepth limits nesting of flow collections, which appendFlow reads recursively.
const maxFlowDepth = 64

// appendFlow appends the flow collection at p and returns the position after it. It reads collections that end on the
// same line and contain only quoted scalars and simple plain scalars.
func appendFlow(dst, doc []byte, p int) (out []byte, next int, ok bool) {
	if p+1 < len(doc) && doc[p+1] == doc[p]+2 { // the common [] and {}
		return append(dst, doc[p], doc[p+1]), p + 2, true
	}
	line := doc[:nextLine(doc, p)]
	return appendFlowNode(dst, line, p, 0)
}

func appendFlowNode(dst, line []byte, p, depth int) (out []byte, next int, ok bool) {
	if p == len(line) || depth > maxFlowDepth {
		return dst, 0, false
	}
	switch line[p] {
	case '"':
		return appendDouble(dst, line, p)
	case '\'':
		return appendSingle(dst, line, p)
	case '[':
		return appendFlowSequence(dst, line, p, depth)
	case '{':
		return appendFlowMapping(dst, line, p, depth)
	}
	end := flowPlainEnd(line, p)
	if end == p {
		return dst, 0, false
	}
	out, _, _, ok = appendPlain(dst, line[:end], p, 0)
	return out, end, ok
}

func appendFlowSequence(dst, line []byte, p, depth int) (out []byte, next int, ok bool) {
	dst = append(dst, '[')
	if p = skipSpaces(line, p+1); p < len(line) && line[p] == ']' {
		return append(dst, ']'), p + 1, true
	}
	for {
		if dst, p, ok = appendFlowNode(dst, line, p, depth+1); !ok {
			return dst, 0, false
		}
		if p = skipSpaces(line, p); p == len(line) {
			return dst, 0, false
		}
		switch line[p] {
		case ']':
			return append(dst, ']'), p + 1, true
		case ',':
			dst = append(dst, ',')
			p = skipSpaces(line, p+1)
		default:
			return dst, 0, false
		}
	}
}

func appendFlowMapping(dst, line []byte, p, depth int) (out []byte, next int, ok bool) {
	dst = append(dst, '{')
	if p = skipSpaces(line, p+1); p < len(line) && line[p] == '}' {
		return append(dst, '}'), p + 1, true
	}
	var hashes [8]uint64
	keys := keySet(hashes[:0])
	var f frame
	for {
		if p == len(line) || line[p] == '[' || line[p] == '{' {
			return dst, 0, false
		}
		key, start := p, len(dst)+1
		if dst, p, ok = appendFlowNode(dst, line, p, depth+1); !ok || p-key > maxKey || dst[start-1] != '"' {
			return dst, 0, false
		}
		name := dst[start : len(dst)-1]
		if keys, ok = keys.add(&f, hash(name)); !ok {
			return dst, 0, false
		}
		if p == len(line) || line[p] != ':' {
			return dst, 0, false
		}
		dst = append(dst, ':')
		p = skipSpaces(line, p+1)
		if dst, p, ok = appendFlowNode(dst, line, p, depth+1); !ok {
			return dst, 0, false
		}
		if p = skipSpaces(line, p); p == len(line) {
			return dst, 0, false
		}
		switch line[p] {
		case '}':
			_, ok = keys.drop(&f)
			return append(dst, '}'), p + 1, ok
		case ',':
			dst = append(dst, ',')
			p = skipSpaces(line, p+1)
		default:
			return dst, 0, false
		}
	}
}

// flowPlainEnd returns the end of the plain scalar at p in a flow collection, or p if there is no simple one.
func flowPlainEnd(line []byte, p int) int {
	end := p
	for i := p; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' && i > p:
			continue
		case c == ',' || c == ']' || c == '}':
			return end
		case c == ':':
			if i == p || i+1 == len(line) {
				return p
			}
			if line[i+1] == ' ' && end == i {
				return end
			}
			if !flowByte(line[i+1]) {
				return p
			}
		case !flowByte(c) && (i == p || c != '-' && c != '+' && c != '=' && c != '@'):
			if c != '-' && c != '+' || i+1 == len(line) || !flowByte(line[i+1]) {
				return p
			}
		}
		end = i + 1
	}
	return p
}

// flowByte reports whether c has no special meaning anywhere in a plain scalar.
func flowByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' || c == '~'
}
