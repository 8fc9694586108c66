package view

import (
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A pageData is the data of a page, as read by the script. In it, nodes are referred to by their index in
// [pkgData.Nodes].
type pageData struct {
	Title    string        `json:"title"`
	Catalogs []catalogData `json:"catalogs"`
	Answers  []answerData  `json:"answers"`
	Diff     *diffData     `json:"diff,omitzero"`
	// Codes describe the steps of derivations.
	Codes []codeData `json:"codes,omitempty"`
}

type catalogData struct {
	Name     string `json:"name"`
	Bundles  int    `json:"bundles"`
	Channels int    `json:"channels"`
	// Problems are the first maxProblems of NumProblems.
	Problems    []string `json:"problems,omitempty"`
	NumProblems int      `json:"numProblems,omitzero"`
	// NoWords reports that the catalog is an index whose files are not available, so that display names and
	// descriptions are unknown.
	NoWords  bool      `json:"noWords,omitzero"`
	Packages []pkgData `json:"packages"`
}

type pkgData struct {
	Name       string `json:"name"`
	Default    string `json:"default"`
	Deprecated string `json:"deprecated,omitempty"`
	// Title is the display name, Summary describes the package in one line, and About in a few lines. The page shows
	// and searches these three fields, Provider and Keywords.
	Title    string   `json:"title,omitempty"`
	Summary  string   `json:"summary,omitempty"`
	About    string   `json:"about,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Keywords []string `json:"keywords,omitempty"`
	// Nodes are everything that may be installed, the newest first.
	Nodes    []nodeData    `json:"nodes"`
	Channels []channelData `json:"channels"`
	// All holds the upgrades in OLM v1 for all channels together. It is nil if there is a single channel, because they
	// are then those of that channel.
	All *waysData `json:"all,omitzero"`
	// Verdicts are what upgrades do to a cluster, if that was judged.
	Verdicts []verdictData `json:"verdicts,omitempty"`
	// Avoids describes the upgrades to avoid, if there are any.
	Avoids string `json:"avoids,omitempty"`
	// Reasons, APIs, Sets and Needs are tables to which the other lists refer by index.
	Reasons []string `json:"reasons,omitempty"`
	APIs    []string `json:"apis,omitempty"`
	Sets    [][]int  `json:"sets,omitempty"`
	Needs   []string `json:"needs,omitempty"`
}

// A verdictData is a Verdict on the upgrade between two nodes.
type verdictData struct {
	From    int    `json:"from"`
	To      int    `json:"to"`
	Verdict string `json:"verdict,omitempty"`
	Text    string `json:"text"`
}

// A nodeData is a bundle, or a name that only edges mention.
type nodeData struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Label is short and unique in the package.
	Label string `json:"label"`
	Image string `json:"image,omitempty"`
	// Title and Summary are set for heads if they differ from those of the package.
	Title   string `json:"title,omitempty"`
	Summary string `json:"summary,omitempty"`
	// APIs is the index of the provided APIs in pkgData.Sets. Needs are indices in pkgData.Needs.
	APIs       *int   `json:"apis,omitzero"`
	Needs      []int  `json:"needs,omitempty"`
	Deprecated string `json:"deprecated,omitempty"`
	Fault      string `json:"fault,omitempty"`
	// Marks are any of the constants below.
	Marks []string `json:"marks,omitempty"`
}

// The marks of nodes, which apply in every channel.
const (
	markNoContent  = "no content"
	markDeprecated = "deprecated"
	markProhibited = "never chosen"
	markInstalled  = "installed"
	markNew        = "new"
)

type channelData struct {
	Name       string `json:"name"`
	Deprecated string `json:"deprecated,omitempty"`
	// Faults are the first maxFaults of NumFaults.
	Faults    []string `json:"faults,omitempty"`
	NumFaults int      `json:"numFaults,omitzero"`
	Heads     []int    `json:"heads"`
	// Rows are the nodes to draw, the newest first.
	Rows    []int `json:"rows"`
	Skipped []int `json:"skipped,omitempty"`
	// Edges are the edges of the catalog, each as the lower node, the upper node and the kind. An edge of kind
	// edgeRange connects nodes that a skipRange leads past.
	Edges  [][3]int    `json:"edges"`
	Ranges []rangeData `json:"ranges,omitempty"`
	// StrandedClassic and StrandedV1 are the rows from which no sequence of upgrades leads to a head, in each reading.
	StrandedClassic []int     `json:"strandedClassic,omitempty"`
	StrandedV1      []int     `json:"strandedV1,omitempty"`
	Classic         *waysData `json:"classic"`
	V1              *waysData `json:"v1"`
}

// The kinds of edges in a drawing.
const (
	edgeReplaces = int(graph.Replaces)
	edgeSkips    = int(graph.Skips)
	edgeRange    = int(graph.SkipRange)
)

type rangeData struct {
	Node int    `json:"node"`
	Text string `json:"text"`
}

// A waysData holds the upgrades of a package in one reading.
type waysData struct {
	Heads []int `json:"heads"`
	// Each of Steps is a list: a node, the node that OLM upgrades to from there (-1 if it stays), the number of
	// possible followers, and then, in order of preference, the first maxFollowers of them, each followed by the index
	// of its reasons in Reasons.
	Steps [][]int `json:"steps"`
	// Detours are shortest paths to a head, as lists of nodes, from nodes that OLM does not upgrade to a head
	// automatically.
	Detours [][]int `json:"detours,omitempty"`
	// Around are shortest paths to a head without upgrades to avoid, as lists of nodes, from nodes whose way or
	// shortest path takes one. Without such a path, Blocked has the node, followed by the two nodes of each
	// upgrade of which each path takes at least one.
	Around  [][]int `json:"around,omitempty"`
	Blocked [][]int `json:"blocked,omitempty"`
}

type codeData struct {
	Code  fact.Code `json:"code"`
	Title string    `json:"title"`
}

// An answerData is a problem and its answer.
type answerData struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	OK        bool   `json:"ok"`
	// Partial is true if the answer plans only a part of the problem. Cores then explain why the rest cannot be
	// planned.
	Partial bool   `json:"partial,omitzero"`
	Error   string `json:"error,omitempty"`
	// Nodes and Edges are the graph of reasons: subscriptions, what they chose,
	// and what that required.
	Nodes    []reasonNode `json:"nodes"`
	Edges    []reasonEdge `json:"edges"`
	Cores    []coreData   `json:"cores,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	// Held has the operators that are stuck or held back.
	Held []heldData `json:"held,omitempty"`
}

type reasonNode struct {
	// Kind is "subscription", "install", "upgrade" or "keep".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Detail is the second line of the drawing.
	Detail  string `json:"detail,omitempty"`
	Package string `json:"package,omitempty"`
	Channel string `json:"channel,omitempty"`
	Catalog string `json:"catalog,omitempty"`
	// From and To are versions, if known.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Why holds the sentences of the chain of reasons that ends at the request.
	Why []whyData `json:"why,omitempty"`
	// See is the operator whose sentences continue the chain, if it is truncated.
	See string `json:"see,omitempty"`
	// Also holds a sentence for each other request or requirement that leads to this operator.
	Also []string `json:"also,omitempty"`
}

type whyData struct {
	Text  string     `json:"text"`
	Place string     `json:"place,omitempty"`
	Over  []stepData `json:"over,omitempty"`
}

// A reasonEdge leads from a request or requirement to the operator that satisfies it.
type reasonEdge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

type coreData struct {
	Headline   string    `json:"headline"`
	Steps      *stepData `json:"steps"`
	Incomplete bool      `json:"incomplete,omitzero"`
	Notes      []string  `json:"notes,omitempty"`
	Fixes      []fixData `json:"fixes"`
}

type stepData struct {
	Code     fact.Code  `json:"code"`
	Text     string     `json:"text"`
	Places   []string   `json:"places,omitempty"`
	Messages []string   `json:"messages,omitempty"`
	Because  []stepData `json:"because,omitempty"`
}

// A heldData explains why an operator gets no newer version, and what would help.
type heldData struct {
	Text string `json:"text"`
	// Commands follow the way out of a stuck operator.
	Commands []string  `json:"commands,omitempty"`
	Fixes    []fixData `json:"fixes,omitempty"`
}

type fixData struct {
	Text     string   `json:"text"`
	Changes  []string `json:"changes"`
	Commands []string `json:"commands,omitempty"`
}
