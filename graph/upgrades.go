package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/version"
)

// A Reading is one of the two ways in which OLM reads a catalog.
type Reading int

const (
	// Classic is OLM (v0). It offers the entries on the chain of a channel that no
	// other entry skips, those nearest to the head first.
	Classic Reading = iota
	// V1 is OLM v1. It offers every entry that replaces, skips or covers the installed
	// bundle, and any bundle with the same version. It prefers bundles that are not
	// deprecated, then higher versions.
	V1
)

// String returns "classic" or "v1".
func (r Reading) String() string {
	if r == V1 {
		return "v1"
	}
	return "classic"
}

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (r Reading) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts the texts of String.
func (r *Reading) UnmarshalText(text []byte) error {
	switch string(text) {
	case "classic":
		*r = Classic
	case "v1":
		*r = V1
	default:
		return fmt.Errorf("%q is not a reading of the upgrade graph; want classic or v1", text)
	}
	return nil
}

// A Node is a bundle that may be installed, or a name without a bundle that only edges
// mention. It is comparable. The zero value refers to no node.
type Node struct {
	Name string `json:"name"`
	// Version is a semantic version, or empty if it is unknown. Then only edges by name
	// lead from the node. OLM itself assumes 0.0.0 for an unknown version; set Version to
	// 0.0.0 for the same result.
	Version string `json:"version,omitempty"`
}

// String returns the name, and the version unless the name ends in it.
func (n Node) String() string {
	if n.Version == "" || len(n.Name) > len(n.Version) && n.Name[len(n.Name)-len(n.Version):] == n.Version {
		return n.Name
	}
	return n.Name + " (" + n.Version + ")"
}

// A Reason is an edge of an entry in a channel that admits a step.
type Reason struct {
	// Channel is empty for SameVersion.
	Channel string `json:"channel,omitempty"`
	Edge    Edge   `json:"edge"`
}

// A Step is one upgrade: the installed node, its successor, and all reasons that admit
// it, in the order of channels, then kinds of edges.
type Step struct {
	From    Node     `json:"from"`
	To      Node     `json:"to"`
	Reasons []Reason `json:"reasons,omitzero"`
}

// Rebuilds reports whether the step leads to a bundle that replaces the one before it, but counts as older because of its
// prerelease, in which some publishers write the number of the build: 1.0.1-1 after 1.0.1.
func (s *Step) Rebuilds() bool {
	from, err := version.Parse(s.From.Version)
	to, failed := version.Parse(s.To.Version)
	return err == nil && failed == nil && version.Rebuilds(to, from) && slices.ContainsFunc(s.Reasons, func(r Reason) bool { return r.Edge == Replaces })
}

// String returns the edge and its channel: "replaces in stable".
func (r Reason) String() string {
	if r.Channel == "" {
		return r.Edge.String()
	}
	return r.Edge.String() + " in " + r.Channel
}

// Why returns the edges that admit the step, separated by commas: "replaces in alpha and
// stable, skipRange in beta".
func (s Step) Why() string {
	var words []string
	for i, r := range s.Reasons {
		if slices.ContainsFunc(s.Reasons[:i], func(x Reason) bool { return x.Edge == r.Edge }) {
			continue
		}
		var channels []string
		for _, x := range s.Reasons[i:] {
			if x.Edge == r.Edge {
				channels = append(channels, x.Channel)
			}
		}
		if r.Channel != "" {
			r.Channel = phrase.And(channels)
		}
		words = append(words, r.String())
	}
	return strings.Join(words, ", ")
}

// UpgradeOptions select upgrades. A nil *UpgradeOptions means all defaults.
type UpgradeOptions struct {
	// Channels are the selected channels. Unknown names are ignored. Default: all,
	// the default channel first, then by name. A classic subscription has one
	// channel; several mean that the user may change it.
	Channels []string
	// OtherEdges includes edges in other channels that lead to a bundle of
	// Channels. It matters only in OLM v1.
	OtherEdges bool
	// Installed are nodes to include even if they are not in the catalog.
	Installed []Node
	// MaxSteps bounds the reasons for steps in a package, because ranges that cover
	// everything could exhaust the memory. Default 4,000,000. If there are more,
	// [Upgrades.Err] is set.
	MaxSteps int
	// Without, if set, reports bundles that are never chosen.
	Without func(Bundle) bool
	// Excluded are upgrades that are never taken; see [Upgrades.Without].
	Excluded []Exclusion
}

// An Exclusion excludes the upgrade from one bundle to another, because an administrator does
// not want it.
type Exclusion struct {
	// From and To are the names of the bundles.
	From string `json:"from"`
	To   string `json:"to"`
	// Reason is what explanations show.
	Reason string `json:"reason,omitempty"`
}

// Upgrades are the upgrades within a package under one reading: its nodes and the steps
// between them. They are immutable and safe for concurrent use.
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
	excluded []excludedStep
	err      error
}

// maxSteps is the default of [UpgradeOptions.MaxSteps].
const maxSteps = 4_000_000

// Err returns an error if there are more upgrades than [UpgradeOptions.MaxSteps]. Then
// there are nodes and heads, but no steps.
func (u *Upgrades) Err() error { return u.err }

// A nodeRec is what is known about a node.
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

// An excludedStep is a step that an exclusion removed.
type excludedStep struct {
	from, to int32
	reason   string
}

// Upgrades returns the upgrades of a package under a reading. The nodes are the bundles
// of the selected channels, the names in their edges, and opts.Installed. A channel
// that cannot be used ([Channel.Err]) has no classic upgrades.
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
	if len(opts.Excluded) > 0 {
		return u.Without(opts.Excluded)
	}
	return u
}

// Without returns the upgrades without the excluded ones. Nodes and heads are the same.
// Exclusions of upgrades that do not exist have no effect.
func (u *Upgrades) Without(list []Exclusion) *Upgrades { // G4
	out := *u
	out.of = slices.Clone(u.of)
	out.steps = make([]stepRec, 0, len(u.steps))
	out.excluded = slices.Clip(u.excluded)
	reasons := make(map[[2]string]string, len(list))
	for _, x := range list {
		reasons[[2]string{x.From, x.To}] = x.Reason
	}
	for i := range u.of {
		s := span{from: uint32(len(out.steps))}
		for _, step := range in(u.steps, u.of[i].steps) {
			why, is := reasons[[2]string{u.nodes[i].Name, u.nodes[step.to].Name}]
			if is {
				out.excluded = append(out.excluded, excludedStep{int32(i), step.to, why})
				continue
			}
			out.steps = append(out.steps, step)
		}
		s.to = uint32(len(out.steps))
		out.of[i].steps = s
	}
	return &out
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
