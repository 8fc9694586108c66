package reconcile

import (
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/resolver"
)

// An Obstacle is what keeps the next bundle of an operator from being installed, or from running
// once it is installed.
type Obstacle struct {
	// Bundle is the next bundle, and Replaces the operator that it upgrades, if any. If By is
	// HeldByUnready, Bundle is the installed operator, and if By is HeldByCatalog, both are empty. If By is
	// HeldByDifference, an empty Bundle means the whole namespace.
	Bundle   string `json:"bundle,omitempty"`
	Replaces string `json:"replaces,omitempty"`
	// By is HeldByInstallMode or one of the holders after it that apply in a cluster.
	By resolver.Holder `json:"by"`
	// InstallPlan is the name of the install plan that is outdated or, if By is HeldByDifference or HeldByUnpacking,
	// failed or missing, or "".
	InstallPlan string `json:"installPlan,omitempty"`
	// Keeps is set if the commands keep Replaces installed instead of removing the obstacle.
	Keeps bool `json:"keeps,omitzero"`
	// Unknown is set if it is not known whether the obstacle exists, because the objects were not read.
	Unknown bool `json:"unknown,omitzero"`
	// Reason states what is so, and Remedy what to do about it, as an imperative. Remedy is empty if the
	// commands suffice, or if there is nothing to do.
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
	// Commands remove the obstacle. The list is empty if no command can.
	Commands []string `json:"commands,omitempty"`

	labels []string // of the first commands
}

// String returns the reason, and what to do.
func (o Obstacle) String() string {
	if o.Remedy == "" {
		return o.Reason
	}
	return phrase.Clause(o.Reason) + "; " + o.Remedy
}

// Label returns what a command does, as an infinitive, or "" if it upgrades the operator.
func (o Obstacle) Label(i int) string {
	if i < len(o.labels) {
		return o.labels[i]
	}
	return ""
}

// add adds a command with its label.
func (o *Obstacle) add(label, command string) {
	for len(o.labels) < len(o.Commands) {
		o.labels = append(o.labels, "")
	}
	o.labels, o.Commands = append(o.labels, label), append(o.Commands, command)
}

// States reports whether the obstacle states what a note does.
func (o Obstacle) States(n Note) bool {
	misfit := (o.By == resolver.HeldByInstallMode || o.By == resolver.HeldByUnready) && n.Code == NoteCode(resolver.HeldByGroup)
	return n.Code == NoteCode(o.By) || misfit || o.InstallPlan != "" && n.Object.Kind == olm.KindInstallPlan && n.Object.Name == o.InstallPlan
}

// A coming bundle is installed next, or is installed and does not run yet.
type coming struct {
	name, replaces string
	minKube        string
	modes          []olm.InstallMode
	crds           []*olm.CustomResourceDefinition // those that are known
	stated         bool                            // whether the bundle states its install modes
	unready        subscription.Wait               // why the subscription of a CSV is held
}
