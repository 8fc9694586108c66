package reconcile_test

import (
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// F9: an operator has one note about all other operators that are not supported in the same
// cluster, however many there are.
func TestCoTenancyNotes(t *testing.T) {
	for _, n := range []int{2, 50} {
		c := &memcluster.Cluster{}
		for i := range n {
			csv := &olm.ClusterServiceVersion{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindClusterServiceVersion, Metadata: olm.Metadata{Name: fmt.Sprintf("a.v%d", i), Namespace: fmt.Sprintf("ns-%d", i)}}}
			csv.Spec.CRDs.Owned = []olm.CRDDescription{{Name: "as.g", Version: fmt.Sprintf("v%d", i+1), Kind: "A"}, {Name: "bs.g", Version: fmt.Sprintf("v%d", i+1), Kind: "B"}}
			if err := c.Put(csv); err != nil {
				t.Fatal(err)
			}
		}
		s, err := c.Read(t.Context(), "ns-1")
		if err != nil {
			t.Fatal(err)
		}
		p, err := reconcile.Decide(t.Context(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var notes []reconcile.Note
		for _, x := range p.Notes {
			if x.Rule == "F9" {
				notes = append(notes, x)
			}
		}
		if len(notes) != 1 || notes[0].Code != reconcile.NoteAdvice {
			t.Errorf("with %d operators, the notes are %v, want one", n, notes)
		}
	}
}
