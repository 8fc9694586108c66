package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
)

// A TemplateError explains why a catalog image template has no image.
type TemplateError struct {
	// Image is the template with the known variables replaced.
	Image string
	// Unresolved lists the variables that are unknown or have no value, in order of
	// occurrence. If it is empty, Image is not an image reference.
	Unresolved []string
}

// Error names the unresolved variables, or reports that the result is not an image
// reference.
func (e *TemplateError) Error() string {
	if len(e.Unresolved) > 0 {
		return fmt.Sprintf("catalog image template %q: %s cannot be resolved: want {kube_major_version}, {kube_minor_version} or {kube_patch_version}, and a known version of the cluster",
			e.Image, strings.Join(e.Unresolved, ", "))
	}
	return fmt.Sprintf("catalog image template: %q is not an image reference: want [registry/]repository[:tag][@digest]", e.Image)
}

var (
	templateVariable = lazyregexp.New(`\{[^{}]*\}`)
	imageReference   = lazyregexp.New(`^[a-zA-Z0-9]+(?:[._-]+[a-zA-Z0-9]+)*(?::[0-9]+)?(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)
)

// ImageFromTemplate returns the image that the annotation olm.catalogImageTemplate selects
// for a version of the cluster. It replaces the variables {kube_major_version},
// {kube_minor_version} and {kube_patch_version} (E8). The error is a *TemplateError.
func ImageFromTemplate(template, kubeVersion string) (string, error) {
	values := map[string]string{}
	if v, err := semver.ParseTolerant(kubeVersion); err == nil && kubeVersion != "" {
		values["{kube_major_version}"] = strconv.FormatUint(v.Major, 10)
		values["{kube_minor_version}"] = strconv.FormatUint(v.Minor, 10)
		values["{kube_patch_version}"] = strconv.FormatUint(v.Patch, 10)
	}
	var unresolved []string
	image := templateVariable().ReplaceAllStringFunc(template, func(name string) string {
		v, ok := values[name]
		if !ok {
			if !slices.Contains(unresolved, name) {
				unresolved = append(unresolved, name)
			}
			return name
		}
		return v
	})
	if len(unresolved) > 0 || !imageReference().MatchString(image) {
		return "", &TemplateError{Image: image, Unresolved: unresolved}
	}
	return image, nil
}

// The conditions of a CatalogSource with an image template.
const (
	ConditionTemplatesResolved = "TemplatesHaveResolved"
	ConditionResolvedImage     = "ResolvedImage"
)

// templates plans the images of the catalogs with image templates (E8).
func (p *planner) templates() error {
	for _, c := range p.CatalogSources {
		template := c.Metadata.Annotations[olm.AnnotationImageTemplate]
		if c.Metadata.Namespace != p.Namespace || template == "" {
			continue
		}
		image, err := ImageFromTemplate(template, p.KubeVersion)
		if err == nil && c.Spec.Image != image {
			out := *c
			out.Spec.Image = image
			if err := p.Emit(change.Update, &out, c.Key(), nil, "", "the template %q resolves to image %s in this cluster", template, image); err != nil {
				return err
			}
			continue // the next plan writes the status
		}
		if err := p.templateStatus(c, image, err); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) templateStatus(c *olm.CatalogSource, image string, failure error) error {
	resolved := olm.Condition{Type: ConditionTemplatesResolved, Status: olm.ConditionTrue, Reason: "AllTemplatesResolved", Message: "the catalog image template was resolved"}
	which := olm.Condition{Type: ConditionResolvedImage, Status: olm.ConditionTrue, Reason: "AllTemplatesResolved", Message: image}
	reason, message := "", ""
	if failure != nil {
		text := visible.Lines(failure.Error())
		if c.Spec.Image != "" {
			text += "; using spec.image " + visible.Line(c.Spec.Image)
		} else {
			// There is no spec.image to fall back to, so the catalog cannot be used.
			reason, message = "SpecInvalidError", text+"; set spec.image or fix the template"
		}
		resolved.Status, resolved.Reason, resolved.Message = olm.ConditionFalse, "UnableToResolve", text
		which.Status, which.Reason, which.Message = olm.ConditionFalse, "UnableToResolve", failure.(*TemplateError).Image
	}
	out := *c
	changed := p.SetCondition(&out.Status.Conditions, resolved)
	changed = p.SetCondition(&out.Status.Conditions, which) || changed
	if reason != "" && (out.Status.Reason != reason || out.Status.Message != message) {
		out.Status.Reason, out.Status.Message, changed = reason, message, true
	}
	if reason == "" && out.Status.Reason == "SpecInvalidError" {
		out.Status.Reason, out.Status.Message, changed = "", "", true
	}
	if !changed {
		return nil
	}
	return p.Emit(change.UpdateStatus, &out, c.Key(), nil, "E8", "%s", resolved.Message)
}
