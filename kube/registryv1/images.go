package registryv1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// relatedImagePrefix starts the names of variables that hold the images of operands.
const relatedImagePrefix = "RELATED_IMAGE_"

// An Image is a reference to an image in the CSV of a bundle.
type Image struct {
	Reference string
	// Path is the place of the reference in the CSV, for [Manifest.At].
	Path []any
	// Related is true for an entry of spec.relatedImages.
	Related bool
}

// Images returns the images that the CSV refers to: first its related images, then those
// of the containers of each deployment, with the images in variables whose names start
// with RELATED_IMAGE_. A reference can occur several times.
func (b *Bundle) Images() (out []Image) {
	csv := b.CSV()
	for i, r := range csv.Spec.RelatedImages {
		out = append(out, Image{r.Image, []any{"spec", "relatedImages", i, "image"}, true})
	}
	for i, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		pod := []any{"spec", "install", "spec", "deployments", i, "spec", "template", "spec"}
		spec := &d.Spec.Template.Spec
		for _, list := range []struct {
			field      string
			containers []corev1.Container
		}{{"containers", spec.Containers}, {"initContainers", spec.InitContainers}} {
			for j, c := range list.containers {
				at := append(slices.Clip(pod), list.field, j)
				out = append(out, Image{c.Image, append(slices.Clip(at), "image"), false})
				for k, e := range c.Env {
					if strings.HasPrefix(e.Name, relatedImagePrefix) && e.Value != "" {
						out = append(out, Image{e.Value, append(slices.Clip(at), "env", k, "value"), false})
					}
				}
			}
		}
	}
	return out
}
