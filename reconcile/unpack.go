package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// The running OLM unpacks the image of a bundle into a ConfigMap. Until that is
// done its install plans have bundleLookups in place of steps, and afterwards
// steps that refer to the ConfigMap in place of a manifest. Where the content
// has the bundle, it has the same objects, so such plans continue here; where it does
// not, they wait and report it.

// A bundleSource is where to find a bundle: by the name of its CSV and its catalog.
type bundleSource struct {
	csv, catalog, namespace string
	replaces                string
	// properties is the JSON of the bundle's properties, if known. It distinguishes
	// bundles with the same name in several packages.
	properties string
}

// unpackedSteps returns the steps that install a bundle.
func (p *planner) unpackedSteps(ctx context.Context, src bundleSource) ([]olm.Step, error) {
	id := resolver.CatalogID{Name: src.catalog, Namespace: src.namespace}
	g, err := p.content.Catalog(ctx, id)
	if err != nil {
		return nil, err
	}
	b, ok := findBundle(g, src)
	if !ok {
		return nil, fmt.Errorf("catalog %s has no bundle %q", id, src.csv)
	}
	return p.bundleSteps(ctx, resolver.Selected{
		Name: src.csv, Package: b.Package().Name(), Catalog: src.catalog, CatalogNamespace: src.namespace,
		Replaces: src.replaces, Version: b.Version().String(), Bundle: b,
	})
}

// findBundle returns the bundle of a name, that of the package which the
// properties name if there are several.
func findBundle(g *graph.Catalog, src bundleSource) (found graph.Bundle, ok bool) {
	var pkg string
	if list, err := projected(src.properties); err == nil {
		pkg = packageOf(list)
	}
	for b := range g.Bundles() {
		if b.Name() == src.csv && (!ok || b.Package().Name() == pkg) {
			found, ok = b, true
		}
	}
	return found, ok
}

// projected returns the properties in {"properties": […]}, the form that
// references and annotations have.
func projected(text string) ([]property.Property, error) {
	var v struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return property.ParseList(v.Properties)
}

// lookups returns the bundles of a plan that are not unpacked: those that it has no
// steps for.
func lookups(ip *olm.InstallPlan) []olm.BundleLookup {
	var list []olm.BundleLookup
	for _, l := range ip.Status.BundleLookups {
		if !slices.ContainsFunc(ip.Status.Plan, func(s olm.Step) bool { return s.Resolving == l.Identifier }) {
			list = append(list, l)
		}
	}
	return list
}

// unpack gives a plan the steps that its bundle lookups stand for. If the
// content lacks one of the bundles the plan waits, and its message reports why.
func (p *planner) unpack(ctx context.Context, ip *olm.InstallPlan) error {
	out := *ip
	st := &out.Status
	st.Plan, st.BundleLookups = slices.Clone(st.Plan), slices.Clone(st.BundleLookups)
	var missing []string
	for _, l := range lookups(ip) {
		src := bundleSource{csv: l.Identifier, replaces: l.Replaces, properties: l.Properties}
		if l.CatalogSourceRef != nil {
			src.catalog, src.namespace = l.CatalogSourceRef.Name, l.CatalogSourceRef.Namespace
		}
		steps, err := p.unpackedSteps(ctx, src)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			missing = append(missing, fmt.Sprintf("bundle %q is not unpacked%s, and cannot be read otherwise: %s", l.Identifier, lookupState(l), err))
			continue
		}
		st.Plan = append(st.Plan, steps...)
	}
	if len(missing) > 0 {
		text := visible.Lines("waits: " + strings.Join(missing, "; "))
		p.note(ip.Key(), "%s", text)
		if ip.Status.Message == text {
			return nil
		}
		out = *ip
		out.Status.Message = text
		return p.emit(UpdateStatus, &out, ip.Key(), nil, "%s", text)
	}
	slices.SortStableFunc(st.Plan, func(a, b olm.Step) int {
		return cmp.Compare(stepRank(a.Resource), stepRank(b.Resource))
	})
	for i := range st.BundleLookups {
		clearCondition(&st.BundleLookups[i].Conditions, olm.BundleLookupPending)
		clearCondition(&st.BundleLookups[i].Conditions, olm.BundleLookupFailed)
	}
	st.Message = ""
	if st.Phase == "" {
		st.Phase = olm.PlanInstalling
	}
	if !ip.Spec.Approved {
		st.Phase = olm.PlanRequiresApproval
	}
	return p.emit(UpdateStatus, &out, ip.Key(), nil, "%s from the content of the catalogs, %s", countSteps(len(st.Plan)), st.Phase)
}

// lookupState returns the state of unpacking a bundle, in parentheses.
func lookupState(l olm.BundleLookup) string {
	for _, typ := range []string{olm.BundleLookupFailed, olm.BundleLookupPending} {
		if c, ok := olm.FindCondition(l.Conditions, typ); ok && c.Status == olm.ConditionTrue {
			return " (" + typ + ", " + saying(c) + ")"
		}
	}
	return ""
}

// errNoStep is the error of a reference to what its bundle does not hold.
var errNoStep = errors.New("the bundle has no such object")

// manifest returns the manifest of a step, from its bundle if the step refers
// to that.
func (e *execution) manifest(ctx context.Context, s *olm.Step) (string, error) {
	ref, ok := s.Resource.Reference()
	if !ok {
		return s.Resource.Manifest, nil
	}
	steps, ok := e.unpacked[s.Resolving]
	if !ok {
		var err error
		steps, err = e.unpackedSteps(ctx, bundleSource{
			csv: s.Resolving, catalog: ref.CatalogSourceName, namespace: ref.CatalogSourceNamespace,
			replaces: ref.Replaces, properties: ref.Properties,
		})
		if err != nil {
			return "", fmt.Errorf("%s %s is in the unpacked bundle %q (ConfigMap %s/%s), which cannot be read: %w",
				s.Resource.Kind, s.Resource.Name, s.Resolving, ref.Namespace, ref.Name, err)
		}
		e.unpacked[s.Resolving] = steps
	}
	for _, u := range steps {
		if sameResource(u.Resource, s.Resource) && u.Resource.Version == s.Resource.Version {
			if isOther(ref, u.Resource.Manifest) {
				return "", fmt.Errorf("%s %s: bundle %q of catalog %s/%s has changed since the plan was created; delete the plan to have it recreated",
					s.Resource.Kind, s.Resource.Name, s.Resolving, ref.CatalogSourceNamespace, ref.CatalogSourceName)
			}
			return u.Resource.Manifest, nil
		}
	}
	return "", fmt.Errorf("%s %s: bundle %q: %w", s.Resource.Kind, s.Resource.Name, s.Resolving, errNoStep)
}
