package memcluster

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/olm"
)

type rawJSON = jsontext.Value

// control returns an object with the status that a cluster would give it, or
// nil for one that this package has no opinion on.
func (c *Cluster) control(o olm.Object) (*olm.Object, error) {
	switch k := o.Key(); {
	case k.Group == olm.GroupCRD && k.Kind == olm.KindCRD:
		crd, err := olm.As[olm.CustomResourceDefinition](o)
		if err != nil {
			return nil, err
		}
		return c.serve(crd)
	case k.Group == "apps" && k.Kind == "Deployment":
		d, err := olm.As[olm.Deployment](o)
		if err != nil {
			return nil, err
		}
		return c.run(d)
	}
	return nil, nil
}

// serve lets the API server serve an API, and remember in which version it
// stores objects.
func (c *Cluster) serve(crd *olm.CustomResourceDefinition) (*olm.Object, error) {
	crd.Status.Conditions = []olm.Condition{
		{Type: "NamesAccepted", Status: olm.ConditionTrue, Reason: "NoConflicts"},
		{Type: "Established", Status: olm.ConditionTrue, Reason: "InitialNamesAccepted"},
	}
	for _, v := range crd.AllVersions() {
		if v.Storage && !slices.Contains(crd.Status.StoredVersions, v.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
	o, err := olm.ToObject(crd)
	return &o, err
}

// run lets the pods of a deployment run, or not.
func (c *Cluster) run(d *olm.Deployment) (*olm.Object, error) {
	available := olm.Condition{Type: "Available", Status: olm.ConditionTrue, Reason: "MinimumReplicasAvailable"}
	if c.Available != nil && !c.Available(d) {
		available = olm.Condition{Type: "Available", Status: olm.ConditionFalse, Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability."}
	}
	d.Status.ObservedGeneration = d.Metadata.Generation
	d.Status.Replicas, d.Status.UpdatedReplicas = 1, 1
	d.Status.Conditions = []olm.Condition{available}
	o, err := olm.ToObject(d)
	return &o, err
}
