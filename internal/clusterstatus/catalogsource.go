// Package clusterstatus computes the statuses that are in the plan of no namespace: those of
// CatalogSources and of the OLMConfig. The controller writes them, and its dry run lists them.
package clusterstatus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
)

// Failing is the state of the connection to a catalog that cannot be used. OLM uses gRPC's
// names for the states.
const Failing = "TRANSIENT_FAILURE"

// The reasons in the status of a CatalogSource, as in OLM.
const (
	ReasonServer   = "RegistryServerError"
	reasonSpec     = "SpecInvalidError"
	reasonInterval = "InvalidIntervalError"
)

// Location returns where a catalog is read from: an image, or an HTTP address. The
// error explains why the spec names neither.
func Location(c *olm.CatalogSource) (image, address string, err error) {
	image, address = c.Spec.Image, c.Spec.Address
	switch {
	case c.Spec.SourceType != "" && c.Spec.SourceType != "grpc":
		return "", "", fmt.Errorf("spec.sourceType %q is not supported; set it to grpc, and either spec.image, or spec.address to where the catalog is served over HTTP", c.Spec.SourceType)
	case image != "":
		return image, "", nil
	case address == "":
		return "", "", errors.New("spec.image and spec.address are both empty; set one of them")
	case isGRPC(address):
		return "", "", fmt.Errorf("spec.address %q is the address of a gRPC registry, which is not supported; serve the catalog over HTTP with catalogd's API and give an http:// or https:// address", address)
	}
	return "", address, nil
}

// ImageAddress returns how statuses describe a catalog that is read from an image.
func ImageAddress(image string) string { return "image " + image }

// isGRPC reports whether an address is that of a gRPC server, and not of one that serves
// catalogs over HTTP.
func isGRPC(address string) bool {
	return address != "" && !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://")
}

// A Connection is what is known of the connection to a catalog.
type Connection struct {
	// Address describes where the catalog is read from.
	Address string
	// State is olm.ConnectionReady or Failing.
	State string
	// Reason and Message describe what is wrong.
	Reason, Message string
	// Since is when the content was first read, or zero. Renewed is true if it replaced
	// content that was read before.
	Since   time.Time
	Renewed bool
}

// Unreadable returns the connection to a catalog that cannot be read. If invalid, that is the
// fault of the CatalogSource.
func Unreadable(c *olm.CatalogSource, address string, err error, invalid bool) Connection {
	x := Connection{Address: address, State: Failing, Reason: ReasonServer, Message: Shorten(err)}
	if invalid && c.Metadata.Annotations[olm.AnnotationImageTemplate] == "" { // with a template, the reconciliation would clear the reason
		x.Reason = reasonSpec
	}
	return x
}

// Fault returns what is wrong with the CatalogSource of a catalog that can be read. secrets
// reports whether pull secrets are used.
func Fault(c *olm.CatalogSource, secrets bool) (reason, message string) {
	if _, err := PollInterval(c); err != nil {
		return reasonInterval, Shorten(err)
	}
	if !secrets && len(PullSecrets(c)) > 0 {
		return "", "spec.secrets is ignored: this program is not configured to read pull secrets"
	}
	return "", ""
}

// Apply writes the connection to the status of its CatalogSource and reports whether that
// changed the status. New content appears as a new connection, so that watchers of
// CatalogSources see it. Otherwise Apply keeps the time of an existing connection: each process
// connected at a different time, and several processes would overwrite each other's.
//
// If the status reports a fault in a catalog image template, Apply keeps its reason and
// message, which the plan of the namespace writes and clears (E8).
//
// If the catalog is read from an image and also has the address of a gRPC server, Apply sets
// status.registryService, without which OLM's packageserver does not read the server.
func (x Connection) Apply(c *olm.CatalogSource) bool {
	out := c.Status
	was := out.ConnectionState
	state := olm.ConnectionState{Address: x.Address, LastObservedState: x.State}
	if was != nil {
		state.Rest = was.Rest
	}
	stands := was != nil && was.Address == x.Address && was.LastObservedState == x.State && was.Rest["lastConnect"] != nil
	if !x.Since.IsZero() && (!stands || x.Renewed) {
		state.Rest = state.Rest.With("lastConnect", []byte(strconv.Quote(x.Since.UTC().Format(time.RFC3339))))
	}
	out.ConnectionState = &state
	if !templateFault(c) {
		out.Reason, out.Message = x.Reason, x.Message
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

// templateFault reports whether the status describes a template without an image.
func templateFault(c *olm.CatalogSource) bool {
	return c.Metadata.Annotations[olm.AnnotationImageTemplate] != "" && c.Status.Reason == reasonSpec
}

// defaultPoll is the polling interval that OLM uses if the CatalogSource's is invalid.
const defaultPoll = 15 * time.Minute

// PollInterval returns the polling interval of a CatalogSource, or 0 if it sets none. If the
// interval is invalid, it returns OLM's default and an error.
func PollInterval(c *olm.CatalogSource) (time.Duration, error) {
	if len(c.Spec.Rest) == 0 {
		return 0, nil
	}
	var rest struct {
		UpdateStrategy struct {
			RegistryPoll *struct {
				Interval string `json:"interval"`
			} `json:"registryPoll"`
		} `json:"updateStrategy"`
	}
	if err := c.Spec.Rest.Decode(&rest); err != nil {
		return defaultPoll, fmt.Errorf("spec.updateStrategy: %w", err)
	}
	poll := rest.UpdateStrategy.RegistryPoll
	if poll == nil || poll.Interval == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(poll.Interval)
	if err != nil || d < 0 {
		return defaultPoll, fmt.Errorf("spec.updateStrategy.registryPoll.interval %q is not a valid duration such as 30m; using %v", poll.Interval, defaultPoll)
	}
	return d, nil
}

// PullSecrets returns the names of a CatalogSource's pull secrets.
func PullSecrets(c *olm.CatalogSource) []string {
	var rest struct {
		Secrets []string `json:"secrets"`
	}
	if len(c.Spec.Rest) == 0 || c.Spec.Rest.Decode(&rest) != nil {
		return nil
	}
	return slices.DeleteFunc(rest.Secrets, func(name string) bool { return name == "" })
}

// maxMessage limits the bytes of a message in a status. If there are a thousand errors, the
// first few are enough.
const maxMessage = 1500

// Shorten returns the text of an error for a status (S8), truncated to maxMessage.
func Shorten(err error) string {
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
