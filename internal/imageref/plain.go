package imageref

import "strings"

// plain reports whether image is a reference in the usual form, with a host name, components
// of lower-case letters and digits, and perhaps a tag and a SHA-256 digest. Check needs no
// parser, which is slow, for it. Other references may be valid, too.
func plain(image string) bool {
	const most = 200 // shorter than all limits, even if the parser adds to the name
	if len(image) > most {
		return false
	}
	name, digest, ok := strings.Cut(image, "@")
	if ok && !(len(digest) == len("sha256:")+64 && strings.HasPrefix(digest, "sha256:") && only(digest[len("sha256:"):], hex)) {
		return false
	}
	slash := strings.LastIndexByte(name, '/')
	if colon := strings.LastIndexByte(name, ':'); colon > slash {
		tag := name[colon+1:]
		if tag == "" || len(tag) > 128 || tag[0] == '.' || tag[0] == '-' || !only(tag, inTag) {
			return false
		}
		name = name[:colon]
	}
	host, path, ok := strings.Cut(name, "/")
	if !ok || !strings.Contains(host, ".") || !words(host, false) {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if !words(part, true) {
			return false
		}
	}
	return true
}

// words reports whether s is words of lower-case letters and digits, separated by single dots
// and dashes, and underscores if those are allowed.
func words(s string, underscores bool) bool {
	inWord := false
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			inWord = true
		case inWord && (c == '.' || c == '-' || c == '_' && underscores):
			inWord = false
		default:
			return false
		}
	}
	return inWord
}

func only(s string, allowed func(byte) bool) bool {
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return true
}

func hex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func inTag(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '.' || c == '-'
}
