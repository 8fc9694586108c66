package graph

import (
	"fmt"

	"github.com/blang/semver/v4"
)

// An Edge is the reason why an entry may follow an installed bundle.
type Edge int

// The kinds of edges, in the order in which they are tried.
const (
	NoEdge Edge = iota
	// Replaces: the entry's replaces names the installed bundle.
	Replaces
	// Skips: one of the entry's skips names the installed bundle.
	Skips
	// SkipRange: the entry's skipRange contains the installed version.
	SkipRange
	// SameVersion: the entry's bundle has the installed version and release under
	// any name. It applies only to OLM v1.
	SameVersion
)

// String returns the name of the field in the catalog: "replaces", "skips" or
// "skipRange". Other edges are "version" and "none".
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

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (e Edge) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts the texts of String.
func (e *Edge) UnmarshalText(text []byte) error {
	for k := NoEdge; k <= SameVersion; k++ {
		if string(text) == k.String() {
			*e = k
			return nil
		}
	}
	return fmt.Errorf("%q is not a kind of edge", text)
}

// Admits returns the edge by which the entry can follow an installed bundle with the
// name and version, or NoEdge. The installed bundle need not be in a catalog. Versions
// are not compared: a range may admit a downgrade, and an entry whose range includes
// its own version follows itself.
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
