package crdsafety

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/version"
)

// An Enforcement is a value of
// spec.install.preflight.crdUpgradeSafety.enforcement of a ClusterExtension.
type Enforcement string

const (
	// Strict checks every upgrade. It is the default.
	Strict Enforcement = "Strict"
	// None disables the check: the verdict is Skipped.
	None Enforcement = "None"
)

// Options change what Compare does. The zero value is the default.
type Options struct {
	Enforcement Enforcement
	// AsUpstream gives the verdict and the findings of operator-controller.
	AsUpstream bool
}

// Decode converts a manifest to a CRD. JSON values in schemas, such as
// defaults, are normalized: the order of their keys does not matter.
func Decode(manifest map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	const kind = "CustomResourceDefinition"
	apiVersion := apiextensionsv1.SchemeGroupVersion.String()
	switch v := manifest["apiVersion"]; {
	case manifest["kind"] != kind:
		return nil, fmt.Errorf("not a CRD: want apiVersion %s and kind %s", apiVersion, kind)
	case v != apiVersion:
		return nil, fmt.Errorf("apiVersion is %v, and only CRDs of %s are compared; Kubernetes 1.22 and later serve no other", v, apiVersion)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text, err := json.Marshal(manifest) // with sorted keys
	if err == nil {
		err = json.Unmarshal(text, crd)
	}
	if err != nil {
		return nil, err
	}
	return crd, nil
}

// CompareAll returns a verdict for each new CRD, sorted by name. A new CRD is
// safe if there is no old CRD with its name.
func CompareAll(ctx context.Context, old, new []*apiextensionsv1.CustomResourceDefinition, opts *Options) ([]*Result, error) {
	known := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range old {
		known[crd.Name] = crd
	}
	var out []*Result
	for _, crd := range new {
		from := known[crd.Name]
		if from == nil {
			from = crd
		}
		r, err := Compare(ctx, from, crd, opts)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b *Result) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Compare returns whether old can be upgraded to new. If the status of old
// lists no stored versions, its storage version is the only one.
//
// The error is ErrTooLarge, an unknown enforcement, or the cause of the
// context's end.
func Compare(ctx context.Context, old, new *apiextensionsv1.CustomResourceDefinition, opts *Options) (*Result, error) { // K54
	if opts == nil {
		opts = &Options{}
	}
	r := &Result{Name: new.Name}
	switch opts.Enforcement {
	case Strict, "":
	case None:
		r.Verdict = Skipped
		return r, nil
	default:
		return nil, fmt.Errorf("enforcement %q is neither %s nor %s", opts.Enforcement, Strict, None)
	}
	ours, findings, err := compareBoth(ctx, old, new)
	if err != nil {
		return nil, fmt.Errorf("CRD %s: %w", new.Name, err)
	}
	upstream := verdict(findings)
	if crashes(old, new) {
		upstream = Panic
	}
	if opts.AsUpstream {
		markFalseAlarms(findings, ours)
		r.Verdict, r.Findings = upstream, findings
		r.FalseAlarm = upstream == Unsafe && len(ours) == 0
		return r, nil
	}
	r.Verdict, r.Findings = verdict(ours), ours
	if upstream != r.Verdict {
		r.Upstream = upstream
	}
	return r, nil
}

func verdict(findings []Finding) Verdict {
	if len(findings) == 0 {
		return Safe
	}
	return Unsafe
}

// compareBoth returns the findings of the default comparison and those of
// operator-controller, which has none where it crashes.
func compareBoth(ctx context.Context, old, new *apiextensionsv1.CustomResourceDefinition) (ours, upstream []Finding, err error) {
	before, err := versionsOf(ctx, old)
	if err != nil {
		return nil, nil, err
	}
	after, err := versionsOf(ctx, new)
	if err != nil {
		return nil, nil, err
	}
	if ours, err = compare(ctx, before, after, false); err == nil && !crashes(old, new) {
		upstream, err = compare(ctx, before, after, true)
	}
	return ours, upstream, err
}

// compare returns the findings, sorted.
func compare(ctx context.Context, old, new *versions, asUpstream bool) ([]Finding, error) {
	out := wholeCRD(old.CustomResourceDefinition, new.CustomResourceDefinition)
	same := &comparison{ctx: ctx, scope: ScopeSame}
	for _, from := range old.roots {
		i := slices.IndexFunc(new.roots, func(r root) bool { return r.Name == from.Name })
		if i < 0 {
			continue
		}
		same.version = from.Name
		if err := same.compare(from.node, new.roots[i].node, asUpstream); err != nil {
			return nil, err
		}
	}
	for _, f := range same.found {
		out = append(out, f.Finding)
	}
	if !webhook(new.CustomResourceDefinition) {
		introduced, err := served(ctx, old.roots, new.roots, asUpstream)
		if err != nil {
			return nil, err
		}
		out = append(out, introduced...)
	}
	slices.SortFunc(out, Finding.Compare)
	return out, nil
}

func (c *comparison) compare(old, new *node, asUpstream bool) error {
	switch {
	case asUpstream:
		return c.paths(old, new)
	case old == nil:
		return nil // without a schema there are no fields
	}
	return c.fields(old, new)
}

// wholeCRD compares the fields outside the versions (K56).
func wholeCRD(old, new *apiextensionsv1.CustomResourceDefinition) []Finding {
	var out []Finding
	if old.Spec.Scope != new.Spec.Scope {
		out = append(out, Finding{Scope: ScopeCRD, Validation: "scope", Old: value(string(old.Spec.Scope)), New: value(string(new.Spec.Scope))})
	}
	stored := old.Status.StoredVersions
	var left []string
	for _, v := range old.Spec.Versions {
		if len(old.Status.StoredVersions) == 0 && v.Storage {
			stored = append(stored, v.Name)
		}
	}
	for _, v := range new.Spec.Versions {
		left = append(left, v.Name)
	}
	if removed := without(stored, left); len(removed) > 0 {
		out = append(out, Finding{Scope: ScopeCRD, Validation: "storedVersionRemoval", Old: value(removed)})
	}
	return out
}

// A root is a version and its schema, or nil if it has none.
type root struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	node *node
}

// versions are the versions of a CRD.
type versions struct {
	*apiextensionsv1.CustomResourceDefinition
	roots []root
}

func versionsOf(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*versions, error) {
	b := &builder{ctx: ctx}
	out := &versions{CustomResourceDefinition: crd}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		n, err := b.root(v)
		if err != nil {
			return nil, err
		}
		out.roots = append(out.roots, root{v, n})
	}
	return out, nil
}

