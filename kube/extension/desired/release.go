package desired

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// maxRelease is the maximum size of a Helm release, in bytes.
const maxRelease = 64 << 20

// ReleaseLabels are the labels of the Secrets that hold the Helm releases of an extension, in
// the namespace of operator-controller. Each names further Secrets with the rest of its release.
func ReleaseLabels(extension string) map[string]string { // K77
	return map[string]string{"owner": "operator-controller", "type": "index", "name": extension}
}

// FromReleases returns the first revision of an extension that operator-controller has installed
// as a Helm release: it has the objects of the latest release that was deployed. Secrets are
// those with the [ReleaseLabels], in any order, and part returns another Secret of their
// namespace. The result is nil if nothing was deployed.
func FromReleases(secrets []corev1.Secret, part func(name string) (*corev1.Secret, error)) (*rollout.Revision, error) { // K77
	var latest *corev1.Secret
	version := -1
	for i := range secrets {
		n, err := strconv.Atoi(secrets[i].Labels["version"])
		if err == nil && n > version && secrets[i].Labels["status"] == "deployed" {
			latest, version = &secrets[i], n
		}
	}
	if latest == nil {
		return nil, nil
	}
	r, err := fromRelease(latest, part)
	if err != nil {
		return nil, fmt.Errorf("secret %s/%s is not a Helm release: %w; without it, the extension would be installed again", latest.Namespace, latest.Name, err)
	}
	return r, nil
}

func fromRelease(index *corev1.Secret, part func(name string) (*corev1.Secret, error)) (*rollout.Revision, error) {
	var more []string
	if err := json.Unmarshal(index.Data["extraChunks"], &more); err != nil {
		return nil, fmt.Errorf("extraChunks: %w", err)
	}
	packed := bytes.Clone(index.Data["chunk"])
	for _, name := range more {
		s, err := part(name)
		if err != nil {
			return nil, err
		}
		if packed = append(packed, s.Data["chunk"]...); len(packed) > maxRelease {
			return nil, errTooLarge
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxRelease+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxRelease {
		return nil, errTooLarge
	}
	var release struct {
		Manifest string            `json:"manifest"`
		Labels   map[string]string `json:"labels"`
	}
	if err := json.Unmarshal(text, &release); err != nil {
		return nil, err
	}
	objects, err := manifests(release.Manifest)
	if err != nil {
		return nil, err
	}
	at := release.Labels
	return &rollout.Revision{
		Bundle:    rollout.Bundle{Name: at[bundleName], Package: at[packageName], Version: at[bundleVersion], Image: at[bundleReference]},
		Phases:    registryv1.SplitPhases(registryv1.Phases(objects)),
		Collision: rollout.None, Probes: rollout.DefaultProbes(), Migrated: true,
	}, nil
}

var errTooLarge = errors.New("it has more than 64 MiB")

// manifests returns the objects in the manifest of a release.
func manifests(text string) (out []*unstructured.Unstructured, err error) {
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}
