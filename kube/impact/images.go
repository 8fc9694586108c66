package impact

import (
	"strings"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// images compares the images of the bundles (K228).
func (c *comparison) images() ([]Change, error) {
	before, after := imagesOf(c.old), imagesOf(c.new)
	floating := map[string]bool{} // the repositories whose images had no digest before
	for ref := range before {
		if !strings.Contains(ref, "@") {
			floating[repository(ref)] = true
		}
	}
	var out []Change
	for _, ref := range union(before, after) {
		image, had := before[ref]
		added, has := after[ref]
		if has {
			image = added
		}
		object := "image " + image.Reference
		switch {
		case !has:
			out = append(out, safe(Removed, object, "%s is dropped", object))
		case had:
		case imageref.Check(image.Reference) != nil:
			out = append(out, c.coded(codes.BundleImage, Added, object, "", c.at(image.Path...), "a new image cannot be pulled: %s", imageref.Check(image.Reference)))
		case !strings.Contains(ref, "@") && floating[repository(ref)]:
			out = append(out, safe(Added, object, "%s is new and has no digest, like the one before", object))
		case !strings.Contains(ref, "@"):
			out = append(out, c.coded(codes.BundleImageUnpinned, Added, object, "", c.at(image.Path...), "%s is new and has no digest, so its content can change", object))
		default:
			out = append(out, safe(Added, object, "%s is new", object))
		}
	}
	return out, nil
}

// imagesOf returns the first occurrence of each image of a bundle, by its full name.
func imagesOf(b Bundle) map[string]registryv1.Image {
	out := map[string]registryv1.Image{}
	for _, x := range b.Images() {
		ref := fullName(x.Reference)
		if _, ok := out[ref]; !ok && x.Reference != "" {
			out[ref] = x
		}
	}
	return out
}

// repository returns the repository of a reference without a digest.
func repository(ref string) string {
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		return ref[:i]
	}
	return ref
}

// fullName returns a reference with its registry.
func fullName(ref string) string {
	const hub = "docker.io/"
	registry, rest, ok := strings.Cut(ref, "/")
	switch {
	case !ok:
		return hub + "library/" + ref
	case registry == "index.docker.io" || registry == "docker.io":
		if strings.Contains(rest, "/") {
			return hub + rest
		}
		return hub + "library/" + rest
	case !strings.ContainsAny(registry, ".:") && registry != "localhost":
		return hub + ref
	}
	return ref
}
