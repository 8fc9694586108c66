package fbc

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// The grammar of image references, from github.com/distribution/reference,
// compiled when the first one is checked: most programs check none.
var (
	imageDomain = pattern(`^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$`)
	imagePath   = pattern(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	imageTag    = pattern(`^[\w][\w.-]{0,127}$`)
	imageDigest = pattern(`^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`)
	bareID      = pattern(`^[a-f0-9]{64}$`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// checkImage returns what is wrong with an image reference such as
// "quay.io/org/name:tag" or "quay.io/org/name@sha256:…". As everywhere, the
// first part is a registry only if it has a dot or a port or is "localhost".
func checkImage(image string) error {
	rest, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !imageDigest().MatchString(digest) {
		return fmt.Errorf("image %q has an invalid digest %q; want sha256: and 64 hexadecimal digits", image, digest)
	}
	if hasDigest && strings.HasPrefix(digest, "sha256:") && len(digest) != len("sha256:")+64 {
		return fmt.Errorf("image %q has a digest of %d hexadecimal digits, want 64", image, len(digest)-len("sha256:"))
	}
	if bareID().MatchString(image) {
		return fmt.Errorf("image %q is an identifier, not a reference", image)
	}
	name := rest
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, '/') && strings.Contains(rest, "/") || i > 0 && !strings.Contains(rest, "/") {
		name = rest[:i]
		if tag := rest[i+1:]; !imageTag().MatchString(tag) {
			return fmt.Errorf("image %q has an invalid tag %q; a tag is up to 128 letters, digits, '_', '.' and '-'", image, tag)
		}
	}
	path := name
	if domain, after, ok := strings.Cut(name, "/"); ok && (strings.ContainsAny(domain, ".:") || domain == "localhost" || strings.ToLower(domain) != domain) {
		if !imageDomain().MatchString(domain) {
			return fmt.Errorf("image %q has an invalid registry %q", image, domain)
		}
		path = after
	}
	switch {
	case path == "":
		return fmt.Errorf("image %q has no name", image)
	case strings.ToLower(path) != path:
		return fmt.Errorf("image %q has upper-case letters in its name; registries only have lower-case names", image)
	case !imagePath().MatchString(path):
		return fmt.Errorf("image %q has an invalid name %q; want a reference such as quay.io/org/name:tag", image, path)
	case len(path) > 255:
		return errors.New("the name of the image has more than 255 characters")
	}
	return nil
}
