package content

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/internal/flight"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// Options configure a Store. A nil *Options means all defaults.
type Options struct {
	Sources Sources
	// Bundles pulls the images of bundles whose manifests are not in the
	// catalog. If nil, such bundles cannot be installed.
	Bundles *oci.Puller
	// Interval is how often to check catalogs whose CatalogSource sets no
	// interval. It does not apply to images, which are then not checked again,
	// as in OLM. Default: 5 minutes.
	Interval time.Duration
	// Grace is how long the last content stays in use after a catalog becomes
	// unreadable. Default: 15 minutes. Negative: not at all.
	Grace time.Duration
	// Patience is how long resolution waits for the first read of a catalog.
	// After that the catalog is unhealthy until it has been read: resolution
	// still waits for it, but other work in the namespaces continues. Default:
	// 30 seconds.
	Patience time.Duration
	// Budget limits the total memory of tenants' catalogs, measured by
	// graph.Catalog.MemorySize. Each namespace may use a quarter of it. A
	// catalog that exceeds the budget is unhealthy. Default: 256 MiB. Negative:
	// no limit.
	Budget int64
	// Manifests limits the cached manifests of bundles, in bytes of JSON. A
	// namespace is planned several times while its operators are installed.
	// Default: 64 MiB. Negative: no cache.
	Manifests int64
	// Now returns the current time. Default: time.Now.
	Now func() time.Time
}

// The pauses after a failed refresh: the first, and the longest.
const (
	firstPause   = 5 * time.Second
	longestPause = 2 * time.Minute
)

// A Store holds the catalogs of a cluster. It is safe for concurrent use.
type Store struct {
	opts    Options
	objects *objects
	shared  flight.Group[refreshKey, Health]

	mu   sync.Mutex
	held map[resolver.CatalogID]*held
	// since is when a catalog that has not been read yet was first requested.
	since map[resolver.CatalogID]time.Time
}

// A refreshKey identifies refreshes that can be shared.
type refreshKey struct {
	id   resolver.CatalogID
	from string
}

// A place is where a catalog is read from: its source, the puller of its
// bundles, and the pull secrets of both.
type place struct {
	source  Source
	bundles *oci.Puller
	secrets []string
}

// A held is the state of one catalog. It is guarded by Store.mu.
type held struct {
	from string // the location; if it changes, the content is discarded
	place
	snapshot *snapshot // of the last success
	read     time.Time // of the last success
	since    time.Time // when this content was first read, or first read again after a failure
	first    bool      // nothing was read before this content
	tried    time.Time // of the last attempt
	failing  time.Time // when the first failure since the last success occurred
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

// Refresh reads the catalog of a CatalogSource if that is due, and returns its
// health. It does not modify the CatalogSource. Concurrent calls share the
// work. A catalog that cannot be read is not an error: the Health describes it.
// The error is the cause of the context's end.
func (s *Store) Refresh(ctx context.Context, c *olm.CatalogSource) (Health, error) {
	id := idOf(c)
	source, bundles, err := s.opts.Sources.of(c, s.opts.Bundles)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.since, id)
		s.held[id] = &held{err: err, failing: s.opts.Now()}
		var spec *SpecError
		x := clusterstatus.Unreadable(c, "", err, errors.As(err, &spec))
		return Health{ID: id, State: x.State, Reason: x.Reason, Message: x.Message, err: err}, nil
	}
	every, _ := clusterstatus.PollInterval(c)
	if _, tagged := source.(*image); every == 0 && !tagged {
		every = s.opts.Interval
	}
	h, err := s.shared.Do(ctx, refreshKey{id, source.String()}, func(ctx context.Context) (Health, error) {
		return s.refresh(ctx, id, place{source, bundles, clusterstatus.PullSecrets(c)}, every)
	})
	if err != nil {
		return Health{}, err
	}
	if h.State == StateReady && h.Message == "" {
		h.Reason, h.Message = clusterstatus.Fault(c, s.opts.Sources.Secrets != nil)
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
		h.place, h.tried = at, time.Time{} // same location, different credentials
	}
	now := s.opts.Now()
	if wait := h.due(every).Sub(now); !h.tried.IsZero() && (wait > 0 || h.err == nil && every == 0) {
		defer s.mu.Unlock()
		return s.health(id, h, every, now), nil
	}
	source := h.source // keep the existing source, which may have a cache
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
			h.source = nil // free the source's cache
		}
	}
	if kept != nil && s.exceeds(id, kept) == nil {
		// Use the content that an earlier process read as if this process had
		// read it.
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

// health returns the health of a catalog.
func (s *Store) health(id resolver.CatalogID, h *held, every time.Duration, now time.Time) Health {
	out := Health{ID: id, Address: h.from, State: StateReady, LastConnect: h.since, err: h.err}
	if h.err != nil || every > 0 {
		out.Next = max(h.due(every).Sub(now), time.Second)
	}
	switch {
	case h.err == nil:
	case s.usable(h, now):
		out.Message = clusterstatus.Shorten(fmt.Errorf("still using the content of %s: %w", h.read.UTC().Format(time.RFC3339), h.err))
		// Refresh again when the grace period ends, to update the state.
		out.Next = max(min(out.Next, h.failing.Add(s.opts.Grace).Sub(now)), time.Second)
	default:
		out.State, out.Reason, out.Message = StateFailing, clusterstatus.ReasonServer, clusterstatus.Shorten(h.err)
	}
	return out
}

// usable reports whether the last content of a catalog may be used.
func (s *Store) usable(h *held, now time.Time) bool {
	return h.snapshot != nil && (h.err == nil || now.Sub(h.failing) < s.opts.Grace)
}

// Forget removes a catalog whose CatalogSource was deleted.
func (s *Store) Forget(id resolver.CatalogID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, id)
	delete(s.since, id)
}

// Wait records that a catalog is waiting to be read. The wait that
// Options.Patience limits starts now.
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
