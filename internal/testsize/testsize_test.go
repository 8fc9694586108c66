package testsize_test

import (
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
)

func TestOf(t *testing.T) {
	for env, want := range map[string]int{"": 1, "small": 1, "moderate": 2, "large": 3} {
		t.Setenv(testsize.Env, env)
		if got := testsize.Of(1, 2, 3); got != want {
			t.Errorf("%q is %d, want %d", env, got, want)
		}
	}
	t.Setenv(testsize.Env, "huge")
	defer func() {
		if recover() == nil {
			t.Error("an unknown size is accepted")
		}
	}()
	testsize.Of(1, 2, 3)
}
