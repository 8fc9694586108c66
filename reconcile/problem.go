package reconcile

import (
	"context"

	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/resolver"
)

// Problem returns the problem that [Decide] resolves for the namespace of a snapshot once
// no install plan is pending: its subscriptions, installed operators and catalogs. The
// notes name what the problem leaves out, such as subscriptions whose operator is still
// being installed.
//
// Content and opts are as for Decide. The error is the cause of the context, or describes
// the part of the snapshot that cannot be read.
func Problem(ctx context.Context, s *Snapshot, content Content, opts *Options) (*resolver.Problem, []Note, error) {
	if err := s.validate(); err != nil {
		return nil, nil, err
	}
	if opts == nil {
		opts = &Options{}
	}
	if content == nil {
		content = &Catalogs{} // without catalogs
	}
	p := change.New(s.Now)
	pr, err := subscription.Problem(ctx, s.world(), p, content, opts.resolutions())
	if err != nil {
		return nil, nil, err
	}
	return pr, notes(p), nil
}
