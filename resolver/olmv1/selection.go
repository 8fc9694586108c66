package olmv1

import (
	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
)

// A Stage is a stage of a selection. The constants are in the order in which the stages are
// applied. Their comments state what passes the stage.
type Stage string

const (
	StageCatalogs    Stage = "catalogs"    // catalogs that are available and selected
	StagePackage     Stage = "package"     // catalogs that have the package; then its bundles
	StageChannels    Stage = "channels"    // bundles in the requested channels
	StageRange       Stage = "range"       // bundles in the version range
	StageSuccessors  Stage = "successors"  // bundles that may follow the installed one
	StageDeprecation Stage = "deprecation" // bundles that are not deprecated, if there are any
	StageNewest      Stage = "newest"      // the highest version in each catalog
	StagePriority    Stage = "priority"    // the catalog with the highest priority
	StageValidations Stage = "validations" // a bundle that OLM v1 can install
)

// A Funnel shows how a selection was made. Its lists are in the order of the stages, then
// of catalogs and bundles by name.
type Funnel struct {
	Stages []StageCount `json:"stages,omitzero"`
	// Catalogs lists the result for each catalog.
	Catalogs []FunnelCatalog `json:"catalogs,omitzero"`
	// Dropped lists the bundles of the package that were not chosen, each with the first
	// stage that dropped it, and the reason.
	Dropped []Dropped `json:"dropped,omitzero"`
}

// A StageCount is the number of catalogs and bundles that passed a stage.
type StageCount struct {
	Stage Stage `json:"stage"`
	// Bundles is 0 before the package stage.
	Catalogs int `json:"catalogs"`
	Bundles  int `json:"bundles"`
}

// A FunnelCatalog is the result of a selection for a catalog.
type FunnelCatalog struct {
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	// Dropped is the stage that dropped the whole catalog, and Reason states why. They are
	// empty if its bundles took part.
	Dropped Stage  `json:"dropped,omitzero"`
	Reason  string `json:"reason,omitempty"`
	Bundles int    `json:"bundles"`
}

// A Dropped is a bundle that was not chosen.
type Dropped struct {
	Catalog string `json:"catalog"`
	Bundle  string `json:"bundle"`
	Version string `json:"version"`
	Stage   Stage  `json:"stage"`
	Reason  string `json:"reason"`
}

// A Selection is the bundle that OLM v1 would install. It is not modified after
// Select returned it.
type Selection struct {
	ID      string `json:"id,omitempty"`
	OK      bool   `json:"ok"` // always true; a Refusal's is false
	Catalog string `json:"catalog"`
	Bundle  string `json:"bundle"`
	Version string `json:"version"`
	// Deprecated are the messages of the winning catalog for the package, the requested
	// channels (all if none was requested) and the bundle, in that order and by name.
	Deprecated []Deprecated `json:"deprecated"`
	// Notes describe what the running OLM does silently.
	Notes []Note `json:"notes,omitempty"`
	// Outlook is how far the installed bundle can be upgraded in the requested channels,
	// ignoring the version range.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	Funnel  Funnel         `json:"funnel"`
	// Graph is the chosen bundle in its catalog.
	Graph graph.Bundle `json:"-"`
}

// MarshalJSON returns the selection as an object. Lists that it always has are never null.
func (s Selection) MarshalJSON() ([]byte, error) {
	type plain Selection
	return json.Marshal(plain(s), json.Deterministic(true))
}

// A Deprecated is an author's message.
type Deprecated struct {
	Scope   string `json:"scope"` // package, channel or bundle
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
}

// A Note describes an unexpected aspect of a selection.
type Note struct {
	Code NoteCode `json:"code"`
	Text string   `json:"text"`
	// Course is what follows from the change that the text mentions, if OLM v1 then selects a newer version.
	Course *Course `json:"course,omitzero"`
	// Commands make the changes in a cluster that the text mentions, in order.
	Commands []Command `json:"commands,omitempty"`
}

// A Command is a command line that changes a cluster.
type Command struct {
	// After is the bundle that must be installed before, or zero if the command can be run at once.
	After graph.Node `json:"after,omitzero"`
	Line  string     `json:"line"`
}

// A NoteCode is a kind of note.
type NoteCode string

const (
	NoteDeprecated  NoteCode = "deprecated-passed-over" // a newer bundle was passed over because it is deprecated
	NoteDowngrade   NoteCode = "downgrade"              // the chosen version is lower than the installed one
	NoteMoreSteps   NoteCode = "more-steps"             // more upgrades follow before the newest bundle, or none leads there
	NoteCloses      NoteCode = "closes"                 // an upgrade that follows closes the way to a newer version
	NoteStuck       NoteCode = "stuck"                  // the installed bundle stays: no entry accepts an upgrade from it
	NoteDeadEnd     NoteCode = "dead-end"               // nothing is installed, and no upgrade leads from the chosen bundle to the newest version
	NoteStays       NoteCode = "stays"                  // the installed bundle stays
	NoteUncertified NoteCode = "uncertified"            // no entry of the catalog allows the upgrade, only the policy does
	NotePin         NoteCode = "pin-not-met"            // the version range names build metadata, which it ignores
	NotePrereleases NoteCode = "prereleases-left-out"   // the range leaves out newer prereleases
	NoteKubernetes  NoteCode = "kubernetes-version"     // the chosen bundle requires a newer version of Kubernetes
	NoteHeldBack    NoteCode = "held-back"              // the range, the channels or excluded upgrades keep a newer bundle from being selected
	NoteCRDs        NoteCode = "crds-refused"           // OLM v1 refuses the upgrade, or a later one, because of its CRDs; only callers that have manifests add it
	NoteConfig      NoteCode = "config-refused"         // OLM v1 refuses the upgrade, or a later one, because of the configuration; only callers that have manifests add it
)
