package content

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/internal/flight"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
)

// Options adjust a store. A nil *Options means all defaults.
type Options struct {
	Sources Sources
	// Bundles pulls bundle images, for catalogs that do not carry manifests.
	// Without it, their bundles cannot be installed.
	Bundles *oci.Puller
	// Interval is how often catalogs are looked at whose CatalogSource does not
	// say. Images with a tag are then not looked at again, as in OLM. Default:
	// 5 minutes.
	Interval time.Duration
	// Grace is how long the last content stands in when a catalog cannot be read
	// any more. Default: 15 minutes. Negative: not at all.
	Grace time.Duration
	// Patience is how long resolution waits for the first reading of a catalog. One
	// that takes longer is unhealthy until it has been read (D14): then resolution
	// waits for it, and not all else that namespaces need. Default: 30 seconds.
	Patience time.Duration
	// Budget bounds the memory of the catalogs of all tenants together, by
	// graph.Catalog.MemorySize; those of one namespace may take a quarter of it. A
	// catalog that exceeds it is unhealthy. Default: 256 MiB. Negative: no bound.
	Budget int64
	// Manifests bounds the manifests of bundles that stay at hand, in bytes of
	// JSON: a namespace is planned several times while its operators are installed.
	// Default: 64 MiB. Negative: none do.
	Manifests int64
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// The pauses after a failed refresh: the first, and the longest.
const (
	firstPause   = 5 * time.Second
	longestPause = 2 * time.Minute
)

// A Store holds the catalogs of a cluster. It is safe for use by any number of
// goroutines.
type Store struct {
	opts    Options
	objects *objects
	shared  flight.Group[refreshKey, Health]

	mu   sync.Mutex
	held map[resolver.CatalogID]*held
	// since is when a catalog was asked for that has not been read yet.
	since map[resolver.CatalogID]time.Time
}

// A refreshKey tells refreshes apart that have nothing to share.
type refreshKey struct {
	id   resolver.CatalogID
	from string
}

// A place is where a catalog is, what pulls its bundles, and the pull secrets for
// both.
type place struct {
	source  Source
	bundles *oci.Puller
	secrets []string
}

// A held is what is known of one catalog. It is guarded by Store.mu.
type held struct {
	from string // where: another place is another catalog
	place
	snapshot *snapshot // of the last success
	read     time.Time // the last success
	since    time.Time // the first success with this content, or after a failure
	first    bool      // nothing was read before this content
	tried    time.Time // the last attempt
	failing  time.Time // the first failure since
	failures int
	err      error // of the last attempt
}

// New returns a store without catalogs. Opts may be nil.
func New(opts *Options) *Store {
	s := &Store{held: map[resolver.CatalogID]*held{}, since: map[resolver.CatalogID]time.Time{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Interval <= 0 {
		s.opts.Interval = 5 * time.Minute
	}
	if s.opts.Grace == 0 {
		s.opts.Grace = 15 * time.Minute
	}
	if s.opts.Patience <= 0 {
		s.opts.Patience = 30 * time.Second
	}
	if s.opts.Budget == 0 {
		s.opts.Budget = 256 << 20
	}
	if s.opts.Manifests == 0 {
		s.opts.Manifests = 64 << 20
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.objects = newObjects(s.opts.Manifests)
	return s
}

// Refresh reads the catalog of a CatalogSource if that is due, and returns how it
// stands. It does not modify the CatalogSource. Callers at the same time share
// the work. That a catalog cannot be read is no error: it is its health. The
// error is the cause of the context's end.
func (s *Store) Refresh(ctx context.Context, c *olm.CatalogSource) (Health, error) {
	id := idOf(c)
	source, bundles, err := s.opts.Sources.of(c, s.opts.Bundles)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.since, id)
		s.held[id] = &held{err: err, failing: s.opts.Now()}
		return Health{ID: id, State: StateFailing, Reason: reasonOf(c, err), Message: shorten(err), err: err}, nil
	}
	every, pollErr := pollOf(c)
	if _, tagged := source.(*image); every == 0 && !tagged {
		every = s.opts.Interval
	}
	h, err := s.shared.Do(ctx, refreshKey{id, source.String()}, func(ctx context.Context) (Health, error) {
		return s.refresh(ctx, id, place{source, bundles, secretsOf(c)}, every)
	})
	if err != nil {
		return Health{}, err
	}
	if h.State == StateReady && pollErr != nil && h.Message == "" {
		h.Reason, h.Message = ReasonInterval, shorten(pollErr)
	}
	if h.State == StateReady && h.Message == "" && len(secretsOf(c)) > 0 && s.opts.Sources.Secrets == nil {
		h.Message = "spec.secrets is ignored: this program does not read pull secrets"
	}
	return h, nil
}

func (s *Store) refresh(ctx context.Context, id resolver.CatalogID, at place, every time.Duration) (Health, error) {
	s.mu.Lock()
	h := s.held[id]
	switch {
	case h == nil || h.from != at.source.String():
		if h != nil {
			delete(s.since, id)
		}
		h = &held{from: at.source.String(), place: at}
		s.held[id] = h
		s.wait(id)
	case h.source == nil:
		h.place = at
	case !slices.Equal(h.secrets, at.secrets):
		h.place, h.tried = at, time.Time{} // the same place, and another right to read it
	}
	now := s.opts.Now()
	if wait := h.due(every).Sub(now); !h.tried.IsZero() && (wait > 0 || h.err == nil && every == 0) {
		defer s.mu.Unlock()
		return s.health(id, h, every, now), nil
	}
	source := h.source // which may remember something
	var last *Catalog
	if h.snapshot != nil {
		last = h.snapshot.Catalog
	}
	s.mu.Unlock()

	cat, err := source.Read(ctx, last)
	var kept *Catalog
	var fetched time.Time
	if k, ok := source.(interface {
		kept(context.Context) (*Catalog, time.Time)
	}); ok && err != nil && last == nil {
		kept, fetched = k.kept(ctx)
	}
	if ctx.Err() != nil {
		return Health{}, context.Cause(ctx)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.opts.Now()
	changed := err == nil && (h.snapshot == nil || cat != last)
	if changed {
		if err = s.exceeds(id, cat); err != nil {
			changed = false
			h.source = nil // it may hold what is not to be held
		}
	}
	if kept != nil && s.exceeds(id, kept) == nil {
		// What was read before the program started stands in as what it read itself.
		h.snapshot = &snapshot{Catalog: kept, id: id, from: h.from, size: kept.Graph.MemorySize()}
		h.read, h.since, h.first, changed = fetched, fetched, true, true
	}
	h.tried, h.err = now, err
	delete(s.since, id)
	switch {
	case err == nil:
		if changed {
			h.first = h.snapshot == nil
			h.snapshot = &snapshot{Catalog: cat, id: id, from: h.from, size: cat.Graph.MemorySize()}
		}
		if changed || h.failures > 0 {
			h.since = now
		}
		h.read, h.failing, h.failures = now, time.Time{}, 0
	default:
		if h.failures++; h.failing.IsZero() {
			h.failing = now
		}
	}
	out := s.health(id, h, every, now)
	out.Changed, out.first = changed, h.first
	return out, nil
}

// due returns when the next attempt is due.
func (h *held) due(every time.Duration) time.Time {
	if h.err == nil {
		return h.tried.Add(every)
	}
	pause := min(firstPause<<min(h.failures-1, 10), longestPause)
	var status *catalogd.StatusError
	if errors.As(h.err, &status) {
		pause = max(pause, status.RetryAfter)
	}
	return h.tried.Add(pause)
}

// health says how a catalog stands.
func (s *Store) health(id resolver.CatalogID, h *held, every time.Duration, now time.Time) Health {
	out := Health{ID: id, Address: h.from, State: StateReady, LastConnect: h.since, err: h.err}
	if h.err != nil || every > 0 {
		out.Next = max(h.due(every).Sub(now), time.Second)
	}
	switch {
	case h.err == nil:
	case s.usable(h, now):
		out.Message = shorten(fmt.Errorf("the content of %s is still used: %w", h.read.UTC().Format(time.RFC3339), h.err))
		// Come when the grace ends, so that the state is right then.
		out.Next = max(min(out.Next, h.failing.Add(s.opts.Grace).Sub(now)), time.Second)
	default:
		out.State, out.Reason, out.Message = StateFailing, ReasonServer, shorten(h.err)
	}
	return out
}

// usable reports whether what was read of a catalog may be used.
func (s *Store) usable(h *held, now time.Time) bool {
	return h.snapshot != nil && (h.err == nil || now.Sub(h.failing) < s.opts.Grace)
}

// Forget drops a catalog, whose CatalogSource is gone.
func (s *Store) Forget(id resolver.CatalogID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, id)
	delete(s.since, id)
}

// Wait takes note of a catalog that is to be read, and that others keep waiting:
// from now on Options.Patience counts.
func (s *Store) Wait(id resolver.CatalogID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[id] == nil {
		s.wait(id)
	}
}

func (s *Store) wait(id resolver.CatalogID) {
	if _, ok := s.since[id]; !ok {
		s.since[id] = s.opts.Now()
	}
}
