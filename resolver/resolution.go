package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A resolution is a universe with the choices of its subscriptions.
type resolution struct {
	u       *universe
	needs   *needs
	options []*need           // of each subscription
	missing map[int]fact.Fact // of subscriptions without options
	// replacedBy lists, for each candidate of a subscription, the installed operators that
	// the candidate upgrades (D11).
	replacedBy map[cand][]cand
	// busy is a lock. It is full while an explanation is being computed, because
	// explanations use and extend the caches of the resolution.
	busy chan struct{}
}

// newResolution finds what the subscriptions can choose from. The error is the
// context's.
func newResolution(ctx context.Context, u *universe) (*resolution, error) {
	n := len(u.subs)
	r := &resolution{
		u: u, needs: newNeeds(u), options: make([]*need, 0, n),
		busy: make(chan struct{}, 1),
	}
	needs := make([]need, n)
	var named map[cand]bool
	for i, s := range u.subs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		list, missing := u.options(s)
		if missing != nil {
			if r.missing == nil {
				r.missing = map[int]fact.Fact{}
			}
			r.missing[i] = missing
			r.options = append(r.options, nil)
			continue
		}
		list = u.want.meet(u, s, list)
		needs[i] = need{kind: proof.AnyOf, list: list}
		r.options = append(r.options, &needs[i])
		for _, c := range list {
			if !u.isInstalled(c) && !named[c] {
				if _, ok := u.rank(c); !ok {
					if named == nil {
						named = map[cand]bool{}
					}
					named[c] = true
					u.named = append(u.named, c)
				}
			}
			if s.current != nil && c != s.current.id && !slices.Contains(r.replacedBy[c], s.current.id) {
				if r.replacedBy == nil {
					r.replacedBy = make(map[cand][]cand, len(u.installed))
				}
				r.replacedBy[c] = append(r.replacedBy[c], s.current.id)
			}
		}
	}
	return r, nil
}

// lock waits until no other goroutine computes an explanation of the resolution.
// The error is the context's.
func (r *resolution) lock(ctx context.Context) error {
	select {
	case r.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unlock lets the next goroutine continue. It discards caches that are incomplete because a
// context ended. If part of a catalog could not be read, this becomes the error.
func (r *resolution) unlock(ctx context.Context, err *error) {
	r.u.unread(err)
	if r.u.err != nil && ctx.Err() != nil {
		r.u.err = nil
		r.needs = newNeeds(r.u)
	}
	<-r.busy
}

// interrupted returns the error that ended the work early: the context's, a limit's, or that
// of reading a catalog.
func (r *resolution) interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := r.u.err
	r.u.unread(&err)
	return err
}

// meet returns the candidates of a subscription that meet the demand. To stay at the installed
// version, which an upgrade may leave for a lower one, does not meet it.
func (w *want) meet(u *universe, s *subscription, list []cand) []cand {
	if w == nil || s.Name != w.subscription {
		return list
	}
	return slices.DeleteFunc(list, func(c cand) bool {
		r := u.ref(c)
		stays := s.current != nil && c == s.current.id
		return stays || !w.names[r.Name] && !u.Version(r).GT(w.above)
	})
}
