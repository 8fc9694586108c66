package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// A Reading is one of the two ways in which OLM reads the same catalog (B3, B8).
type Reading int

const (
	// Classic is OLM (v0): only entries on the chain of a channel that no other
	// entry skips are offered, the nearest to the head first (B3).
	Classic Reading = iota
	// V1 is OLM v1: every entry that replaces, skips or covers the installed
	// bundle is offered, and any bundle of its version; bundles that are not
	// deprecated first, then the highest version (B8).
	V1
)

// String returns "classic" or "v1".
func (r Reading) String() string {
	if r == V1 {
		return "v1"
	}
	return "classic"
}

// MarshalText implements encoding.TextMarshaler with the words of String.
func (r Reading) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler for the words of String.
func (r *Reading) UnmarshalText(text []byte) error {
	switch string(text) {
	case "classic":
		*r = Classic
	case "v1":
		*r = V1
	default:
		return fmt.Errorf("%q is no reading of the upgrade graph; want classic or v1", text)
	}
	return nil
}

// A Node is something that may be installed: a bundle, or a name without content
// that only edges mention (B6). It is comparable; the zero value names nothing.
type Node struct {
	Name string `json:"name"`
	// Version is a semantic version, empty when it is not known. Then only edges
	// by name lead from the node. (The running OLM takes 0.0.0; whoever wants
	// that says so.)
	Version string `json:"version,omitempty"`
}

// String returns the name, and the version where the name does not end in it.
func (n Node) String() string {
	if n.Version == "" || len(n.Name) > len(n.Version) && n.Name[len(n.Name)-len(n.Version):] == n.Version {
		return n.Name
	}
	return n.Name + " (" + n.Version + ")"
}

// A Reason is an edge of an entry of a channel that admits a step (B2).
type Reason struct {
	// Channel is empty for SameVersion.
	Channel string `json:"channel,omitempty"`
	Edge    Edge   `json:"edge"`
}

// A Step is one upgrade: what is installed, what follows it, and every reason
// that admits it, by order of channels, then kind of edge.
type Step struct {
	From    Node     `json:"from"`
	To      Node     `json:"to"`
	Reasons []Reason `json:"reasons"`
}

// String says how the edge stands in its channel: "replaces in stable".
func (r Reason) String() string {
	if r.Channel == "" {
		return r.Edge.String()
	}
	return r.Edge.String() + " in " + r.Channel
}

// Why tells the edges that admit the step, with commas between: "replaces in
// stable, skipRange in alpha".
func (s Step) Why() string {
	words := make([]string, len(s.Reasons))
	for i, r := range s.Reasons {
		words[i] = r.String()
	}
	return strings.Join(words, ", ")
}

// UpgradeOptions adjust which upgrades count. A nil *UpgradeOptions means all
// defaults.
type UpgradeOptions struct {
	// Channels are the channels that count. Names that do not exist are passed
	// over. Default: all, the default channel first, then by name. In classic, a
	// subscription names one channel; several mean that it may be changed.
	Channels []string
	// OtherEdges lets edges count that lead to a bundle of Channels in another
	// channel (B8). It only matters in OLM v1.
	OtherEdges bool
	// Installed are nodes to consider although the catalog may not know them.
	Installed []Node
	// MaxSteps bounds the reasons for steps that a package may have, so that ranges
	// that all cover everything cannot fill the memory. Default 4,000,000; more
	// make an [Upgrades.Err].
	MaxSteps int
	// Without, when set, reports bundles that are never to be chosen.
	Without func(Bundle) bool
}

// Upgrades are the upgrades within a package under one reading: its nodes and
// the steps between them. They are immutable and safe for use by any number of
// goroutines.
type Upgrades struct {
	pkg      Package
	reading  Reading
	channels []Channel
	nodes    []Node
	of       []nodeRec
	numbers  map[Node]int32
	named    map[string][]int32
	heads    []int32
	steps    []stepRec
	reasons  []reasonRec
	order    []int32 // place of each node by version in v1's order
	err      error
}

// maxSteps is the default of [UpgradeOptions.MaxSteps].
const maxSteps = 4_000_000

// Err returns why the upgrades are not known, or nil: there are more than
// [UpgradeOptions.MaxSteps]. Then there are nodes and heads, and no steps.
func (u *Upgrades) Err() error { return u.err }

// A nodeRec is what is known of a node.
type nodeRec struct {
	bundle     uint32 // 1 + number of the bundle, 0 for none
	candidate  bool   // may be chosen
	deprecated bool
	steps      span
	version    *semver.Version // nil when unknown
}

type stepRec struct {
	to      int32
	reasons span
}

type reasonRec struct {
	channel int32 // place in channels, -1 for none
	edge    Edge
}

// Upgrades returns the upgrades of a package under a reading. The nodes are the
// bundles of the channels that count, the names that their edges mention, and
// opts.Installed. A channel that cannot be used ([Channel.Err]) has no classic
// upgrades.
func (p Package) Upgrades(reading Reading, opts *UpgradeOptions) *Upgrades {
	if opts == nil {
		opts = &UpgradeOptions{}
	}
	u := &Upgrades{pkg: p, reading: reading, numbers: map[Node]int32{}, named: map[string][]int32{}}
	u.channels = p.preferred(opts.Channels)
	b := upgradeBuilder{Upgrades: u, opts: opts}
	b.addNodes()
	b.addArcs()
	b.addHeads()
	b.finish()
	return u
}

// preferred returns the named channels in that order, or all: the default
// channel first, then by name.
func (p Package) preferred(names []string) []Channel {
	var list []Channel
	add := func(ch Channel) {
		if !slices.Contains(list, ch) {
			list = append(list, ch)
		}
	}
	if names != nil {
		for _, name := range names {
			if ch, ok := p.Channel(name); ok {
				add(ch)
			}
		}
		return list
	}
	if ch, ok := p.DefaultChannel(); ok {
		add(ch)
	}
	for ch := range p.Channels() {
		add(ch)
	}
	return list
}
