package resolver

import (
	"context"
	"errors"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/resolver/fact"
)

// barred returns the fact that keeps a candidate from ever being chosen, or nil:
// it is prohibited (D12, H12), cannot be read (H7), lists an API twice (H26), is blocked by
// a policy (G8), or does not support the operator group (G7).
func (u *universe) barred(ctx context.Context, c cand) fact.Fact {
	if u.isInstalled(c) {
		if u.installed[c].prohibited {
			return &fact.Prohibited{Bundle: u.ref(c)}
		}
		if err := u.installed[c].repeats; err != nil && u.semantics() == PerBundle {
			return &fact.Unusable{Bundle: u.ref(c), Repeats: true, Err: err}
		}
		return nil
	}
	if f := u.unreadable(c); f != nil {
		return f
	}
	_, b := u.entry(c)
	if b.IsProhibited() {
		message, _ := b.Deprecation()
		return &fact.Prohibited{Bundle: u.ref(c), Pos: b.Pos(), Message: message}
	}
	if f := u.policyBlocks(c); f != nil {
		return f
	}
	return u.unsupported(ctx, c)
}

// unreadable returns the fact that a candidate of a catalog cannot be read, or that the
// running OLM could not use it, or nil.
func (u *universe) unreadable(c cand) *fact.Unusable {
	_, b := u.entry(c)
	if api, ok := b.RepeatedAPI(); ok && u.semantics() == PerBundle {
		return &fact.Unusable{Bundle: u.ref(c), Pos: b.Pos(), Repeats: true, Err: &repeatedError{api.String()}}
	}
	err := b.Err()
	if err == nil {
		return nil
	}
	var d *fbc.Diagnostic
	if errors.As(err, &d) {
		err = errors.New(d.Path + ": " + d.Err.Error())
	}
	return &fact.Unusable{Bundle: u.ref(c), Pos: b.Pos(), Err: err}
}