func webhook(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// served returns the findings between the served versions of the new CRD,
// without those that the old CRD has too (K61).
func served(ctx context.Context, before, after []root, asUpstream bool) ([]Finding, error) {
	found, err := servedPairs(ctx, after, asUpstream)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	was, err := servedPairs(ctx, before, asUpstream)
	if err != nil {
		return nil, err
	}
	known := map[[3]string][]judged{}
	key := func(f judged) [3]string { return [3]string{f.Version, f.Path, f.Validation} }
	for _, f := range was {
		known[key(f)] = append(known[key(f)], f)
	}
	room := 10_000
	var out []Finding
	for _, f := range found {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !slices.ContainsFunc(known[key(f)], func(k judged) bool {
			if asUpstream {
				return sameText(f, k, &room)
			}
			return f.Finding.Compare(k.Finding) == 0
		}) {
			out = append(out, f.Finding)
		}
	}
	return out, nil
}

// servedPairs compares each served version with all newer ones.
func servedPairs(ctx context.Context, versions []root, asUpstream bool) ([]judged, error) {
	versions = slices.DeleteFunc(slices.Clone(versions), func(r root) bool { return !r.Served })
	slices.SortStableFunc(versions, func(a, b root) int { return version.CompareKubeAwareVersionStrings(a.Name, b.Name) })
	c := &comparison{ctx: ctx, scope: ScopeServed}
	for i, older := range versions {
		for _, newer := range versions[i+1:] {
			c.version = older.Name + " -> " + newer.Name
			if err := c.compare(older.node, newer.node, asUpstream); err != nil {
				return nil, err
			}
		}
	}
	return c.found, nil
}
