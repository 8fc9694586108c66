package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/olmkit/olmkit/kube/oci"
)

// A mirrorSet is an ImageDigestMirrorSet, an ImageTagMirrorSet, or an
// ImageContentSourcePolicy, which the first replaced.
type mirrorSet struct {
	Kind string `json:"kind"`
	Spec struct {
		Digests []mirrorEntry `json:"imageDigestMirrors"`
		Tags    []mirrorEntry `json:"imageTagMirrors"`
		Policy  []mirrorEntry `json:"repositoryDigestMirrors"`
	} `json:"spec"`
}

type mirrorEntry struct {
	Source  string   `json:"source"`
	Mirrors []string `json:"mirrors"`
	Policy  string   `json:"mirrorSourcePolicy"`
}

// readMirrorSets reads the mirror sets in a YAML file. The entries of one source
// become one, as on a node of OpenShift: a source is blocked if an entry blocks it.
func readMirrorSets(name string) ([]oci.Registry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	var list []oci.Registry
	at := map[string]int{}
	add := func(entries []mirrorEntry, use oci.MirrorUse) error {
		for _, e := range entries {
			if e.Source == "" {
				return errors.New("a mirror entry has no source")
			}
			i, ok := at[e.Source]
			if !ok {
				i, at[e.Source] = len(list), len(list)
				list = append(list, oci.Registry{Prefix: e.Source})
			}
			switch e.Policy {
			case "", "AllowContactingSource":
			case "NeverContactSource":
				list[i].Blocked = true
			default:
				return fmt.Errorf("mirrorSourcePolicy %q of source %s is not AllowContactingSource or NeverContactSource", e.Policy, e.Source)
			}
			for _, m := range e.Mirrors {
				list[i].Mirrors = append(list[i].Mirrors, oci.Mirror{Location: m, Use: use})
			}
		}
		return nil
	}
	in, sets := yaml.NewYAMLOrJSONDecoder(io.LimitReader(f, maxMirrorSets), 4096), 0
	for {
		var doc struct {
			mirrorSet `json:",inline"`
			Items     []mirrorSet `json:"items"`
		}
		if err := in.Decode(&doc); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		for _, s := range append(doc.Items, doc.mirrorSet) {
			if s.Kind != "ImageDigestMirrorSet" && s.Kind != "ImageTagMirrorSet" && s.Kind != "ImageContentSourcePolicy" {
				continue // such as a List, or what else oc-mirror writes
			}
			sets++
			err := errors.Join(add(s.Spec.Digests, oci.Digests), add(s.Spec.Policy, oci.Digests), add(s.Spec.Tags, oci.Tags))
			if err != nil {
				return nil, err
			}
		}
	}
	if sets == 0 {
		return nil, errors.New("contains no ImageDigestMirrorSet, ImageTagMirrorSet or ImageContentSourcePolicy")
	}
	return list, nil
}

// maxMirrorSets limits the bytes of a file of mirror sets.
const maxMirrorSets = 16 << 20
