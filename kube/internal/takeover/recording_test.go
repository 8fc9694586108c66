package takeover_test

import (
	"sync"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube/internal/recording"
)

// recorded returns what OLM v0.45.0 left.
func recorded(t *testing.T) *recording.Recording {
	t.Helper()
	r, err := recording.Read()
	must(t, err)
	return r
}

// recordedAt returns when the recording was made. Its certificates are valid then.
var recordedAt = sync.OnceValue(func() time.Time {
	r, err := recording.Read()
	if err != nil {
		panic(err)
	}
	return r.At
})

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
