package extension

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// TestWanted packs a revision and unpacks it.
func TestWanted(t *testing.T) {
	object := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "K", "metadata": map[string]any{"name": name}, "n": int64(1), "f": 0.5, "l": []any{nil, true, "<"}}}
	}
	want := rollout.Revision{
		Owner: "a", Bundle: rollout.Bundle{Name: "a.v1"}, Deadline: time.Minute, Collision: rollout.Prevent,
		Phases: []registryv1.Phase{{Name: "crds", Objects: []*unstructured.Unstructured{object("x"), object("y")}}, {Name: "deploy", Objects: []*unstructured.Unstructured{object("z")}}},
	}
	w, err := pack(&want)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := w.unpack()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&want, got); d != "" {
			t.Fatal(d)
		}
		got.Phases[0].Objects[0].SetName("changed")
	}
}
