package graph

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/manifest"
	"github.com/olmkit/olmkit/property"
)

// MinKubeVersion returns the oldest version of Kubernetes that the bundle supports: the
// minKubeVersion in olm.csv.metadata, or in the ClusterServiceVersion among the
// olm.bundle.object properties. It returns "" if the bundle states none.
//
// It reads the bundle again, as [Bundle.Raw] does.
func (b Bundle) MinKubeVersion(ctx context.Context) (string, error) {
	raw, err := b.Raw(ctx)
	if err != nil {
		return "", fmt.Errorf("minKubeVersion: %w", err)
	}
	list, err := propertiesIn(raw)
	if err != nil {
		return "", fmt.Errorf("minKubeVersion: %w", err)
	}
	type spec struct {
		MinKubeVersion string `json:"minKubeVersion"`
	}
	for _, p := range list {
		switch p.Type {
		case property.TypeCSVMetadata:
			var csv spec
			err := json.Unmarshal(p.Value, &csv)
			return csv.MinKubeVersion, err
		case property.TypeBundleObject:
			text, err := manifest.ClusterServiceVersion(ctx, p.Value)
			if err != nil {
				return "", fmt.Errorf("minKubeVersion: %w", err)
			}
			if text == nil {
				continue
			}
			var csv struct {
				Spec spec `json:"spec"`
			}
			err = json.Unmarshal(text, &csv)
			return csv.Spec.MinKubeVersion, err
		}
	}
	return "", nil
}
