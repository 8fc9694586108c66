package bundlelint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// Options adjust what Lint checks. A nil *Options means all defaults.
type Options struct {
	// Kubernetes is the version of the clusters that the bundle is for. APIs that it does
	// not serve are errors. Default: the newest version that this package knows, [Newest].
	Kubernetes *version.Version
	// Limits and Catalog cap the cost of hostile bundles.
	Limits  *registryv1.Limits
	Catalog *fbc.Limits
}

// A Result is what Lint found.
type Result struct {
	// Package and Name are those of the bundle, empty if it cannot be read.
	Package, Name string
	// Findings are sorted by position. Findings in manifests have the line of the value;
	// fbc/report.Locate adds the lines of the others.
	Findings fbc.Diagnostics
}

// Lint checks the bundle directory at the root of fsys. If files cannot be read, Lint
// returns only the findings about those files, because others would be misleading. The
// error is the cause of the context's end.
func Lint(ctx context.Context, fsys fs.FS, opts *Options) (*Result, error) {
	if opts == nil {
		opts = &Options{}
	}
	b, err := registryv1.Read(ctx, fsys, &registryv1.ReadOptions{Limits: opts.Limits})
	var unreadable *registryv1.Error
	switch {
	case errors.As(err, &unreadable):
		return &Result{Findings: limited(diagnostics(unreadable.Problems), opts.Catalog)}, nil
	case err != nil:
		return nil, err
	}
	l := &linter{ctx: ctx, fsys: fsys, bundle: b, csv: &b.CSVs[len(b.CSVs)-1], kubernetes: cmp.Or(opts.Kubernetes, Newest())}
	l.found = diagnostics(append(b.Validate(), b.Dropped()...))
	for _, check := range []func(*linter){
		(*linter).name, (*linter).owned, (*linter).accounts, (*linter).serviceNames, (*linter).apis, (*linter).images, (*linter).minKubeVersion,
		(*linter).installModes, (*linter).suggestedNamespace, (*linter).size,
	} {
		check(l)
	}
	if err := l.blob(opts.Catalog); err != nil {
		return nil, err
	}
	if err := l.rollout(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortStableFunc(l.found, (*fbc.Diagnostic).Compare)
	return &Result{Package: b.Package, Name: b.CSV().Name, Findings: limited(l.found, opts.Catalog)}, nil
}

// limited returns the first findings, as many as the limit Diagnostics allows, and one that states that
// there are more.
func limited(found fbc.Diagnostics, limits *fbc.Limits) fbc.Diagnostics {
	most := limits.WithDefaults().Diagnostics
	if int64(len(found)) <= most {
		return found
	}
	limit := &fbc.LimitError{Limit: "Diagnostics", What: "number of findings", Max: most}
	return append(found[:most:most], &fbc.Diagnostic{Code: codes.Limit, Severity: fbc.Error, Pos: found[most].Pos, Err: limit})
}

// A linter checks one bundle.
type linter struct {
	ctx        context.Context
	fsys       fs.FS
	bundle     *registryv1.Bundle
	csv        *registryv1.Manifest[v1alpha1.ClusterServiceVersion]
	kubernetes *version.Version
	found      fbc.Diagnostics
}

func (l *linter) report(code fbc.Code, at fbc.Pos, format string, args ...any) {
	l.found = append(l.found, &fbc.Diagnostic{Code: code, Severity: code.Severity(), Pos: at, Err: fmt.Errorf(format, args...)})
}

// diagnostics converts the problems that package registryv1 reports to findings.
func diagnostics(problems []registryv1.Problem) fbc.Diagnostics {
	var out fbc.Diagnostics
	for _, p := range problems {
		code := codeOf(p.Code)
		out = append(out, &fbc.Diagnostic{Code: code, Severity: code.Severity(), Pos: p.Pos, Err: errors.New(p.Message)})
	}
	slices.SortStableFunc(out, (*fbc.Diagnostic).Compare)
	return out
}

// codeOf returns the code of the finding that corresponds to a problem code of package
// registryv1.
func codeOf(code string) fbc.Code {
	switch code {
	case "limit":
		return codes.Limit
	case "dupDeployment", "deploymentName":
		return codes.BundleDeploymentName
	case "dupCRD":
		return codes.BundleCRDTwice
	case "missingCRD":
		return codes.BundleCRDMissing
	case "crdVersion":
		return codes.BundleCRDVersion
	case "invalidCRD":
		return codes.BundleCRDInvalid
	case "invalidMetadata":
		return codes.BundleMetadata
	case "invalidObject":
		return codes.BundleObjectInvalid
	case "dupCSV":
		return codes.BundleCSVTwice
	case "packageName":
		return codes.BundlePackageName
	case "conversionInstallMode", "dupConversionCRD", "conversionNotOwned":
		return codes.BundleConversion
	case "webhookDeployment":
		return codes.BundleWebhookDeployment
	case "dupWebhook", "webhookName":
		return codes.BundleWebhookName
	case "webhookRule":
		return codes.BundleWebhookRule
	case "invalidWebhook":
		return codes.BundleWebhookInvalid
	case "dropped":
		return codes.BundleFieldDropped
	case "duplicate":
		return codes.BundleObjectTwice
	case "preserveUnknownFields":
		return codes.BundleConversion
	case "rollout":
		return codes.BundleRollout
	case "servicePorts":
		return codes.BundleServicePort
	case "unsupportedKind":
		return codes.BundleKind
	}
	return codes.BundleFile
}

// blob adds the findings about the blob that a catalog gets from the bundle, except those
// that the validators of bundles report as well.
func (l *linter) blob(limits *fbc.Limits) error {
	dir, err := bundle.Load(l.ctx, l.fsys, &bundle.Options{Limits: limits})
	var found fbc.Diagnostics
	switch {
	case err == nil:
		found = dir.Findings
	case !errors.As(err, &found):
		return err
	}
	l.found = append(l.found, slices.DeleteFunc(found, Repeated)...)
	return nil
}

// Repeated reports whether the validators of bundles find the same as a finding about the blob of a bundle.
func Repeated(d *fbc.Diagnostic) bool {
	return d.Code == codes.Duplicate || d.Code == codes.API ||
		d.Code == codes.Required && (strings.HasPrefix(d.Path, "/annotations/") || d.Path == "/metadata/name")
}
