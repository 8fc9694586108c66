package kube

import (
	"context"
	"sync"
)

// warnings are those of one call.
type warnings struct {
	mu   sync.Mutex
	text []string
}

type warningsKey struct{}

// withWarnings returns a context whose calls leave their warnings in a list.
func withWarnings(ctx context.Context) (context.Context, *warnings) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

func (w *warnings) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}

// warningHandler takes the warnings of a response to the context of its call.
type warningHandler struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	w, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != 299 || text == "" {
		return // of a read
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}
