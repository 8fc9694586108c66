package takeover_test

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// A recording holds the objects of clusters that ran OLM, by "<scenario>/<step>".
type recording map[string][]olm.Object

// recorded returns the recording of OLM v0.45.0, without managed fields.
func recorded(t *testing.T) recording {
	t.Helper()
	f, err := os.Open("testdata/olm-v0.45.0.json.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	var text struct {
		Snapshots map[string][]int
		Objects   []olm.Object
	}
	must(t, json.NewDecoder(z).Decode(&text))
	r := recording{}
	for name, list := range text.Snapshots {
		for _, i := range list {
			r[name] = append(r[name], text.Objects[i])
		}
	}
	return r
}

// names returns the names of the snapshots, in order.
func (r recording) names() []string { return slices.Sorted(maps.Keys(r)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
