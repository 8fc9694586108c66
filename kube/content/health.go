package content

import (
	"time"

	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// The connection states of a catalog. OLM uses gRPC's names for them.
const (
	StateReady   = olm.ConnectionReady
	StateFailing = clusterstatus.Failing
)

// A Health is the state of a catalog.
type Health struct {
	ID resolver.CatalogID
	// Address describes where the catalog is read from.
	Address string
	// State is StateReady or StateFailing. Only a ready catalog can be used.
	State string
	// Reason and Message describe what is wrong. They may be set for a ready
	// catalog too.
	Reason, Message string
	// LastConnect is when this content was first read, or first read again
	// after a failure.
	LastConnect time.Time
	// Changed reports whether this Refresh changed the content.
	Changed bool
	// Next is the time until the next Refresh, or 0 if only a change to the
	// CatalogSource requires one.
	Next time.Duration

	err   error
	first bool // this is the first content
}

// Err returns the error of the last attempt to read the catalog, or nil.
func (h Health) Err() error { return h.err }

// Apply writes the health to the status of its CatalogSource and reports
// whether that changed the status. New content appears as a new connection, so
// that watchers of CatalogSources see it. Otherwise Apply keeps the time of an
// existing connection.
func (h Health) Apply(c *olm.CatalogSource) bool {
	return clusterstatus.Connection{
		Address: h.Address, State: h.State, Reason: h.Reason, Message: h.Message, Since: h.LastConnect, Renewed: h.Changed && !h.first,
	}.Apply(c)
}
