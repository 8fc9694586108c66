package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/olmkit/olmkit/kube/oci"
)

// A mirrorSet is an ImageDigestMirrorSet, an ImageTagMirrorSet, or an
// ImageContentSourcePolicy, the predecessor of the first.
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

// mirrorKinds are the kinds of mirror sets.
var mirrorKinds = []string{"ImageDigestMirrorSet", "ImageTagMirrorSet", "ImageContentSourcePolicy"}

// A mirrorList merges mirror sets. Entries for the same source are merged, as on a node of
// OpenShift: if one of the entries blocks the source, it is blocked.
type mirrorList []oci.Registry

// add adds a mirror set.
func (l *mirrorList) add(s *mirrorSet) error {
	return errors.Join(
		l.entries(s.Spec.Digests, oci.Digests), l.entries(s.Spec.Policy, oci.Digests), l.entries(s.Spec.Tags, oci.Tags))
}

func (l *mirrorList) entries(entries []mirrorEntry, use oci.MirrorUse) error {
	for _, e := range entries {
		if e.Source == "" {
			return errors.New("a mirror entry has no source")
		}
		i := slices.IndexFunc(*l, func(r oci.Registry) bool { return r.Prefix == e.Source })
		if i < 0 {
			i = len(*l)
			*l = append(*l, oci.Registry{Prefix: e.Source})
		}
		r := &(*l)[i]
		switch e.Policy {
		case "", "AllowContactingSource":
		case "NeverContactSource":
			r.Blocked = true
		default:
			return fmt.Errorf("mirrorSourcePolicy %q of source %s is not AllowContactingSource or NeverContactSource", e.Policy, e.Source)
		}
		for _, m := range e.Mirrors {
			r.Mirrors = append(r.Mirrors, oci.Mirror{Location: m, Use: use})
		}
	}
	return nil
}

// readMirrorSets reads the mirror sets in a YAML file.
func readMirrorSets(name string) ([]oci.Registry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	var list mirrorList
	in, sets := yaml.NewYAMLOrJSONDecoder(io.LimitReader(f, maxMirrorSets), 4096), 0
	for {
		var doc struct {
			mirrorSet `json:",inline"`
			Items     []mirrorSet `json:"items"`
		}
		var text json.RawMessage
		if err := in.Decode(&text); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		var bad *json.UnmarshalTypeError
		if err := json.Unmarshal(text, &doc); errors.As(err, &bad) {
			if bad.Field == "" {
				return nil, errors.New("is not an object")
			}
			return nil, fmt.Errorf("field %s has a value of the wrong type, %s", strings.TrimPrefix(bad.Field, "mirrorSet."), bad.Value)
		} else if err != nil && len(text) > 0 { // a document may be empty
			return nil, err
		}
		for _, s := range append(doc.Items, doc.mirrorSet) {
			if !slices.Contains(mirrorKinds, s.Kind) {
				continue // such as a List, or another object from oc-mirror
			}
			sets++
			if err := list.add(&s); err != nil {
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
