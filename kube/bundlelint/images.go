package bundlelint

import (
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
)

// images checks K216 and K217: images are valid and pinned, and relatedImages lists the
// images that deployments use.
func (l *linter) images() {
	seen := map[string]bool{}
	for _, x := range l.bundle.Images() { // related images come first
		if seen[x.Reference] {
			continue
		}
		seen[x.Reference] = true
		if at := l.csv.At(x.Path...); l.image(x.Reference, at) && !x.Related {
			l.report(codes.BundleImageUnlisted, at, "image %q is not in spec.relatedImages; mirrors of the catalog may lack it", x.Reference)
		}
	}
}

// image reports whether an image reference is valid.
func (l *linter) image(image string, at fbc.Pos) bool {
	if err := imageref.Check(image); err != nil {
		l.report(codes.BundleImage, at, "%w", err)
		return false
	}
	if !strings.Contains(image, "@") {
		l.report(codes.BundleImageUnpinned, at, "image %q has no digest, so its content can change; write NAME@sha256:…", image)
	}
	return true
}
