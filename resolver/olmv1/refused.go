package olmv1

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// A Refusal is the error that [Select] returns if no bundle can be selected. It has the
// reason and alternatives, and marshals to JSON.
type Refusal struct {
	ID   string      `json:"id,omitempty"`
	OK   bool        `json:"ok"` // always false
	Code RefusalCode `json:"code"`
	// Message is the text of Error.
	Message string `json:"error"`
	Funnel  Funnel `json:"funnel"`
	// Tied are the catalogs of a tie.
	Tied []string `json:"tied,omitempty"`
	// Outlook is how far the installed bundle can be upgraded in the requested channels,
	// ignoring the version range.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	// Nearest are the closest available versions below and above the requested ones, for
	// each catalog by name.
	Nearest []NearVersion `json:"nearest,omitempty"`
	// Hops are upgrades, in order, from the installed bundle to a requested one: request
	// each version in turn. It is empty if no path leads there.
	Hops []Hop `json:"hops,omitempty"`
	// Dependencies are the dependencies of the chosen bundle, with bundles that satisfy
	// them.
	Dependencies *resolver.Closure `json:"dependencies,omitzero"`
	// Fixes are changes with which OLM v1 selects a bundle, least disruptive first.
	Fixes []*Fix `json:"fixes,omitempty"`

	chosen   candidate
	property string
}

// MarshalJSON returns the refusal as an object. Lists that it always has are never null.
func (r Refusal) MarshalJSON() ([]byte, error) {
	type plain Refusal
	return json.Marshal(plain(r), json.Deterministic(true))
}

// A NearVersion is an available bundle.
type NearVersion struct {
	Catalog string `json:"catalog"`
	Bundle  string `json:"bundle"`
	Version string `json:"version"`
	Steps   int    `json:"steps"`
}

// A Hop is an upgrade within a catalog.
type Hop struct {
	Catalog string `json:"catalog"`
	graph.Step
}

// Bundle returns the bundle that was chosen and then refused, with code RefusedVersion or
// RefusedDependency. For other codes there is none.
func (r *Refusal) Bundle() (b graph.Bundle, ok bool) {
	return r.chosen.Bundle, r.chosen.Bundle != (graph.Bundle{})
}

// Error returns the reason and the alternatives, in one line.
func (r *Refusal) Error() string { return r.Message }

// A Fix is a change to a request, or to a catalog's priority, with which OLM v1 selects a
// bundle. It was verified by selecting again, except for FixAddCatalog.
type Fix struct {
	Kind FixKind `json:"kind"`
	// Package, Version, Channels, Policy, Priority and Selector are the new values of what the
	// kind changes. An empty Version, Channels or Selector allows all. If choosing between the
	// catalogs of a tie is not enough, other kinds have a Priority as well. If other channels or versions
	// lead to a tie, Selector chooses a catalog.
	Package  string         `json:"package,omitempty"`
	Version  string         `json:"version,omitempty"`
	Channels []string       `json:"channels,omitempty"`
	Policy   UpgradePolicy  `json:"policy,omitzero"`
	Priority int            `json:"priority,omitzero"`
	Selector *LabelSelector `json:"selector,omitzero"`
	Course
	// Stuck is how far the selected bundle gets if it is then stuck, or nil.
	Stuck *graph.Outlook `json:"stuck,omitzero"`
	// Command makes the change in a cluster. That of FixClassic supposes that the CatalogSource is in
	// namespace olm and has the name of the catalog. A catalog whose image is unknown gets it from the
	// variable IMAGE of the shell; with [Options.Command], a flag of that command adds it instead.
	Command string `json:"command,omitempty"`
	// Then are commands for later, such as those with which OLM v1 takes an upgrade that it refuses otherwise; see
	// [Fix.Stopped].
	Then []Command `json:"then,omitempty"`
	// Text is the fix as an instruction, with its outcome and risk.
	Text string `json:"text"`

	in        *selecting // where the fix was found, and of
	of        *Refusal   // which refusal
	downgrade bool
	jump      string // why no edge leads there, or ""
	moves     bool   // FixUncertified: the channels change
	onward    string // how to get further than the end of the channels, or ""
	goal      string // the version at which the course has to end, or ""
	raised    string // FixPriority: the catalog
	pin       bool   // it only ends the error: the installed bundle stays
}

// String returns the fix as an instruction.
func (f *Fix) String() string { return f.Text }

// A FixKind is what a fix changes. The constants are in the order in which fixes are offered,
// least disruptive first.
type FixKind string

const (
	FixPackage     FixKind = "change-package"              // correct the name of the package
	FixAddCatalog  FixKind = "add-catalog"                 // add a catalog that has the package, which no given one has; what OLM v1 then selects is unknown
	FixVersion     FixKind = "change-version"              // change or remove the version range
	FixChannels    FixKind = "change-channels"             // change or remove the channels
	FixBoth        FixKind = "change-channels-and-version" // change or remove the channels and the version range
	FixSelector    FixKind = "drop-selector"               // remove the catalog selector
	FixCatalog     FixKind = "select-catalog"              // select one catalog by its label
	FixPriority    FixKind = "change-priority"             // raise the priority of a catalog
	FixCertified   FixKind = "follow-catalog"              // upgrade along the edges of the catalog, and change or remove the version range and the channels
	FixUncertified FixKind = "self-certify"                // upgrade without an edge of the catalog, possibly in another channel
	FixClassic     FixKind = "use-classic"                 // use classic OLM, which installs dependencies
)

// A remote is the highest requested version that only other channels have.
type remote struct {
	graph.Bundle
	channel string     // the first that has it
	way     *graph.Way // from the installed bundle, or nil
}

// selectCatalog and raise return the changes that prefer a catalog.
func selectCatalog(name string) Fix {
	return Fix{Kind: FixCatalog, Selector: &LabelSelector{MatchLabels: map[string]string{labelCatalog: name}}}
}

func raise(name string, priority int) Fix {
	return Fix{Kind: FixPriority, Priority: priority, raised: name}
}

// apply returns the changed request.
func (f *Fix) apply(r Request) Request {
	if f.Selector != nil {
		r.Selector = f.Selector
	}
	switch f.Kind {
	case FixPackage:
		r.Package = f.Package
	case FixVersion:
		r.Version = f.Version
	case FixChannels:
		r.Channels = f.Channels
	case FixBoth:
		r.Channels, r.Version = f.Channels, f.Version
	case FixSelector, FixCatalog:
		r.Selector = f.Selector
	case FixUncertified:
		if r.Policy, r.Channels = f.Policy, f.Channels; f.Version != "" {
			r.Version = f.Version
		}
	case FixCertified:
		r.Policy, r.Version, r.Channels = f.Policy, f.Version, f.Channels
	case FixPriority:
		r.Catalogs = slices.Clone(r.Catalogs)
		for i := range r.Catalogs {
			if r.Catalogs[i].Name == f.raised {
				r.Catalogs[i].Priority = f.Priority
			}
		}
	}
	return r
}
