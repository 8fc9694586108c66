package reconcile

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
	"github.com/olmkit/olmkit/reconcile/internal/csv"
	"github.com/olmkit/olmkit/reconcile/internal/installplan"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/resolver"
)

// Content provides the contents of the catalogs of a cluster. Its results must not change
// while a plan is made. [Catalogs] implements it.
type Content interface {
	// Catalog returns the index of a catalog. An error makes the catalog unhealthy, except
	// that of the context and [ErrPending], wrapped or not, which end the decision, and
	// [ErrUnknown], which comes with an index of what is known.
	Catalog(ctx context.Context, id resolver.CatalogID) (*graph.Catalog, error)
	// Manifests returns the objects of a bundle, one of which is its CSV. Their
	// order does not matter.
	Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error)
}

// ErrPending reports that a catalog has not been read since the program started, so
// its health is unknown. A plan made now would mark every subscription as unhealthy, and the
// next one would mark it as healthy. Decide again once the catalog has been read.
var ErrPending = catalog.ErrPending

// ErrUnknown reports that the content of a catalog is unknown, in whole or in part. Decisions
// go by what is known, and explanations state that.
var ErrUnknown = catalog.ErrUnknown

// A CRDPolicy selects the CRDs whose custom resources are checked before a new definition
// replaces the old one. Whatever the policy, versions that operators use or that objects
// are stored in must stay, and if several operators own the CRD, all served versions must
// stay.
type CRDPolicy string

const (
	// CheckAlways checks every CRD, as OLM v0.45 does. It is the default.
	CheckAlways CRDPolicy = ""
	// CheckShared checks only CRDs that several CSVs own, as OLM documents.
	CheckShared CRDPolicy = "shared"
)

// Options adjust what is planned. The zero value means the defaults.
type Options struct {
	// RoleNaming is how ClusterRoles for the users of operators are named.
	RoleNaming operatorgroup.Naming
	// DisabledCopies selects the CSVs that are still copied when OLMConfig's disableCopiedCSVs
	// is set. Default: operatorgroup.CopyNone.
	DisabledCopies operatorgroup.CopyMode
	CRDs           CRDPolicy
	// CheckResources returns the violations of existing custom resources against the
	// schemas of a CRD, in a fixed order. Schemas and resources may be hostile: it must
	// limit its time and obey the context, whose error is the only one that it returns.
	// Package kube/crd has an implementation that uses the API server's code.
	//
	// Without it, the upgrade of a CRD that several CSVs own is refused if the CRD has
	// custom resources, and a note reports that the custom resources of other CRDs were
	// not checked.
	CheckResources func(ctx context.Context, crd *olm.CustomResourceDefinition, resources []olm.Object) ([]CRDViolation, error)
	// PlatformVersion is the version of the platform, such as 4.19.3, for finding operators
	// that block its upgrades. Default: that of the object ClusterVersion, if the snapshot
	// has it.
	PlatformVersion string
	// NoAdvice leaves out the notes that repeat [Advise]. They compare the operators of the
	// namespace with all others of the cluster, which takes longer than the plan if there
	// are thousands of namespaces.
	NoAdvice bool
	// DeploymentHashes returns the values that the label olm.deployment-spec-hash may have on
	// a deployment with the given spec, which is JSON: first the value to write, then those of
	// other versions of OLM. A deployment with another value is written again. With the
	// function Deployment of package kube/olmhash, deployments of OLM stay as they are, and
	// OLM leaves those of olmkit alone. The default is for tests and for clusters in memory:
	// OLM does not know its hashes.
	DeploymentHashes func(spec []byte) ([]string, error)
	// IgnoreOLM plans changes even if OLM runs in the same cluster (Snapshot.OLM), such as
	// those of a takeover that is only simulated. If both controllers write, they undo each
	// other's writes.
	IgnoreOLM bool
	// PlanTimeout is how long a failing install plan is retried before it is Failed.
	// Default: a minute.
	PlanTimeout time.Duration
	// InstallTimeout is how long deployments may take to become available.
	// Default: five minutes.
	InstallTimeout time.Duration
	// NewKey returns the private keys of certificates. Default: new random P-256 keys, so
	// two plans that make a certificate differ.
	NewKey func() (*ecdsa.PrivateKey, error)
	// Resolver are the options of the resolution. The version of the cluster is
	// filled in.
	Resolver resolver.Options
	// Policies pin, hold or exclude packages, or exclude upgrades, in every resolution.
	Policies []resolver.Policy
	// Resolve replaces resolver.Resolve, for example to measure it or to cache its
	// answers. It must give the same answers.
	Resolve func(context.Context, resolver.Problem) (*resolver.Solution, error)
}

func (o *Options) csvs() csv.Options {
	newKey := o.NewKey
	if newKey == nil {
		newKey = func() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }
	}
	return csv.Options{Naming: o.RoleNaming, DeploymentHashes: o.DeploymentHashes, InstallTimeout: cmp.Or(o.InstallTimeout, 5*time.Minute), NewKey: newKey}
}

func (o *Options) installPlans() installplan.Options {
	crds := crd.Options{SharedOnly: o.CRDs == CheckShared}
	if o.CheckResources != nil {
		crds.CheckResources = func(ctx context.Context, def *olm.CustomResourceDefinition, resources []olm.Object) ([]crd.Violation, error) {
			list, err := o.CheckResources(ctx, def, resources)
			out := make([]crd.Violation, len(list))
			for i, v := range list {
				out[i] = crd.Violation(v)
			}
			return out, err
		}
	}
	return installplan.Options{CRDs: crds, Timeout: cmp.Or(o.PlanTimeout, time.Minute)}
}

func (o *Options) resolutions() subscription.Options {
	resolve := o.Resolve
	if resolve == nil {
		resolve = resolver.Resolve
	}
	return subscription.Options{Resolver: o.Resolver, Policies: o.Policies, Resolve: resolve}
}
