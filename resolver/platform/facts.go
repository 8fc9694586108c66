package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/manifest"
	"github.com/olmkit/olmkit/property"
)

// kubernetesBehind is the difference between the minor versions of Kubernetes and OpenShift
// 4: 4.16 runs Kubernetes 1.29.
const kubernetesBehind = 13

// kubernetes returns the minor version of Kubernetes in a version of OpenShift. It returns
// false for major versions other than 4.
func kubernetes(platform property.MinorVersion) (property.MinorVersion, bool) {
	if platform.Major != 4 {
		return property.MinorVersion{}, false
	}
	return property.MinorVersion{Major: 1, Minor: platform.Minor + kubernetesBehind}, true
}

// kubeText returns a clause that states which Kubernetes a version of the platform runs.
func kubeText(at property.MinorVersion) string {
	kube, _ := kubernetes(at)
	return fmt.Sprintf("%s runs Kubernetes %s", at, kube)
}

// facts are the requirements of an installed bundle on the platform.
type facts struct {
	max    property.MinorVersion
	hasMax bool
	// maxErr is why the maximum cannot be read: such a bundle blocks (C7).
	maxErr error
	min    property.MinorVersion // of Kubernetes
	hasMin bool
	// minErr is why the minimum cannot be read.
	minErr error
}

// blocks reports whether a bundle blocks the upgrade of the platform to a version.
func (f *facts) blocks(next property.MinorVersion) bool {
	return f.maxErr != nil || f.hasMax && f.max.Compare(next) < 0
}

// tooNew reports whether a bundle needs a newer Kubernetes than a version of the platform
// has, or has a minimum that cannot be read.
func (f *facts) tooNew(at property.MinorVersion) bool {
	kube, ok := kubernetes(at)
	return f.minErr != nil || ok && f.hasMin && f.min.Compare(kube) > 0
}

// maxText returns why a bundle blocks the platform.
func (f *facts) maxText(name string, next property.MinorVersion) string {
	if f.maxErr != nil {
		return fmt.Sprintf("%s blocks %s: its maximum version cannot be read: %v", name, next, f.maxErr)
	}
	return fmt.Sprintf("%s blocks %s: its olm.maxOpenShiftVersion is %s", name, next, f.max)
}

// installedFacts returns the facts that an installed operator states. It returns false if
// there are none and those of the catalog count.
func installedFacts(o *Operator) (*facts, bool) {
	all := slices.Clip(o.Properties)
	var unread error
	for _, a := range []struct {
		name  string
		parse func([]byte) ([]property.Property, error)
	}{
		{property.Annotation, property.ParseList},
		{property.ProjectedAnnotation, property.ParseProjected},
	} {
		text, ok := o.Annotations[a.name]
		if !ok {
			continue
		}
		list, err := a.parse([]byte(text))
		if err != nil && unread == nil {
			unread = fmt.Errorf("annotation %s: %w", a.name, err)
		}
		all = append(all, list...)
	}
	f := &facts{}
	f.max, f.hasMax, f.maxErr = property.LowestMaxOpenShift(slices.Values(all))
	f.maxErr = cmp.Or(f.maxErr, unread)
	return f, o.Properties != nil || o.Annotations != nil
}

// A factReader reads the facts of bundles in catalogs, each once.
type factReader map[graph.Bundle]*facts

// of returns the facts of a bundle. The error is that of reading its blob.
func (r factReader) of(ctx context.Context, b graph.Bundle) (*facts, error) {
	if f := r[b]; f != nil {
		return f, nil
	}
	f := &facts{}
	f.max, f.hasMax, f.maxErr = property.LowestMaxOpenShift(b.Properties())
	heavy := false
	for p := range b.Properties() {
		heavy = heavy || p.Type == property.TypeCSVMetadata || p.Type == property.TypeBundleObject
	}
	if heavy {
		raw, err := b.Raw(ctx)
		if err != nil {
			return nil, err
		}
		text, err := minKubeVersion(ctx, raw)
		if err == nil && text != "" {
			var v semver.Version
			if v, err = semver.ParseTolerant(text); err == nil {
				f.min, f.hasMin = property.MinorVersion{Major: v.Major, Minor: v.Minor}, true
			} else {
				err = fmt.Errorf("minKubeVersion %q is not a version", text)
			}
		}
		f.minErr = err
	}
	r[b] = f
	return f, nil
}

// minKubeVersion returns the minKubeVersion of a bundle's blob: that of
// olm.csv.metadata, or of the ClusterServiceVersion among its objects.
func minKubeVersion(ctx context.Context, raw []byte) (string, error) {
	var blob struct {
		Properties []struct {
			Type  string         `json:"type"`
			Value jsontext.Value `json:"value"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(raw, &blob); err != nil {
		return "", err
	}
	for _, p := range blob.Properties {
		switch p.Type {
		case property.TypeCSVMetadata:
			var m struct {
				MinKubeVersion string `json:"minKubeVersion"`
			}
			if err := json.Unmarshal(p.Value, &m); err != nil {
				return "", fmt.Errorf("%s: %w", p.Type, err)
			}
			return m.MinKubeVersion, nil
		case property.TypeBundleObject:
			text, err := manifest.ClusterServiceVersion(ctx, p.Value)
			if err != nil {
				return "", fmt.Errorf("%s: %w", p.Type, err)
			}
			if text == nil {
				continue
			}
			var csv struct {
				Spec struct {
					MinKubeVersion string `json:"minKubeVersion"`
				} `json:"spec"`
			}
			if err := json.Unmarshal(text, &csv); err != nil {
				return "", fmt.Errorf("%s: %w", p.Type, err)
			}
			return csv.Spec.MinKubeVersion, nil
		}
	}
	return "", nil
}
