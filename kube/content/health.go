package content

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
)

// The states of the connection to a catalog, those of gRPC as OLM writes them.
const (
	StateReady   = olm.ConnectionReady
	StateFailing = "TRANSIENT_FAILURE"
)

// The reasons in the status of a CatalogSource.
const (
	ReasonSpec     = "SpecInvalidError"
	ReasonServer   = "RegistryServerError"
	ReasonInterval = "InvalidIntervalError"
)

// A Health is how a catalog stands (E8, D14).
type Health struct {
	ID resolver.CatalogID
	// Address is where the catalog is.
	Address string
	// State is StateReady or StateFailing. Only a ready catalog can be used.
	State string
	// Reason and Message tell people what is wrong, also with a ready catalog.
	Reason, Message string
	// LastConnect is when this content was read first, or again after a failure.
	LastConnect time.Time
	// Changed reports whether this Refresh brought other content.
	Changed bool
	// Next is how long to wait for the next Refresh; 0 when only a change of the
	// CatalogSource is a reason for one.
	Next time.Duration

	err   error
	first bool // Changed is the first content
}

// Err returns why the catalog could not be read at the last attempt, or nil.
func (h Health) Err() error { return h.err }

// Apply writes a health into the status of its CatalogSource, and reports whether
// that changed it: when not, there is nothing to write. New content shows as a new
// connection, so that whoever watches CatalogSources learns of it. The time of a
// connection that stands stays as it is: each process has its own, and several
// would write theirs in turn.
//
// What the reconciliation says about a catalog image template (E8) is left alone.
func (h Health) Apply(c *olm.CatalogSource) bool {
	out := c.Status
	was := out.ConnectionState
	state := olm.ConnectionState{Address: h.Address, LastObservedState: h.State}
	if was != nil {
		state.Rest = was.Rest
	}
	stands := was != nil && was.Address == h.Address && was.LastObservedState == h.State && was.Rest["lastConnect"] != nil
	if !h.LastConnect.IsZero() && (!stands || h.Changed && !h.first) {
		state.Rest = state.Rest.With("lastConnect", []byte(strconv.Quote(h.LastConnect.UTC().Format(time.RFC3339))))
	}
	out.ConnectionState = &state
	if !templateFault(c) {
		out.Reason, out.Message = h.Reason, h.Message
	}
	same := was != nil && was.Address == state.Address && was.LastObservedState == state.LastObservedState &&
		was.Rest.String() == state.Rest.String() && out.Reason == c.Status.Reason && out.Message == c.Status.Message
	if same {
		return false
	}
	c.Status = out
	return true
}

// templateFault reports whether the status tells of a template without an image,
// which is the reconciliation's to write and to clear.
func templateFault(c *olm.CatalogSource) bool {
	return c.Metadata.Annotations[olm.AnnotationImageTemplate] != "" && c.Status.Reason == ReasonSpec
}

// reasonOf returns the reason of a fault in the CatalogSource. One with a
// template gets another one than the reconciliation would clear.
func reasonOf(c *olm.CatalogSource, err error) string {
	var spec *SpecError
	if errors.As(err, &spec) && c.Metadata.Annotations[olm.AnnotationImageTemplate] == "" {
		return ReasonSpec
	}
	return ReasonServer
}

// maxMessage bounds a message in a status: who has a thousand faults wants to see
// the first.
const maxMessage = 1500

// shorten returns the text of an error as a status shows it (S8), not longer than
// that.
func shorten(err error) string {
	text := visible.Lines(strings.TrimSpace(err.Error()))
	if len(text) <= maxMessage {
		return text
	}
	cut := text[:maxMessage]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	if i := strings.LastIndexByte(cut, '\n'); i > maxMessage/2 {
		cut = cut[:i+1]
	}
	return cut + "…"
}
