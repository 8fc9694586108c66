// Package recording holds the states in which OLM v0.45.0 left real API servers, in the
// scenarios of package sidebyside. "make sidebyside" records them.
package recording

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/olmkit/olmkit/olm"
)

//go:embed olm-v0.45.0.json.gz
var file []byte

// A Recording holds the objects of clusters that ran OLM, without managed fields.
type Recording struct {
	// At is when the last snapshot was taken. All certificates are valid then.
	At time.Time
	// Snapshots holds objects by "<scenario>/<number>-<step>".
	Snapshots map[string][]olm.Object
}

// Names returns the names of the snapshots, in order.
func (r *Recording) Names() []string { return slices.Sorted(maps.Keys(r.Snapshots)) }

// document is the content of the file: snapshots share objects that do not change.
type document struct {
	At        time.Time        `json:"at"`
	Snapshots map[string][]int `json:"snapshots"`
	Objects   []olm.Object     `json:"objects"`
}

// Read returns the committed recording.
func Read() (*Recording, error) {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.NewDecoder(z).Decode(&d); err != nil {
		return nil, err
	}
	r := &Recording{At: d.At, Snapshots: map[string][]olm.Object{}}
	for name, list := range d.Snapshots {
		for _, i := range list {
			if i < 0 || i >= len(d.Objects) {
				return nil, fmt.Errorf("snapshot %s has object %d of %d", name, i, len(d.Objects))
			}
			r.Snapshots[name] = append(r.Snapshots[name], d.Objects[i])
		}
	}
	return r, nil
}

// Write writes a recording as Read expects it.
func (r *Recording) Write(w io.Writer) error {
	d := document{At: r.At, Snapshots: map[string][]int{}}
	texts := map[string][]string{} // of the objects of a snapshot
	unique := map[string]olm.Object{}
	for name, list := range r.Snapshots {
		for _, o := range list {
			text, err := o.MarshalJSON()
			if err != nil {
				return err
			}
			texts[name] = append(texts[name], string(text))
			unique[string(text)] = o
		}
	}
	index := map[string]int{}
	for i, text := range slices.Sorted(maps.Keys(unique)) { // so that similar objects are neighbors
		index[text] = i
		d.Objects = append(d.Objects, unique[text])
	}
	for name := range r.Snapshots {
		d.Snapshots[name] = []int{}
		for _, text := range texts[name] {
			d.Snapshots[name] = append(d.Snapshots[name], index[text])
		}
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(d); err != nil {
		return err
	}
	return z.Close()
}
