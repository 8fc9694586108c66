package testctx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/internal/testctx"
)

func TestEndsAfter(t *testing.T) {
	cause := errors.New("enough")
	for what, look := range map[string]func(context.Context) bool{
		"Err":   func(ctx context.Context) bool { return ctx.Err() != nil },
		"Cause": func(ctx context.Context) bool { return context.Cause(ctx) != nil },
		"Done": func(ctx context.Context) bool {
			select {
			case <-ctx.Done():
				return true
			default:
				return false
			}
		},
	} {
		ctx := testctx.EndsAfter(3, cause)
		for n := 1; n <= 4; n++ {
			if ended := look(ctx); ended != (n >= 3) {
				t.Errorf("%s: at look %d the context has ended: %v", what, n, ended)
			}
		}
		if got := context.Cause(ctx); got != cause {
			t.Errorf("%s: the cause is %v", what, got)
		}
	}
}
