package installplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/steps"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// The running OLM unpacks the image of a bundle into a ConfigMap. Until then, its install
// plans have bundleLookups instead of steps, and afterwards steps that refer to the
// ConfigMap instead of manifests. If the content of a catalog has the bundle, it has the
// same objects, so these plans can continue. Otherwise they wait and report the reason.

// lookups returns the bundles of a plan that have not been unpacked: those without steps.
func lookups(ip *olm.InstallPlan) []olm.BundleLookup {
	var list []olm.BundleLookup
	for _, l := range ip.Status.BundleLookups {
		if !slices.ContainsFunc(ip.Status.Plan, func(s olm.Step) bool { return s.Resolving == l.Identifier }) {
			list = append(list, l)
		}
	}
	return list
}

// unpack replaces the bundle lookups of a plan with steps. If a bundle is not in the
// content, the plan waits and its message reports why.
func (p *planner) unpack(ctx context.Context, ip *olm.InstallPlan) error {
	out := *ip
	st := &out.Status
	st.Plan, st.BundleLookups = slices.Clone(st.Plan), slices.Clone(st.BundleLookups)
	var missing []string
	for _, l := range lookups(ip) {
		src := steps.Source{CSV: l.Identifier, Replaces: cmp.Or(l.Replaces, p.upgraded(l.Identifier)), Properties: l.Properties}
		if l.CatalogSourceRef != nil {
			src.Catalog, src.Namespace = l.CatalogSourceRef.Name, l.CatalogSourceRef.Namespace
		}
		steps, err := p.Unpacked(ctx, src)
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
		p.Note(ip.Key(), "%s", text).StatesStatus = true
		if ip.Status.Message == text {
			return nil
		}
		out = *ip
		out.Status.Message = text
		return p.Emit(change.UpdateStatus, &out, ip.Key(), nil, "", "%s", text)
	}
	slices.SortStableFunc(st.Plan, func(a, b olm.Step) int {
		return cmp.Compare(steps.Rank(a.Resource), steps.Rank(b.Resource))
	})
	for i := range st.BundleLookups {
		change.ClearCondition(&st.BundleLookups[i].Conditions, world.BundleLookupPending)
		change.ClearCondition(&st.BundleLookups[i].Conditions, world.BundleLookupFailed)
	}
	st.Message = ""
	if st.Phase == "" {
		st.Phase = olm.PlanInstalling
	}
	if !ip.Spec.Approved {
		st.Phase = olm.PlanRequiresApproval
	}
	return p.Emit(change.UpdateStatus, &out, ip.Key(), nil, "", "%s from the content of the catalogs, %s", phrase.Count(len(st.Plan), "step"), st.Phase)
}

// upgraded returns the operator that a bundle upgrades, as the subscription that waits for it states, or "".
func (p *planner) upgraded(csv string) string {
	for _, s := range p.Subscriptions {
		if s.Status.CurrentCSV == csv && s.Status.InstalledCSV != csv {
			return s.Status.InstalledCSV
		}
	}
	return ""
}

// lookupState returns the state of unpacking a bundle, in parentheses.
func lookupState(l olm.BundleLookup) string {
	for _, typ := range []string{world.BundleLookupFailed, world.BundleLookupPending} {
		if c, ok := olm.FindCondition(l.Conditions, typ); ok && c.Status == olm.ConditionTrue {
			return " (" + typ + ", " + status.Condition(c) + ")"
		}
	}
	return ""
}

// errNoStep is the error for a reference to an object that the bundle does not contain.
var errNoStep = errors.New("the bundle has no such object")

// manifest returns the manifest of a step, from its bundle if the step refers
// to that.
func (e *execution) manifest(ctx context.Context, s *olm.Step) (string, error) {
	ref, ok := s.Resource.Reference()
	if !ok {
		return s.Resource.Manifest, nil
	}
	objects, ok := e.unpacked[s.Resolving]
	if !ok {
		var err error
		objects, err = e.Unpacked(ctx, steps.Source{
			CSV: s.Resolving, Catalog: ref.CatalogSourceName, Namespace: ref.CatalogSourceNamespace,
			Replaces: ref.Replaces, Properties: ref.Properties,
		})
		if err != nil {
			return "", fmt.Errorf("%s %s is in the unpacked bundle %q (ConfigMap %s/%s), which cannot be read: %w",
				s.Resource.Kind, s.Resource.Name, s.Resolving, ref.Namespace, ref.Name, err)
		}
		e.unpacked[s.Resolving] = objects
	}
	for _, u := range objects {
		if steps.SameResource(u.Resource, s.Resource) && u.Resource.Version == s.Resource.Version {
			if steps.IsOther(ref, u.Resource.Manifest) {
				return "", fmt.Errorf("%s %s: bundle %q of catalog %s/%s has changed since the plan was created; delete the plan to have it recreated",
					s.Resource.Kind, s.Resource.Name, s.Resolving, ref.CatalogSourceNamespace, ref.CatalogSourceName)
			}
			return u.Resource.Manifest, nil
		}
	}
	return "", fmt.Errorf("%s %s: bundle %q: %w", s.Resource.Kind, s.Resource.Name, s.Resolving, errNoStep)
}
