package content

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// The connection states of a catalog. OLM uses gRPC's names for them.
const (
	StateReady   = olm.ConnectionReady
	StateFailing = "TRANSIENT_FAILURE"
)

// The reasons in the status of a CatalogSource, as in OLM.
const (
	reasonSpec     = "SpecInvalidError"
	reasonServer   = "RegistryServerError"
	reasonInterval = "InvalidIntervalError"
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
// existing connection: each process connected at a different time, and several
// processes would overwrite each other's.
//
// If the status reports a fault in a catalog image template, Apply keeps its
// reason and message, which the reconciliation writes and clears.
//
// If the catalog is read from an image and also has the address of a gRPC server, Apply
// sets status.registryService, without which OLM's packageserver does not read the server.
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
	served := c.Spec.Image != "" && isGRPC(c.Spec.Address) && out.Rest[registryService] == nil
	if served {
		out.Rest = out.Rest.With(registryService, []byte(`{"protocol":"grpc"}`))
	}
	same := !served && was != nil && was.Address == state.Address && was.LastObservedState == state.LastObservedState &&
		was.Rest.String() == state.Rest.String() && out.Reason == c.Status.Reason && out.Message == c.Status.Message
	if same {
		return false
	}
	c.Status = out
	return true
}

// registryService is the field of a status that describes the gRPC server of a catalog.
const registryService = "registryService"

// templateFault reports whether the status describes a template without an
// image, which the reconciliation writes and clears (E8).
func templateFault(c *olm.CatalogSource) bool {
	return c.Metadata.Annotations[olm.AnnotationImageTemplate] != "" && c.Status.Reason == reasonSpec
}

// reasonOf returns the reason for an invalid CatalogSource. With a template it
// avoids ReasonSpec, which the reconciliation would clear.
func reasonOf(c *olm.CatalogSource, err error) string {
	var spec *SpecError
	if errors.As(err, &spec) && c.Metadata.Annotations[olm.AnnotationImageTemplate] == "" {
		return reasonSpec
	}
	return reasonServer
}

// maxMessage limits the bytes of a message in a status. If there are a thousand
// errors, the first few are enough.
const maxMessage = 1500

// shorten returns the text of an error for a status (S8), truncated to
// maxMessage.
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
