package phrase

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// Saying returns what a condition reports: its reason and message.
func Saying(c olm.Condition) string {
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

// Join returns names as a list in a sentence.
func Join(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// CountSteps returns "1 step" or "2 steps".
func CountSteps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

// maxNamed is how many objects a message names; it counts the others.
const maxNamed = 3

// Bounded returns the first names of a list, and how many more there are.
func Bounded(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return Join(names)
}

// Cause returns why a CSV is in its phase.
func Cause(c *olm.ClusterServiceVersion) string {
	return cmp.Or(Clause(c.Status.Message), string(c.Status.Reason), "its status does not give the cause")
}

// Clause returns a text without its full stop, to stand inside a sentence.
func Clause(text string) string { return strings.TrimSuffix(strings.TrimSpace(text), ".") }

// Phase returns the phase of a CSV and its message.
func Phase(c *olm.ClusterServiceVersion) string {
	phase := string(c.Status.Phase)
	if phase == "" {
		phase = "new"
	}
	if c.Status.Message != "" {
		return phase + ", " + Clause(c.Status.Message)
	}
	return phase
}

// Leaving describes what a deletion waits for.
func Leaving(h *olm.Header) string {
	if len(h.Metadata.Finalizers) == 0 {
		return "is being deleted"
	}
	return "is being deleted, but stays until its finalizers are removed: " + strings.Join(h.Metadata.Finalizers, ", ")
}
