package bundlelint

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
)

// relatedImagePrefix starts the names of variables that hold the images of operands.
const relatedImagePrefix = "RELATED_IMAGE_"

// images checks K216 and K217: images are valid and pinned, and relatedImages lists the
// images that deployments use.
func (l *linter) images() {
	related := map[string]bool{}
	for i, r := range l.csv.Object.Spec.RelatedImages {
		if !related[r.Image] {
			l.image(r.Image, l.csv.At("spec", "relatedImages", i, "image"))
		}
		related[r.Image] = true
	}
	seen := map[string]bool{}
	use := func(image string, path []any) {
		if seen[image] || related[image] { // a related image was checked at its entry in relatedImages
			return
		}
		seen[image] = true
		if at := l.csv.At(path...); l.image(image, at) {
			l.report(codes.BundleImageUnlisted, at, "image %q is not in spec.relatedImages; mirrors of the catalog may lack it", image)
		}
	}
	for i, d := range l.csv.Object.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		pod := []any{"spec", "install", "spec", "deployments", i, "spec", "template", "spec"}
		spec := &d.Spec.Template.Spec
		for _, list := range []struct {
			field      string
			containers []corev1.Container
		}{{"containers", spec.Containers}, {"initContainers", spec.InitContainers}} {
			for j, c := range list.containers {
				path := append(pod[:len(pod):len(pod)], list.field, j)
				use(c.Image, append(path[:len(path):len(path)], "image"))
				for k, e := range c.Env {
					if strings.HasPrefix(e.Name, relatedImagePrefix) && e.Value != "" {
						use(e.Value, append(path[:len(path):len(path)], "env", k, "value"))
					}
				}
			}
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
