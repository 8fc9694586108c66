package graph

import (
	"fmt"

	"github.com/blang/semver/v4"
)

// An Edge is the reason for which an entry may follow an installed bundle (B2).
type Edge int

// The kinds of edges, in the order in which they are tried.
const (
	NoEdge Edge = iota
	// Replaces: the entry's replaces names the installed bundle.
	Replaces
	// Skips: one of the entry's skips names it.
	Skips
	// SkipRange: the entry's skipRange contains its version.
	SkipRange
	// SameVersion: the entry's bundle has the installed version and release,
	// under whatever name. It only counts in OLM v1 (B8).
	SameVersion
)

// String returns the field's name in the catalog: "replaces", "skips",
// "skipRange", or else "version" or "none".
func (e Edge) String() string {
	switch e {
	case Replaces:
		return "replaces"
	case Skips:
		return "skips"
	case SkipRange:
		return "skipRange"
	case SameVersion:
		return "version"
	}
	return "none"
}

// MarshalText implements encoding.TextMarshaler with the words of String.
func (e Edge) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler for the words of String.
func (e *Edge) UnmarshalText(text []byte) error {
	for k := NoEdge; k <= SameVersion; k++ {
		if string(text) == k.String() {
			*e = k
			return nil
		}
	}
	return fmt.Errorf("%q is no kind of edge", text)
}

// Admits returns the edge by which the entry can follow an installed bundle of
// that name and version, or NoEdge (B2). A bundle in no catalog is judged in the
// same way (B6). No version is compared: a range may admit a downgrade, and an
// entry that covers its own version follows itself (H2).
func (e Entry) Admits(name string, version semver.Version) Edge {
	if name != "" && e.Replaces() == name {
		return Replaces
	}
	for s := range e.Skips() {
		if s == name && name != "" {
			return Skips
		}
	}
	if r := e.rec().skipRange; r > 0 {
		if rng, err := e.c.skipRange(r - 1); err == nil && rng.Contains(version) {
			return SkipRange
		}
	}
	return NoEdge
}
