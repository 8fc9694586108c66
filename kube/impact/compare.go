package impact

import (
	"context"
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/property"
)

// A Bundle is one side of a comparison.
type Bundle struct {
	*registryv1.Bundle
	// Properties are the properties that a catalog has for the bundle. What the CSV
	// requires and provides counts as well.
	Properties []property.Property
}

// Options adjust a comparison. A nil *Options means all defaults.
type Options struct {
	// Namespace is the install namespace. Default: the name of the package, or "operator"
	// if that is not a valid name of a namespace.
	Namespace string
	// Watch lists the namespaces that the operator watches. Default: all namespaces or, if
	// one of the bundles does not support that, the install namespace or another one.
	Watch []string
	// Classic compares what classic OLM creates instead of what OLM v1 creates.
	Classic bool
	// Unenforced is true if OLM v1 does not check the upgrades of CRDs: in the ClusterExtension,
	// spec.install.preflight.crdUpgradeSafety.enforcement is None.
	Unenforced bool
	// Cluster, if set, is the cluster in which the old bundle is installed. Reports then name
	// the namespace.
	Cluster *Cluster
	// Cache, if set, keeps results for comparisons of equal CRDs and of equal permissions.
	Cache *Cache
}

// Compare returns what an upgrade from old to new changes. It returns an error if the
// bundles belong to different packages, or the cause of the context's end. What cannot be
// compared is a change in the report.
func Compare(ctx context.Context, old, new Bundle, opts *Options) (*Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	if old.Package != new.Package {
		return nil, fmt.Errorf("bundle %s is of package %s, but %s is of package %s; an upgrade stays in a package", old.CSV().Name, old.Package, new.CSV().Name, new.Package)
	}
	c := &comparison{ctx: ctx, old: old, new: new, opts: *opts, csv: &new.CSVs[len(new.CSVs)-1], namespace: opts.Namespace, watched: opts.Watch}
	if c.opts.Cache == nil {
		c.opts.Cache = &Cache{}
	}
	c.namespaces()
	r := &Report{Package: new.Package, From: idOf(old), To: idOf(new), OLM: "v1", Verdict: Safe}
	if opts.Classic {
		r.OLM = "classic"
	}
	if opts.Cluster != nil {
		r.Namespace = c.opts.Namespace
	}
	for _, part := range []struct {
		class   Class
		compare func() ([]Change, error)
	}{
		{Objects, c.objects}, {CRDs, c.crds}, {Permissions, c.permissions}, {Webhooks, c.webhooks},
		{Images, c.images}, {Workloads, c.workloads}, {Requirements, c.requirements},
	} {
		changes, err := part.compare()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		done := class(part.class, changes)
		r.Classes = append(r.Classes, done)
		r.Verdict = worse(r.Verdict, done.Verdict)
	}
	r.CRDs = c.safety
	return r, nil
}

func idOf(b Bundle) BundleID {
	csv := b.CSV()
	return BundleID{csv.Name, csv.Spec.Version.String()}
}

// A comparison compares two bundles.
type comparison struct {
	ctx      context.Context
	old, new Bundle
	opts     Options
	csv      *registryv1.Manifest[v1alpha1.ClusterServiceVersion] // the new CSV, for positions
	safety   resultsByName
	// Options.Namespace and Options.Watch, as they were given
	namespace string
	watched   []string
}

// A place is a position in a bundle.
type place struct {
	fbc.Pos
	csv  *registryv1.Manifest[v1alpha1.ClusterServiceVersion] // if the position is that of a path
	path []any
}

// at returns the place of a value in the new CSV.
func (c *comparison) at(path ...any) place { return place{c.csv.Pos, c.csv, path} }

// coded returns a change with a code. Its verdict is that of the code.
func (c *comparison) coded(code fbc.Code, op Op, object, path string, at place, format string, args ...any) Change {
	return Change{Verdict: verdictOf(code), Code: code, Op: op, Object: object, Path: path, at: at, Message: fmt.Sprintf(format, args...)}
}

// safe returns a change without a code.
func safe(op Op, object, format string, args ...any) Change {
	return Change{Verdict: Safe, Op: op, Object: object, Message: fmt.Sprintf(format, args...)}
}
