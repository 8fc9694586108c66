package subset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
)

// Images returns the references of the images that the part needs, sorted: those of its bundles
// and their related images. A reference with a digest has no tag. Invalid references are left
// out. The findings report them, and references without a digest.
func (s *Subset) Images(ctx context.Context) ([]string, fbc.Diagnostics, error) {
	found := map[string]bool{}
	var findings fbc.Diagnostics
	for _, p := range s.Packages {
		for _, b := range p.Bundles {
			raw, err := b.handle.Raw(ctx)
			if err != nil {
				return nil, nil, fmt.Errorf("subset: bundle %q: %w", b.Name, err)
			}
			var f struct {
				Image         string `json:"image"`
				RelatedImages []struct {
					Image string `json:"image"`
				} `json:"relatedImages"`
			}
			if err := json.Unmarshal(raw, &f, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
				return nil, nil, fmt.Errorf("subset: bundle %q: %w", b.Name, err)
			}
			reported := map[string]bool{} // images: one that the bundle names twice is one finding
			add := func(path, image string) {
				d := &fbc.Diagnostic{Pos: b.handle.Pos(), Schema: fbc.SchemaBundle, Package: p.Name, Name: b.Name, Path: path}
				name, digest, isPinned := strings.Cut(image, "@")
				switch err := imageref.Check(image); {
				case err != nil:
					d.Code, d.Err = codes.Image, err
				case isPinned:
					if at := strings.LastIndex(name, ":"); at > strings.LastIndex(name, "/") {
						name = name[:at]
					}
					found[name+"@"+digest] = true
					return
				default:
					found[image] = true
					d.Code, d.Severity, d.Err = codes.BundleImageUnpinned, fbc.Warning, fmt.Errorf("image %q has no digest, so its content can change; write NAME@sha256:…", image)
				}
				if image == "" || !reported[image] {
					reported[image] = true
					findings = append(findings, d)
				}
			}
			if f.Image != "" { // a bundle may have its manifests in the catalog
				add("/image", f.Image)
			}
			for i, r := range f.RelatedImages {
				add(fmt.Sprintf("/relatedImages/%d/image", i), r.Image)
			}
		}
	}
	slices.SortFunc(findings, (*fbc.Diagnostic).Compare)
	return slices.Sorted(maps.Keys(found)), findings, nil
}
