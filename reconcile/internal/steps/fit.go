package steps

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// An install plan contains the manifests of all objects that it creates, and
// etcd rejects objects larger than about 1.5 MiB. If a plan would be too large,
// its largest manifests stay in their bundle, and the steps refer to them as
// the running OLM's do. A reference contains a hash of the manifest, so that
// only what was approved is installed.

// maxSteps is the maximum size of a plan's steps and lookups in bytes of JSON. It leaves
// room for the rest of the plan and the managed fields.
const maxSteps = 1 << 20

// hashPrefix begins the names in references that this package creates.
const hashPrefix = "sha256-"

// Fit returns the steps with the largest manifests replaced by references if necessary,
// or an error if they are still too large for an install plan that has these lookups.
func (p *Builder) Fit(selected []resolver.Selected, steps []olm.Step, lookups []olm.BundleLookup) ([]olm.Step, error) {
	others, err := sizeOf(lookups)
	if err != nil {
		return nil, err
	}
	most := maxSteps - others
	size, err := sizeOf(steps)
	if err != nil || size <= most {
		return steps, err
	}
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(steps[b].Resource.Manifest), len(steps[a].Resource.Manifest))
	})
	out := slices.Clone(steps)
	for _, i := range order {
		ref, err := p.referenceTo(selected, &steps[i])
		if err != nil {
			return nil, err
		}
		if ref == "" || len(ref) >= len(steps[i].Resource.Manifest) {
			continue
		}
		out[i].Resource.Manifest = ref
		if size, err = sizeOf(out); err != nil || size <= most {
			return out, err
		}
	}
	return nil, fmt.Errorf("%s take %d bytes even without their manifests, but an install plan can hold only %d; request fewer operators at once", phrase.Count(len(steps), "step"), size+others, maxSteps)
}

func sizeOf(v any) (int, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	return len(text), err
}

// referenceTo returns a reference that can replace the manifest of a step, or
// "" if the step does not belong to a bundle.
func (p *Builder) referenceTo(selected []resolver.Selected, s *olm.Step) (string, error) {
	i := slices.IndexFunc(selected, func(x resolver.Selected) bool { return x.Name == s.Resolving })
	if i < 0 || world.IsSubscription(s.Resource) {
		return "", nil
	}
	type pkg struct {
		Type  string `json:"type"`
		Value any    `json:"value"`
	}
	properties, err := json.Marshal(map[string][]pkg{"properties": {{
		"olm.package", map[string]string{"packageName": selected[i].Package, "version": selected[i].Version},
	}}}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(olm.BundleReference{
		Kind: "ConfigMap", Name: manifestHash(s.Resource.Manifest), Namespace: p.Namespace,
		CatalogSourceName: selected[i].Catalog, CatalogSourceNamespace: selected[i].CatalogNamespace,
		Replaces: selected[i].Replaces, Properties: string(properties),
	})
	return string(text), err
}

func manifestHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// IsOther reports whether a manifest is not the one that a reference was created
// for. References by the running OLM have no hash, so for them it is false.
func IsOther(ref olm.BundleReference, manifest string) bool {
	return strings.HasPrefix(ref.Name, hashPrefix) && ref.Name != manifestHash(manifest)
}
