package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/shell"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// crdObstacles reports that the cluster refuses the CRDs of a coming bundle, because of the existing ones (E7): first what the
// API server does not change, then the versions that are lost. The custom resources are not checked.
func crdObstacles(w *world.World, c coming) (out []Obstacle) {
	var fixed []string // the CRDs whose scope or kind changes
	change := ""
	for _, want := range c.crds {
		name := want.Metadata.Name
		have := w.CRD(name)
		if have == nil {
			continue
		}
		if what := crd.Immutable(have, want); what != "" {
			if fixed = append(fixed, name); change != "" && change != what {
				what = "scope or kind"
			}
			change = what
			continue
		}
		users := crd.Users(w, name, map[string]bool{c.name: true, c.replaces: true})
		shared := slices.ContainsFunc(users, func(u *olm.ClusterServiceVersion) bool { return crd.Owns(u, name) })
		if lost := crd.LostVersions(have, want, users, shared); len(lost) > 0 {
			out = append(out, lostVersions(have, c.name, lost))
		}
	}
	if len(fixed) > 0 {
		o := Obstacle{By: resolver.HeldByCRD}
		crds, those, their := "CRD", "the CRD", "its"
		if len(fixed) > 1 {
			crds, those, their = "CRDs", "the CRDs", "their"
		}
		stay := ""
		if c.replaces != "" {
			stay = "stay with " + c.replaces + ", or "
		}
		o.Reason = fmt.Sprintf("the cluster refuses %s, because it changes the %s of %s %s", c.name, change, crds, phrase.And(fixed))
		o.Remedy = fmt.Sprintf("%ssave the custom resources and delete %s, which OLM then creates again. Risk: all of %s custom resources are deleted, too", stay, those, their)
		o.add("to save the custom resources", kubectl.All(strings.Join(fixed, ","))+" > "+shell.Quote(fixed[0]+".yaml"))
		o.add("to delete the "+crds, kubectl.Delete("customresourcedefinition", "", fixed...))
		out = slices.Insert(out, 0, o)
	}
	return out
}

// lostVersions reports versions that a bundle removes from a CRD. The command, if any, rewrites the custom resources that may be
// stored as one of them.
func lostVersions(have *olm.CustomResourceDefinition, bundle string, lost []crd.Violation) Obstacle {
	var problems, stored []string
	for _, v := range lost {
		problems = append(problems, v.String())
		if slices.Contains(have.Status.StoredVersions, v.Version) {
			stored = append(stored, v.Version)
		}
	}
	o := Obstacle{By: resolver.HeldByCRD}
	o.Reason = fmt.Sprintf("OLM refuses %s because of CRD %s: %s", bundle, have.Metadata.Name, strings.Join(problems, "; "))
	kept := slices.DeleteFunc(slices.Clone(have.Status.StoredVersions), func(v string) bool { return slices.Contains(stored, v) })
	i := slices.IndexFunc(have.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Storage })
	storage := ""
	if i >= 0 {
		storage = have.Spec.AllVersions()[i].Name
	}
	switch {
	case len(stored) < len(lost):
		o.Remedy = "first upgrade or remove the operators that use these versions"
	case slices.Contains(stored, storage):
		o.Remedy = "first change the CRD to store another version"
	default:
		if storage != "" && !slices.Contains(kept, storage) {
			kept = append(kept, storage)
		}
		o.Remedy = fmt.Sprintf("rewrite the custom resources, and remove %s from status.storedVersions of the CRD", phrase.And(stored))
		o.add("to rewrite the custom resources", kubectl.All(have.Metadata.Name)+" | kubectl replace -f - && "+
			kubectl.PatchStatus("crd", "", have.Metadata.Name, map[string]any{"storedVersions": kept}))
	}
	return o
}

// definitions returns the CRDs of a bundle if it has an API in the group of an existing CRD, and if its manifests are in the
// catalog. The error is the context's.
func definitions(ctx context.Context, w *world.World, b graph.Bundle) (out []*olm.CustomResourceDefinition, err error) {
	exists := false
	for api := range b.APIs() {
		exists = exists || slices.ContainsFunc(w.CRDs, func(d *olm.CustomResourceDefinition) bool { return d.Spec.Group == api.Group })
	}
	if !exists {
		return nil, nil
	}
	raw, err := b.Raw(ctx)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	objects, err := bundleObjects(ctx, raw)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	for _, o := range objects {
		if d := definition(o); d != nil {
			out = append(out, d)
		}
	}
	return sorted(out), nil
}

// planned returns the CRDs of a bundle from the steps of an install plan.
func planned(ip *olm.InstallPlan, bundle string) (out []*olm.CustomResourceDefinition) {
	for _, s := range ip.Status.Plan {
		if s.Resolving != bundle || !world.IsCRD(s.Resource) {
			continue
		}
		if o, err := s.Resource.Object(); err == nil {
			if d := definition(o); d != nil {
				out = append(out, d)
			}
		}
	}
	return sorted(out)
}

func sorted(list []*olm.CustomResourceDefinition) []*olm.CustomResourceDefinition {
	slices.SortStableFunc(list, func(a, b *olm.CustomResourceDefinition) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	return list
}

// definition returns a CRD, or nil if the object is not one.
func definition(o olm.Object) *olm.CustomResourceDefinition {
	if k := o.Key(); k.Group != olm.GroupCRD || k.Kind != olm.KindCRD {
		return nil
	}
	d, err := olm.As[olm.CustomResourceDefinition](o)
	if err != nil {
		return nil
	}
	return d
}
