package impact

import (
	"errors"
	"testing"
)

// A recent keeps the last values, without errors.
func TestRecent(t *testing.T) {
	var r recent[int, int]
	made := 0
	get := func(k int, err error) (int, error) {
		return r.get(k, func() (int, error) { made++; return k * k, err })
	}
	if _, err := get(0, errors.New("once")); err == nil {
		t.Error("the error is lost")
	}
	for range 2 {
		for k := range maxRecent {
			if v, err := get(k, nil); v != k*k || err != nil {
				t.Errorf("%d: %d, %v", k, v, err)
			}
		}
	}
	if made != maxRecent+1 {
		t.Errorf("%d values were made", made)
	}
	get(maxRecent, nil) // in place of 0
	get(1, nil)
	get(0, nil)
	if made != maxRecent+3 || len(r.list) != maxRecent {
		t.Errorf("%d values were made, and %d kept", made, len(r.list))
	}
}
