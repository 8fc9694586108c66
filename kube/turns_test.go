package kube

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// Writes of an object follow each other, and those of different objects do not wait.
func TestTurns(t *testing.T) {
	var turns turns
	shared, other := olm.Key{Kind: "CustomResourceDefinition", Name: "a"}, olm.Key{Kind: "CustomResourceDefinition", Name: "b"}
	first, err := turns.wait(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	second, err := turns.wait(t.Context(), other) // does not wait
	if err != nil {
		t.Fatal(err)
	}
	second()
	gone, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("gone")
	cancel(cause)
	if _, err := turns.wait(gone, shared); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
	const writers = 50
	var wg sync.WaitGroup
	inside, most, total := 0, 0, 0 // turns protect them
	for range writers {
		wg.Go(func() {
			done, err := turns.wait(t.Context(), shared)
			if err != nil {
				t.Error(err)
				return
			}
			defer done()
			inside++
			runtime.Gosched()
			most, total = max(most, inside), total+1
			inside--
		})
	}
	first()
	wg.Wait()
	if most != 1 || total != writers {
		t.Errorf("%d writes, %d of them at once: want %d, one at a time", total, most, writers)
	}
	if len(turns.busy) > 0 {
		t.Errorf("%d objects are busy after all writes", len(turns.busy))
	}
}
