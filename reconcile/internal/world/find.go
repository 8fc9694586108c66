package world

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// Instances returns the custom resources of a CRD that the snapshot has.
func (w *World) Instances(crd *olm.CustomResourceDefinition) []olm.Object {
	var list []olm.Object
	for _, o := range w.Objects {
		if k := o.Key(); k.Group == crd.Spec.Group && k.Kind == crd.Spec.Names.Kind {
			list = append(list, o)
		}
	}
	return list
}

// InstancesRead reports whether the snapshot has all custom resources of a CRD.
func (w *World) InstancesRead(crd string) bool {
	c := w.CRD(crd)
	return c != nil && w.Knows(olm.GroupKind{Group: c.Spec.Group, Kind: c.Spec.Names.Kind})
}

// Find returns an object of any kind of the snapshot, or nil. It looks in all lists
// of the snapshot: an existing object that is not found would be created again and
// again.
func (w *World) Find(k olm.Key) (*olm.Object, error) {
	var r olm.Resource
	switch k.Group + "/" + k.Kind {
	case "/Namespace":
		r = Pick(w.Namespaces, k)
	case olm.GroupCRD + "/" + olm.KindCRD:
		r = Pick(w.CRDs, k)
	case "apps/Deployment":
		r = Pick(w.Deployments, k)
	case olm.Group + "/" + olm.KindOperatorGroup:
		r = Pick(w.OperatorGroups, k)
	case olm.Group + "/" + olm.KindClusterServiceVersion:
		r = Pick(w.CSVs, k)
	case olm.Group + "/" + olm.KindCatalogSource:
		r = Pick(w.CatalogSources, k)
	case olm.Group + "/" + olm.KindSubscription:
		r = Pick(w.Subscriptions, k)
	case olm.Group + "/" + olm.KindInstallPlan:
		if ip := w.InstallPlan(k.Name); ip != nil && ip.Key() == k { // they are in order of generation
			r = ip
		}
	case olm.Group + "/" + olm.KindOperatorCondition:
		r = Pick(w.OperatorConditions, k)
	case olm.Group + "/" + olm.KindOLMConfig:
		if c := w.OLMConfig; c != nil && c.Key() == k {
			r = c
		}
	}
	if r == nil {
		return w.Object(k), nil
	}
	o, err := olm.ToObject(r)
	return &o, err
}

// Pick returns the first resource with key k in a list that is sorted by key, or nil.
func Pick[R olm.Resource](list []R, k olm.Key) olm.Resource {
	i, ok := slices.BinarySearchFunc(list, k, func(r R, k olm.Key) int { return r.Head().Key().Compare(k) })
	if !ok {
		return nil
	}
	return list[i]
}

// OwnerVersion returns the version of an owner, with an empty ResourceVersion if the owner
// does not exist. The deletion of the objects of the owner depends on this version.
func (w *World) OwnerVersion(owner olm.Key) Version {
	r := Pick(w.CSVs, owner) // may also be a copied CSV
	if owner.Kind == olm.KindOperatorGroup {
		r = Pick(w.OperatorGroups, owner)
	}
	if r == nil {
		return Version{Key: owner}
	}
	return VersionOf(r)
}

// Finalizer is OLM's finalizer of CSVs. It delays the deletion of a CSV until the objects
// that were generated for it in other namespaces are deleted (E22).
const Finalizer = "operators.coreos.com/csv-cleanup"

// InUse reports whether an owner exists.
func (w *World) InUse(owner olm.Key) bool {
	switch owner.Kind {
	case olm.KindClusterServiceVersion:
		return w.CSV(owner.Name) != nil
	case olm.KindOperatorGroup:
		for _, g := range w.Groups() {
			if g.Metadata.Name == owner.Name {
				return true
			}
		}
		return false
	}
	return true // this package generates no objects for other kinds
}

// annotationExcludeGlobal is the annotation of a group whose namespace does not use global
// catalogs.
const annotationExcludeGlobal = "olm.operatorframework.io/exclude-global-namespace-resolution"

// VisibleCatalogs returns the CatalogSources that the namespace sees.
func (w *World) VisibleCatalogs() []*olm.CatalogSource {
	gs := w.Groups()
	if len(gs) != 1 || gs[0].Metadata.Annotations[annotationExcludeGlobal] != "true" {
		return w.CatalogSources
	}
	var out []*olm.CatalogSource
	for _, c := range w.CatalogSources {
		if c.Metadata.Namespace == w.Namespace {
			out = append(out, c)
		}
	}
	return out
}
