package recent_test

import (
	"errors"
	"testing"

	"github.com/olmkit/olmkit/kube/internal/recent"
)

func TestCache(t *testing.T) {
	var c recent.Cache[string, int]
	made := 0
	get := func(k string, size int) {
		t.Helper()
		v, err := c.Get(k, 10, func() (int, int, error) { made++; return len(k), size, nil })
		if err != nil || v != len(k) {
			t.Errorf("%s: got %d, %v", k, v, err)
		}
	}
	want := func(what string, n int) {
		t.Helper()
		if made != n {
			t.Errorf("%s: %d values were made, want %d", what, made, n)
		}
	}
	get("a", 4)
	get("bb", 4)
	get("a", 4)
	want("both fit", 2)
	get("ccc", 4) // drops the second, which was used before the first
	get("a", 4)
	get("ccc", 4)
	want("the last two fit", 3)
	get("bb", 4)
	want("the oldest was dropped", 4)
	get("large", 11)
	get("large", 11)
	want("a value larger than the limit is not kept", 6)
	get("bb", 4)
	want("and drops no other", 6)
	failure := errors.New("failure")
	for range 2 {
		if _, err := c.Get("error", 10, func() (int, int, error) { made++; return 0, 1, failure }); err != failure {
			t.Errorf("got %v", err)
		}
	}
	want("errors are not kept", 8)
}
