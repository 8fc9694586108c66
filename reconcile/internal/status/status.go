// Package status formats the statuses of objects for messages.
package status

import (
	"cmp"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
)

// Condition returns the reason and message of a condition.
func Condition(c olm.Condition) string {
	switch {
	case c.Message != "" && c.Reason != "":
		return c.Reason + ": " + c.Message
	case c.Message != "":
		return c.Message
	case c.Reason != "":
		return c.Reason
	}
	return c.Type + "=" + c.Status
}

// Cause returns why a CSV is in its phase.
func Cause(c *olm.ClusterServiceVersion) string {
	return cmp.Or(phrase.Clause(c.Status.Message), string(c.Status.Reason), "its status does not give the cause")
}

// Phase returns the phase of a CSV and its message.
func Phase(c *olm.ClusterServiceVersion) string {
	phase := string(c.Status.Phase)
	if phase == "" {
		phase = "new"
	}
	if c.Status.Message != "" {
		return phase + ", " + phrase.Clause(c.Status.Message)
	}
	return phase
}

// Leaving describes an object that is being deleted, and the finalizers that it
// waits for.
func Leaving(h *olm.Header) string {
	if len(h.Metadata.Finalizers) == 0 {
		return "is being deleted"
	}
	return "is being deleted, but stays until its finalizers are removed: " + strings.Join(h.Metadata.Finalizers, ", ")
}
