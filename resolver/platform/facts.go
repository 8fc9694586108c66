package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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

// Kubernetes returns the minor version of Kubernetes in a version of OpenShift. It returns
// false for major versions other than 4.
func Kubernetes(platform property.MinorVersion) (property.MinorVersion, bool) {
	if platform.Major != 4 {
		return property.MinorVersion{}, false
	}
	return property.MinorVersion{Major: 1, Minor: platform.Minor + kubernetesBehind}, true
}

// kubeText returns a clause that states which Kubernetes a version of the platform runs.
func kubeText(at property.MinorVersion) string {
	kube, _ := Kubernetes(at)
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
	apis   []apiUse
}

// A RemovedAPI states when Kubernetes stopped serving a native API.
type RemovedAPI struct {
	// Since is the first version of Kubernetes that does not serve the API.
	Since property.MinorVersion
	// Instead is the API to use instead, in words. It may be empty.
	Instead string
}

// An apiUse is a native API that Kubernetes has removed, and that a bundle needs or ships
// objects of.
type apiUse struct {
	api   property.GVK
	ships bool
	RemovedAPI
}

// String returns the use as a predicate.
func (u *apiUse) String() string {
	verb := "needs"
	if u.ships {
		verb = "ships"
	}
	version := u.api.Version
	if u.api.Group != "" {
		version = u.api.Group + "/" + version
	}
	return fmt.Sprintf("%s %s %s, which Kubernetes %s and later do not serve", verb, version, u.api.Kind, u.Since)
}

// unserved returns an API that the bundle needs, or also one that it ships, and that a
// version of the platform does not serve. It returns nil if there is none.
func (f *facts) unserved(at property.MinorVersion, ships bool) *apiUse {
	kube, ok := Kubernetes(at)
	for i := range f.apis {
		if u := &f.apis[i]; ok && (ships || !u.ships) && u.Since.Compare(kube) <= 0 {
			return u
		}
	}
	return nil
}

// blocks reports whether a bundle blocks the upgrade of the platform to a version.
func (f *facts) blocks(next property.MinorVersion) bool {
	return f.maxErr != nil || f.hasMax && f.max.Compare(next) < 0
}

// unfit reports whether a bundle cannot be installed on a version of the platform: it uses an API that is not served or, with
// classic OLM, needs a newer Kubernetes or has a minimum that cannot be read. OLM v1 does not check the minimum.
func (f *facts) unfit(r graph.Reading, at property.MinorVersion) bool {
	return f.unserved(at, true) != nil || r == graph.Classic && (f.minErr != nil || f.tooNew(at))
}

// tooNew reports whether a bundle needs a newer Kubernetes than a version of the platform
// has.
func (f *facts) tooNew(at property.MinorVersion) bool {
	kube, ok := Kubernetes(at)
	return ok && f.hasMin && f.min.Compare(kube) > 0
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
type factReader struct {
	known   map[graph.Bundle]*facts
	removed func(property.GVK) (RemovedAPI, bool) // may be nil
}

// of returns the facts of a bundle. The error is that of reading its blob.
func (r factReader) of(ctx context.Context, b graph.Bundle) (*facts, error) {
	if f := r.known[b]; f != nil {
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
		csv, err := readCSV(ctx, raw)
		if text := csv.MinKubeVersion; err == nil && text != "" {
			var v semver.Version
			if v, err = semver.ParseTolerant(text); err == nil {
				f.min, f.hasMin = property.MinorVersion{Major: v.Major, Minor: v.Minor}, true
			} else {
				err = fmt.Errorf("minKubeVersion %q is not a version", text)
			}
		}
		f.minErr = err
		if err := r.apis(ctx, f, csv, raw); err != nil {
			return nil, err
		}
	}
	r.known[b] = f
	return f, nil
}

// apis sets the removed APIs that a bundle uses.
func (r factReader) apis(ctx context.Context, f *facts, csv csvFacts, raw []byte) error {
	if r.removed == nil {
		return nil
	}
	add := func(api property.GVK, ships bool) {
		if x, ok := r.removed(api); ok {
			f.apis = append(f.apis, apiUse{api, ships, x})
		}
	}
	for _, api := range csv.NativeAPIs {
		add(api, false)
	}
	var blob csvBlob
	if json.Unmarshal(raw, &blob) != nil {
		return nil // readCSV returned the error
	}
	for _, p := range blob.Properties {
		if p.Type != property.TypeBundleObject {
			continue
		}
		text, err := manifest.Object(ctx, p.Value)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var it struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err != nil || json.Unmarshal(text, &it) != nil {
			continue // not an object of Kubernetes
		}
		group, version, ok := strings.Cut(it.APIVersion, "/")
		if !ok {
			group, version = "", it.APIVersion
		}
		add(property.GVK{Group: group, Version: version, Kind: it.Kind}, true)
	}
	return nil
}

// csvFacts are the fields of a ClusterServiceVersion that matter here. olm.csv.metadata has
// them too.
type csvFacts struct {
	MinKubeVersion string         `json:"minKubeVersion"`
	NativeAPIs     []property.GVK `json:"nativeAPIs"`
}

type csvBlob struct {
	Properties []struct {
		Type  string         `json:"type"`
		Value jsontext.Value `json:"value"`
	} `json:"properties"`
}

// readCSV returns the facts of a bundle's blob: those of olm.csv.metadata, or of the
// ClusterServiceVersion among its objects.
func readCSV(ctx context.Context, raw []byte) (csvFacts, error) {
	var blob csvBlob
	if err := json.Unmarshal(raw, &blob); err != nil {
		return csvFacts{}, err
	}
	for _, p := range blob.Properties {
		switch p.Type {
		case property.TypeCSVMetadata:
			var m csvFacts
			if err := json.Unmarshal(p.Value, &m); err != nil {
				return m, fmt.Errorf("%s: %w", p.Type, err)
			}
			return m, nil
		case property.TypeBundleObject:
			text, err := manifest.ClusterServiceVersion(ctx, p.Value)
			if err != nil {
				return csvFacts{}, fmt.Errorf("%s: %w", p.Type, err)
			}
			if text == nil {
				continue
			}
			var csv struct {
				Spec csvFacts `json:"spec"`
			}
			if err := json.Unmarshal(text, &csv); err != nil {
				return csv.Spec, fmt.Errorf("%s: %w", p.Type, err)
			}
			return csv.Spec, nil
		}
	}
	return csvFacts{}, nil
}
