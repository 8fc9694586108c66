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
	change, fixed := immutable(w, c.crds)
	if len(fixed) > 0 {
		out = append(out, fixedCRDs(w, c, change, fixed))
	}
	for _, want := range c.crds {
		name := want.Metadata.Name
		have := w.CRD(name)
		if have == nil || slices.Contains(fixed, name) {
			continue
		}
		users := crd.Users(w, name, map[string]bool{c.name: true, c.replaces: true})
		shared := slices.ContainsFunc(users, func(u *olm.ClusterServiceVersion) bool { return crd.Owns(u, name) })
		if lost := crd.LostVersions(have, want, users, shared); len(lost) > 0 {
			out = append(out, lostVersions(have, c.name, lost))
		}
	}
	return out
}

// immutable returns the CRDs of which new definitions change what the API server does not change, and what that is.
func immutable(w *world.World, list []*olm.CustomResourceDefinition) (change string, names []string) {
	for _, want := range list {
		have := w.CRD(want.Metadata.Name)
		if have == nil {
			continue
		}
		if what := crd.Immutable(have, want); what != "" {
			if names = append(names, want.Metadata.Name); change != "" && change != what {
				what = "scope or kind"
			}
			change = what
		}
	}
	return change, names
}

// refusesCRDs returns why the cluster refuses a bundle, as a clause.
func refusesCRDs(bundle, change string, crds []string) string {
	return fmt.Sprintf("the cluster refuses %s, because it changes the %s of %s %s", bundle, change, phrase.Plural(len(crds), "CRD"), phrase.And(crds))
}

// fixedCRDs reports that a bundle changes what the API server does not change. OLM creates the CRDs again only with an operator
// that is installed again, because the installed one does not become ready without them.
func fixedCRDs(w *world.World, c coming, change string, names []string) Obstacle {
	those := "the " + phrase.Plural(len(names), "CRD")
	o := Obstacle{By: resolver.HeldByCRD, Reason: refusesCRDs(c.name, change, names)}
	o.add("to save the custom resources", kubectl.All(strings.Join(names, ","))+" > "+shell.Quote(names[0]+".yaml"))
	remove := kubectl.Delete("customresourcedefinition", "", names...)
	risk := fmt.Sprintf(". Risk: all of %s custom resources are deleted, too", phrase.Either(len(names), "its", "their"))
	if i := slices.IndexFunc(w.Subscriptions, func(s *olm.Subscription) bool { return s.Status.InstalledCSV == c.replaces && c.replaces != "" }); i >= 0 {
		o.Remedy = fmt.Sprintf("stay with %s, or save the custom resources, remove it with %s, and install it again", c.replaces, those)
		o.add("to remove the operator", kubectl.Delete("clusterserviceversion", w.Namespace, c.replaces))
		o.add("to delete "+those, remove)
		o.add("to install it again", kubectl.Recreate("subscription."+olm.Group, w.Namespace, w.Subscriptions[i].Metadata.Name, nil))
	} else {
		o.Remedy = fmt.Sprintf("save the custom resources and delete %s, which OLM then creates again", those)
		o.add("to delete "+those, remove)
	}
	var users []string
	for _, name := range names {
		for _, u := range crd.Users(w, name, map[string]bool{c.name: true, c.replaces: true}) {
			if user := u.Metadata.Namespace + "/" + u.Metadata.Name; !slices.Contains(users, user) {
				users = append(users, user)
			}
		}
	}
	if len(users) > 0 {
		slices.Sort(users)
		risk += ", and " + phrase.And(users) + " cannot do without them"
	}
	o.Remedy += risk
	return o
}

// Refusal returns why the cluster refuses the CRDs of a selected bundle, as a clause, or "". The error is the context's.
func Refusal(ctx context.Context, s *Snapshot, x resolver.Selected) (string, error) { // E7
	w := s.world()
	crds, err := definitions(ctx, w, x.Bundle)
	if err != nil {
		return "", err
	}
	change, names := immutable(w, crds)
	if len(names) == 0 {
		return "", nil
	}
	return refusesCRDs(x.Name, change, names), nil
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
