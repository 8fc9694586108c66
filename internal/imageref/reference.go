package imageref

import (
	"errors"
	"fmt"
	"strings"
)

// maxName is the maximum length of a name with its registry.
const maxName = 255

var (
	errFormat       = errors.New("invalid reference format")
	errTooLong      = fmt.Errorf("repository name must not be more than %d characters", maxName)
	errDigestFormat = errors.New("invalid checksum digest format")
	errDigestLength = errors.New("invalid checksum digest length")
	errDigestKind   = errors.New("unsupported digest algorithm")
)

// checkReference checks the name and the tag of a reference as github.com/distribution/reference does. Each start of a
// program that links that package compiles its regular expressions.
func checkReference(image string) error {
	if len(image) == 64 && only(image, hex) {
		return fmt.Errorf("invalid repository name (%s), cannot specify 64-byte hexadecimal strings", image)
	}
	name, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		tag := name[colon+1:]
		if tag == "" || len(tag) > 128 || tag[0] == '.' || tag[0] == '-' || !only(tag, inTag) {
			return errFormat
		}
		name = name[:colon]
	}
	registry, path, ok := strings.Cut(name, "/")
	length := len(name)
	switch {
	case !ok:
		path = name
		length += len("docker.io/library/")
	case registry != "localhost" && !strings.ContainsAny(registry, ".:"):
		path = name
		length += len("docker.io/")
	case !host(registry) && !component(registry):
		return errFormat
	case (registry == "docker.io" || registry == "index.docker.io") && !strings.Contains(path, "/"):
		length = len("docker.io/library/") + len(path)
	case registry == "index.docker.io":
		length -= len("index.")
	}
	for part := range strings.SplitSeq(path, "/") {
		if !component(part) {
			return errFormat
		}
	}
	if length > maxName {
		return errTooLong
	}
	return nil
}

// host reports whether s is a host name or an IPv4 address, perhaps with a port.
func host(s string) bool {
	name, port, ok := strings.Cut(s, ":")
	if ok && (port == "" || !only(port, digit)) {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' || !only(label, inLabel) {
			return false
		}
	}
	return true
}

// component reports whether s may be between slashes in a path.
func component(s string) bool {
	return words(s, func(between string) bool {
		return between == "." || between == "_" || between == "__" || strings.Trim(between, "-") == ""
	})
}

// checkDigest checks a digest as github.com/opencontainers/go-digest does.
func checkDigest(s string) error {
	algorithm, encoded, _ := strings.Cut(s, ":")
	size, known := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	switch separates := func(between string) bool { return len(between) == 1 && strings.Contains("+-._", between) }; {
	case algorithm == "" || encoded == "":
		return errDigestFormat
	case !known && words(algorithm, separates) && only(encoded, func(c byte) bool { return inLabel(c) || c == '=' || c == '_' }):
		return errDigestKind
	case known && len(encoded) != size:
		return errDigestLength
	case !known || !only(encoded, hex):
		return errDigestFormat
	}
	return nil
}

// words reports whether s consists of words of lower-case letters and digits, with a separator between each two.
func words(s string, separates func(between string) bool) bool {
	for {
		n := 0
		for n < len(s) && inWord(s[n]) {
			n++
		}
		if n == 0 || n == len(s) {
			return n > 0
		}
		s, n = s[n:], 0
		for n < len(s) && !inWord(s[n]) {
			n++
		}
		if !separates(s[:n]) {
			return false
		}
		s = s[n:]
	}
}

func only(s string, allowed func(byte) bool) bool {
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return true
}

func digit(c byte) bool   { return '0' <= c && c <= '9' }
func hex(c byte) bool     { return digit(c) || 'a' <= c && c <= 'f' }
func inWord(c byte) bool  { return digit(c) || 'a' <= c && c <= 'z' }
func inLabel(c byte) bool { return inWord(c) || 'A' <= c && c <= 'Z' || c == '-' }
func inTag(c byte) bool   { return inLabel(c) || c == '_' || c == '.' }
