package reconcile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// For any objects, and any recorded state of a plan or a CSV, Decide does not panic, is
// deterministic, and returns changes that can be applied.
func FuzzDecide(f *testing.F) {
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	var catalogs content
	for i, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		w := newWorld(f, a)
		if i == 0 {
			catalogs = w.content
		}
		if i%9 != 0 {
			continue // the engine is slow with many large inputs
		}
		for range 3 { // include intermediate states
			f.Add(stream(f, w.List()))
			s, err := w.Read(context.Background(), testNamespace)
			if err != nil {
				f.Fatal(err)
			}
			plan, err := reconcile.Decide(context.Background(), s, w.content, nil)
			if err != nil {
				f.Fatal(err)
			}
			for _, c := range plan.Changes {
				if _, err := w.Apply(context.Background(), c); err != nil {
					f.Fatal(err)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var list []olm.Object
		for line := range bytes.Lines(text) {
			var o olm.Object
			if json.Unmarshal(line, &o) == nil && o.Metadata.Name != "" {
				list = append(list, o)
			}
		}
		s, err := reconcile.NewSnapshot(testNamespace, "olm", list)
		if err != nil {
			return
		}
		s.Now, s.KubeVersion = time.Unix(1<<30, 0).UTC(), "v1.30.0"
		ctx := t.Context()
		plan, err := reconcile.Decide(ctx, s, catalogs, &reconcile.Options{NewKey: fixedKey})
		if err != nil {
			return
		}
		again, err := reconcile.Decide(ctx, s, catalogs, &reconcile.Options{NewKey: fixedKey})
		if err != nil || again.Hash() != plan.Hash() {
			t.Fatalf("decided otherwise the second time: %v", err)
		}
		c := new(memcluster.Cluster)
		for i := range list {
			if err := c.Put(&list[i]); err != nil {
				return
			}
		}
		for _, change := range plan.Changes {
			_, _ = c.Apply(ctx, change) // conflicts, because Put set new versions
		}
	})
}

// The same for objects in which random texts were exchanged, which is more realistic than a
// fuzzer's input.
func TestMutatedClusters(t *testing.T) {
	n := testsize.Of(20, 20, 2000)
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed(t), 3))
	for range n {
		a, err := txtar.ParseFile(files[r.IntN(len(files))])
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, a)
		for range 12 {
			var list []olm.Object
			for _, o := range w.List() {
				if o, ok := mutate(t, r, o); ok {
					list = append(list, o)
				}
			}
			if s, err := reconcile.NewSnapshot(testNamespace, "olm", list); err == nil {
				_, _ = reconcile.Decide(t.Context(), s, w.content, nil) // the run must end, with any result
			}
			step(t, w)
		}
	}
}

// mutate exchanges words of an object's JSON.
func mutate(t *testing.T, r *rand.Rand, o olm.Object) (out olm.Object, ok bool) {
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if r.IntN(3) > 0 {
			break
		}
		words := strings.Split(string(text), `"`)
		i, j := r.IntN(len(words)), r.IntN(len(words))
		if words[i], words[j] = words[j], words[i]; r.IntN(2) == 0 {
			words[j] = words[i]
		}
		if other := []byte(strings.Join(words, `"`)); json.Valid(other) {
			text = other
		}
	}
	return out, json.Unmarshal(text, &out) == nil
}

// step applies one plan.
func step(t *testing.T, w *world) {
	t.Helper()
	s, err := w.Read(context.Background(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := reconcile.Decide(context.Background(), s, w.content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range plan.Changes {
		if _, err := w.Apply(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func stream(f *testing.F, list []olm.Object) []byte {
	f.Helper()
	var out bytes.Buffer
	for _, o := range list {
		text, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	return out.Bytes()
}
