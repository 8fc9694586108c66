// Package csv moves the operators of a namespace through their phases. It handles
// requirements, permissions, deployments, webhooks and APIs, and replacements.
package csv

import (
	"context"
	"crypto/ecdsa"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Options are the fields of reconcile.Options that concern CSVs.
type Options struct {
	Naming           operatorgroup.Naming
	DeploymentHashes func(spec []byte) ([]string, error)
	// InstallTimeout is how long deployments may take to become available.
	InstallTimeout time.Duration
	// NewKey returns the private keys of certificates.
	NewKey func() (*ecdsa.PrivateKey, error)
}

// A planner plans the changes to CSVs and to the workloads of their operators.
type planner struct {
	*generated.Keeper
	opts     Options
	unjudged map[olm.Key]string
}

// Advance moves each CSV of the namespace through its phases. It returns the
// minKubeVersions that could not be checked because the version of the cluster is
// unknown.
func Advance(ctx context.Context, w *world.World, p *change.Writer, opts Options) (unjudged map[olm.Key]string, err error) {
	c := planner{&generated.Keeper{World: w, Writer: p, Naming: opts.Naming}, opts, map[olm.Key]string{}}
	return c.unjudged, c.installations(ctx)
}

// Conditions creates the OperatorCondition of each operator and copies the conditions that
// operators report there to its status (E6).
func Conditions(w *world.World, p *change.Writer) error {
	return (&planner{Keeper: &generated.Keeper{World: w, Writer: p}}).operatorConditions()
}
