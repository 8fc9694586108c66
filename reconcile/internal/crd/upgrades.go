// Package crd plans the CRDs of an install plan: it creates them, and upgrades existing
// ones if that is safe (E7).
package crd

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Options are the fields of reconcile.Options that concern CRDs.
type Options struct {
	// SharedOnly checks the custom resources of shared CRDs, not of every CRD.
	SharedOnly bool
	// CheckResources returns the custom resources that a CRD's schemas reject. It may be
	// nil.
	CheckResources func(ctx context.Context, crd *olm.CustomResourceDefinition, resources []olm.Object) ([]Violation, error)
}

// Upgrades plans the CRDs of one install plan.
type Upgrades struct {
	*world.World
	*change.Writer
	opts Options
	plan *olm.InstallPlan
	// leaving holds the CSVs that the plan's CSVs replace. It is computed on first use.
	leaving map[string]bool
}

// New returns the upgrades of an install plan.
func New(w *world.World, p *change.Writer, plan *olm.InstallPlan, opts Options) *Upgrades {
	return &Upgrades{World: w, Writer: p, opts: opts, plan: plan}
}

// A Violation is a reason why a new definition of a CRD cannot replace the old one (E7),
// or why it is unknown whether it can.
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
