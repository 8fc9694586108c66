package kube

import (
	"context"
	"sync"
)

// warnings collects the API server's warnings during one call.
type warnings struct {
	mu   sync.Mutex
	text []string
}

type warningsKey struct{}

// withWarnings returns a context, and the warnings of the calls that use it.
func withWarnings(ctx context.Context) (context.Context, *warnings) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

func (w *warnings) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}

// warningHandler adds the warnings of a response to those of its context.
type warningHandler struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	w, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != 299 || text == "" {
		return // not a write
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}
