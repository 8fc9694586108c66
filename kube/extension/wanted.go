package extension

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// A wanted is the revision that an extension should have. It is kept for each extension for as
// long as the controller runs, so its objects are packed: decoded, they take about fifty times as much memory.
type wanted struct {
	revision rollout.Revision // without objects
	objects  []byte           // of each phase
}

// pack returns a revision packed.
func pack(r *rollout.Revision) (*wanted, error) {
	w := &wanted{revision: *r}
	w.revision.Phases = make([]registryv1.Phase, len(r.Phases))
	objects := make([][]map[string]any, len(r.Phases))
	for i, p := range r.Phases {
		w.revision.Phases[i].Name = p.Name
		for _, o := range p.Objects {
			objects[i] = append(objects[i], o.Object)
		}
	}
	var out bytes.Buffer
	to := gzip.NewWriter(&out)
	if err := json.NewEncoder(to).Encode(objects); err != nil {
		return nil, err
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	w.objects = bytes.Clone(out.Bytes())
	return w, nil
}

// unpack returns a copy of the revision.
func (w *wanted) unpack() (*rollout.Revision, error) {
	from, err := gzip.NewReader(bytes.NewReader(w.objects))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	var phases []any
	if err := utiljson.Unmarshal(text, &phases); err != nil {
		return nil, err
	}
	r := w.revision
	r.Phases = make([]registryv1.Phase, len(phases))
	for i, p := range phases {
		r.Phases[i].Name = w.revision.Phases[i].Name
		for _, o := range p.([]any) {
			r.Phases[i].Objects = append(r.Phases[i].Objects, &unstructured.Unstructured{Object: o.(map[string]any)})
		}
	}
	return &r, nil
}
