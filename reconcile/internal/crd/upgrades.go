// Package crd decides about the CRDs of an install plan: whether they are created, and
// whether a new form may replace an old one (E7).
package crd

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Options are those of reconcile.Options that are for CRDs.
type Options struct {
	// SharedOnly checks the custom resources of shared CRDs, not of every CRD.
	SharedOnly bool
	// CheckResources returns what the schemas of a CRD refuse, or is nil.
	CheckResources func(ctx context.Context, crd *olm.CustomResourceDefinition, resources []olm.Object) ([]Violation, error)
}

// Upgrades plans the CRDs of one install plan.
type Upgrades struct {
	*world.World
	*change.Writer
	opts Options
	plan *olm.InstallPlan
	// leaving are the CSVs that those of the plan replace, once they are needed.
	leaving map[string]bool
}

// New returns the upgrades of an install plan.
func New(w *world.World, p *change.Writer, plan *olm.InstallPlan, opts Options) *Upgrades {
	return &Upgrades{World: w, Writer: p, opts: opts, plan: plan}
}

// A Violation is a reason why a new form of a CRD cannot replace the old one (E7), or why
// this is unknown.
type Violation struct {
	Version   string
	Object    olm.Key
	Path      string
	Message   string
	Unchecked bool
}

// String returns the violation on one line.
func (v Violation) String() string {
	if v.Object == (olm.Key{}) {
		return "version " + v.Version + ": " + v.Message
	}
	if v.Path == "" {
		return fmt.Sprintf("%s (%s): %s", v.Object, v.Version, v.Message)
	}
	return fmt.Sprintf("%s (%s): %s: %s", v.Object, v.Version, v.Path, v.Message)
}
