package registryv1

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	prefix = "olm.operatorframework.io/"

	// maxSecretData is the maximum size of the data in a Secret of a revision, in bytes
	// (K76).
	maxSecretData = 900 << 10
)

// An Owner names the ClusterExtension that objects belong to, and the package and
// version of its bundle.
type Owner struct {
	Name    string
	Package string
	Version string
}

// Labels returns the labels that every object of the owner has.
func (o Owner) Labels() map[string]string { // K74
	return map[string]string{prefix + "owner-kind": "ClusterExtension", prefix + "owner-name": o.Name}
}

// Own returns copies of phases in which every object has the labels and annotations of
// its owner.
func Own(phases []Phase, owner Owner) []Phase { // K74
	annotations := map[string]string{prefix + "package-name": owner.Package, prefix + "bundle-version": owner.Version}
	out := make([]Phase, len(phases))
	for i, p := range phases {
		out[i].Name = p.Name
		for _, o := range p.Objects {
			o = o.DeepCopy()
			o.SetLabels(with(o.GetLabels(), owner.Labels()))
			o.SetAnnotations(with(o.GetAnnotations(), annotations))
			out[i].Objects = append(out[i].Objects, o)
		}
	}
	return out
}

func with(to, from map[string]string) map[string]string {
	out := maps.Clone(from)
	for k, v := range to {
		if _, ok := from[k]; !ok {
			out[k] = v
		}
	}
	return out
}

// A Ref is the place of an object in a Secret.
type Ref struct {
	Name, Namespace, Key string
}

// A Packing holds the objects of a revision, packed into Secrets.
type Packing struct {
	Secrets []corev1.Secret // in the order of the objects
	Refs    [][]Ref         // by phase, then by object
}

// Pack puts the objects of a revision into immutable Secrets of a namespace, each with
// at most 900 KiB of data. The error is an [*Error] if an object is too large.
func Pack(phases []Phase, revision, namespace, owner string) (*Packing, error) { // K76
	out := &Packing{Refs: make([][]Ref, len(phases))}
	data, size := map[string][]byte{}, 0
	type place struct{ phase, n int }
	var open []place // the objects whose Secret has no name yet
	seal := func() {
		if len(data) == 0 {
			return
		}
		secret := newSecret(data, revision, namespace, owner)
		for _, at := range open {
			out.Refs[at.phase][at.n].Name = secret.Name
		}
		out.Secrets = append(out.Secrets, secret)
		data, size, open = map[string][]byte{}, 0, nil
	}
	var problems []Problem
	for i, p := range phases {
		for _, o := range p.Objects {
			text, err := packed(o)
			if err != nil {
				problems = append(problems, Problem{Stage: StageRevision, Code: "objectSize", Subject: Key(o), Message: err.Error()})
				continue
			}
			sum := sha256.Sum256(text)
			k := base64.RawURLEncoding.EncodeToString(sum[:])
			if _, ok := data[k]; !ok {
				if size+len(text) > maxSecretData {
					seal()
				}
				data[k] = text
				size += len(text)
			}
			open = append(open, place{i, len(out.Refs[i])})
			out.Refs[i] = append(out.Refs[i], Ref{Namespace: namespace, Key: k})
		}
	}
	if err := failure(problems); err != nil {
		return nil, err
	}
	seal()
	return out, nil
}

// packed returns an object as JSON, compressed if it is large.
func packed(o *unstructured.Unstructured) ([]byte, error) {
	text, err := json.Marshal(o.Object)
	if err != nil || len(text) <= maxSecretData {
		return text, err
	}
	var small bytes.Buffer
	w, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if small.Len() > maxSecretData {
		return nil, fmt.Errorf("%s %q has %d bytes and %d compressed; a Secret of a revision holds at most %d", o.GetKind(), o.GetName(), len(text), small.Len(), maxSecretData)
	}
	return small.Bytes(), nil
}

func newSecret(data map[string][]byte, revision, namespace, owner string) corev1.Secret {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(data)) {
		h.Write([]byte(k))
		h.Write(data[k])
	}
	immutable := true
	return corev1.Secret{
		TypeMeta: typeOf("v1", "Secret"),
		ObjectMeta: metav1.ObjectMeta{
			Name:      revision + "-" + hex.EncodeToString(h.Sum(nil)[:8]),
			Namespace: namespace,
			Labels:    map[string]string{prefix + "revision-name": revision, prefix + "owner-name": owner},
		},
		Immutable: &immutable,
		Type:      prefix + "object-data",
		Data:      data,
	}
}
