package cli

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// refusal returns why the subscriptions cannot be resolved, or "".
func refusal(p *reconcile.Plan) string {
	if p == nil || p.Refused == nil {
		return ""
	}
	return cmp.Or(p.Refused.Error(), "refused")
}

// conflictReport returns the full explanation of why subscriptions cannot be resolved. It
// returns nil if they can, or if the reason is not a conflict.
func conflictReport(ctx context.Context, p *reconcile.Plan) (*resolver.Report, error) {
	var no *resolver.Conflict
	if p == nil || !errors.As(p.Refused, &no) {
		return nil, nil
	}
	return no.Report(ctx)
}

// writeRefusal writes why subscriptions cannot be resolved: the explanation, or the reason if
// there is none. It writes nothing if they can.
func writeRefusal(w io.Writer, reason string, r *resolver.Report) error {
	var err error
	switch {
	case r != nil:
		_, err = visible.Fprintf(w, "The subscriptions cannot be resolved:\n\n%s", visible.Block(r.Text(textWidth(w), styleFor(w))))
	case reason != "":
		_, err = visible.Fprintf(w, "The subscriptions cannot be resolved: %s\n", reason)
	}
	return err
}
