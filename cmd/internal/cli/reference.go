package cli

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/kube/oci"
)

// A reference names a catalog that is not at a path: an image in a registry or in
// files, or a catalog on a server.
type reference struct {
	// text is the argument, with docker:// before a bare name.
	text string
	bare bool
}

const (
	registryScheme = "docker://"
	stdinArchive   = "docker-archive:-"
)

// referenceOf parses an argument as a reference. An existing path is not a reference.
func referenceOf(arg string) (reference, bool) {
	ref, ok := looksLikeReference(arg)
	if !ok || arg == stdinPath || arg == samplePath {
		return reference{}, false
	}
	if _, err := os.Lstat(arg); err == nil {
		return reference{}, false
	}
	return ref, true
}

func isReference(arg string) bool {
	_, ok := referenceOf(arg)
	return ok
}

// looksLikeReference is like referenceOf, but does not check whether a file has the name.
func looksLikeReference(arg string) (reference, bool) {
	switch {
	case strings.HasPrefix(arg, registryScheme), isServer(arg), oci.IsFile(arg):
		return reference{text: arg}, true
	case isBareImage(arg):
		return reference{text: registryScheme + arg, bare: true}, true
	}
	return reference{}, false
}

func isServer(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// registryHost matches a host with an optional port.
var registryHost = lazyregexp.New(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]+)?$`)

// isBareImage reports whether an argument is the name of an image with its registry
// and a tag or digest.
func isBareImage(arg string) bool {
	registry, rest, ok := strings.Cut(arg, "/")
	switch {
	case !ok || strings.Trim(registry, ".") == "" || !strings.ContainsAny(rest, ":@"):
		return false
	case !strings.ContainsAny(registry, ".:") && registry != "localhost" || !registryHost().MatchString(registry):
		return false
	}
	_, err := name.ParseReference(arg)
	return err == nil
}

// base derives the name of the catalog from the last part of its repository, file name or URL.
func (r reference) base() string {
	switch {
	case r.text == stdinArchive:
		return "stdin"
	case isServer(r.text):
		return lastElem(strings.TrimSuffix(strings.TrimSuffix(r.text, "/"), "/api/v1/all"))
	}
	if image, ok := strings.CutPrefix(r.text, registryScheme); ok {
		image, _, _ = strings.Cut(image, "@")
		return withoutTag(lastElem(image))
	}
	_, file, _ := strings.Cut(r.text, ":")
	file = lastElem(filepath.ToSlash(file))
	return cmp.Or(strings.TrimSuffix(withoutTag(file), path.Ext(withoutTag(file))), file)
}

func lastElem(text string) string { return path.Base(strings.TrimRight(text, "/")) }

func withoutTag(name string) string {
	before, _, _ := strings.Cut(name, ":")
	return before
}

// dir returns the text that replaces the directory in the positions of findings.
func (r reference) dir() string {
	if _, after, ok := strings.Cut(r.text, "://"); ok {
		return strings.TrimRight(after, "/")
	}
	return r.text
}
