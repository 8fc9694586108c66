package impact

import (
	"strings"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// images compares the images of the bundles (K228).
func (c *comparison) images() ([]Change, error) {
	before, after := imagesOf(c.old), imagesOf(c.new)
	var out []Change
	for _, ref := range union(before, after) {
		_, had := before[ref]
		image, has := after[ref]
		object := "image " + ref
		switch {
		case !has:
			out = append(out, safe(Removed, object, "%s is no longer used", object))
		case had:
		case !strings.Contains(ref, "@"):
			out = append(out, c.coded(codes.BundleImageUnpinned, Added, object, "", c.at(image.Path...), "%s is new and has no digest, so its content can change", object))
		default:
			out = append(out, safe(Added, object, "%s is new", object))
		}
	}
	return out, nil
}

// imagesOf returns the first occurrence of each image of a bundle.
func imagesOf(b Bundle) map[string]registryv1.Image {
	out := map[string]registryv1.Image{}
	for _, x := range b.Images() {
		if _, ok := out[x.Reference]; !ok && x.Reference != "" {
			out[x.Reference] = x
		}
	}
	return out
}
