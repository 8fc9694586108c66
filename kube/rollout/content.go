package rollout

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// maxObject is the maximum size of an object that a Secret holds compressed.
const maxObject = 10 << 20 // K89

// A fault is why a revision cannot roll out. It blocks if only a person can remove it.
type fault struct {
	blocks  bool
	message string
}

// content sets the phases of a revision to those with the objects in Secrets, and the digests
// of the phases if it has none. It returns why the phases cannot be applied, or nil.
func (w *world) content(r *Revision) *fault {
	phases, f := w.resolve(r)
	if f != nil {
		return f
	}
	r.Phases = phases
	digests := digests(phases)
	if r.Observed == nil {
		r.Observed, w.fresh[r] = digests, true
	}
	var changed []string
	for i, d := range digests {
		if i < len(r.Observed) && r.Observed[i] != d {
			changed = append(changed, fmt.Sprintf("phase %q (expected digest %s, got %s)", d.Phase, r.Observed[i].Digest, d.Digest))
		}
	}
	switch {
	case len(digests) != len(r.Observed):
		return &fault{true, fmt.Sprintf("number of phases has changed (expected %d phases, got %d)", len(r.Observed), len(digests))}
	case len(changed) > 0: // K90
		return &fault{true, fmt.Sprintf("resolved content of %d phase(s) has changed: %s; a referenced object source may have been deleted and recreated with different content", len(changed), strings.Join(changed, "; "))}
	}
	if problems := invalid(phases); len(problems) > 0 { // K88
		return &fault{false, "revision validation error: " + strings.Join(problems, "; ")}
	}
	return nil
}

// resolve returns the phases with the objects in Secrets.
func (w *world) resolve(r *Revision) ([]registryv1.Phase, *fault) { // K89
	if r.Unreadable != "" {
		return nil, &fault{false, r.Unreadable}
	}
	var missing, mutable, broken []string
	note := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	out := make([]registryv1.Phase, len(r.Phases))
	for i, p := range r.Phases {
		out[i] = registryv1.Phase{Name: p.Name, Objects: slices.Clone(p.Objects)}
		for n, o := range p.Objects {
			if o != nil {
				continue
			}
			ref := r.Refs[i][n]
			name := ref.Namespace + "/" + ref.Name
			secret := w.secrets[name]
			switch {
			case secret == nil:
				note(&missing, name)
			case secret.Immutable == nil || !*secret.Immutable:
				note(&mutable, name)
			default:
				o, err := unpack(secret, ref.Key)
				if err != nil {
					note(&broken, fmt.Sprintf("Secret %s: %v", name, err))
				}
				out[i].Objects[n] = o
			}
		}
	}
	for _, list := range [][]string{missing, mutable, broken} {
		slices.Sort(list)
	}
	switch {
	case len(mutable) > 0:
		return nil, &fault{true, "the following secrets are not immutable (referenced secrets must have immutable set to true): " + strings.Join(mutable, ", ")}
	case len(missing) > 0:
		return nil, &fault{false, "Secrets that hold objects of the revision do not exist: " + strings.Join(missing, ", ")}
	case len(broken) > 0:
		return nil, &fault{true, strings.Join(broken, "; ")}
	}
	return out, nil
}

// unpack returns the object at a key of a Secret.
func unpack(s *corev1.Secret, key string) (*unstructured.Unstructured, error) {
	text, ok := s.Data[key]
	if !ok {
		return nil, fmt.Errorf("missing key %q", key)
	}
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		if text, err = io.ReadAll(io.LimitReader(z, maxObject+1)); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		if len(text) > maxObject {
			return nil, fmt.Errorf("key %q: the object is larger than %d bytes", key, maxObject)
		}
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("key %q: %w", key, err)
	}
	return o, nil
}

// digests returns the digests of phases.
func digests(phases []registryv1.Phase) []Digest { // K90
	out := []Digest{}
	for _, p := range phases {
		content := struct {
			Name    string           `json:"name"`
			Objects []map[string]any `json:"objects"`
		}{Name: p.Name}
		for _, o := range p.Objects {
			content.Objects = append(content.Objects, o.Object)
		}
		text, err := json.Marshal(content)
		if err != nil {
			text = []byte(err.Error()) // an object that was read from JSON always has a JSON form
		}
		sum := sha256.Sum256(text)
		out = append(out, Digest{p.Name, "sha256:" + hex.EncodeToString(sum[:])})
	}
	return out
}

// invalid returns why a revision cannot be applied, whatever is on the cluster.
func invalid(phases []registryv1.Phase) (out []string) { // K88
	seen := map[string]bool{}
	var twice []string
	for _, p := range phases {
		for _, o := range p.Objects {
			key := registryv1.Key(o)
			if seen[key] {
				twice = append(twice, key)
			}
			seen[key] = true
			meta, _, _ := unstructured.NestedMap(o.Object, "metadata")
			for _, name := range []string{"uid", "generation", "generateName", "finalizers", "ownerReferences", "resourceVersion"} {
				if _, ok := meta[name]; ok {
					out = append(out, fmt.Sprintf("%s must not have metadata.%s", key, name))
				}
			}
		}
	}
	if len(twice) > 0 {
		out = append(out, "duplicate object found in phases: "+strings.Join(twice, ", "))
	}
	return out
}
