package reconcile

import (
	"errors"

	"github.com/olmkit/olmkit/reconcile/internal/catalog"
)

// A TemplateError is why a catalog image template has no image.
type TemplateError struct {
	// Image is the template with what could be filled in.
	Image string
	// Unresolved are the variables that are unknown or have no value, in order
	// of occurrence. Without any, the result is not an image reference.
	Unresolved []string
}

// Error names what cannot be filled in, or reports that the result is not an image.
func (e *TemplateError) Error() string { return (*catalog.TemplateError)(e).Error() }

// ImageFromTemplate returns the image that the annotation olm.catalogImageTemplate means
// on a cluster of a version: the variables {kube_major_version}, {kube_minor_version} and
// {kube_patch_version} are replaced. The error is a *TemplateError.
func ImageFromTemplate(template, kubeVersion string) (string, error) { // E8
	image, err := catalog.ImageFromTemplate(template, kubeVersion)
	var e *catalog.TemplateError
	if errors.As(err, &e) {
		return "", (*TemplateError)(e)
	}
	return image, err
}
