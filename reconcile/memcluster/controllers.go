package memcluster

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/olm"
)

type rawJSON = jsontext.Value

// control returns an object with the status that a cluster would give it, or nil if this
// package does not simulate its controller.
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
	case isAPIService(k):
		return c.answer(o)
	}
	return nil, nil
}

func isAPIService(k olm.Key) bool {
	return k.Group == "apiregistration.k8s.io" && k.Kind == "APIService"
}

// follow updates the APIServices after a deployment or a service changed.
func (c *Cluster) follow(k olm.Key) error {
	if k.Group+"/"+k.Kind != "apps/Deployment" && k.Group+"/"+k.Kind != "/Service" {
		return nil
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.objects), olm.Key.Compare) {
		if !isAPIService(k) {
			continue
		}
		o := c.objects[k]
		status, err := c.answer(o)
		if err != nil {
			return err
		}
		if status != nil && !olm.Equal(status, &o) {
			if err := c.store(*status); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer returns an APIService that is available if a deployment behind its service is
// available.
func (c *Cluster) answer(o olm.Object) (*olm.Object, error) {
	var spec struct {
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"service"`
	}
	text, ok := o.Get("spec")
	if !ok || olm.Unmarshal(text, &spec) != nil || spec.Service == nil {
		return nil, nil // served by the API server itself
	}
	available := olm.Condition{Type: "Available", Status: olm.ConditionFalse, Reason: "EndpointsNotFound", Message: "no deployment behind its service is available"}
	if c.isServed(spec.Service.Namespace, spec.Service.Name) {
		available = olm.Condition{Type: "Available", Status: olm.ConditionTrue, Reason: "Passed", Message: "all checks passed"}
	}
	out, err := o.Set("status", map[string]any{"conditions": []olm.Condition{available}})
	return &out, err
}

func (c *Cluster) isServed(namespace, service string) bool {
	s, ok := c.objects[olm.Key{Kind: "Service", Namespace: namespace, Name: service}]
	if !ok {
		return false
	}
	text, _ := s.Get("spec", "selector")
	for k, o := range c.objects {
		if k.Group != "apps" || k.Kind != "Deployment" || k.Namespace != namespace {
			continue
		}
		d, err := olm.As[olm.Deployment](o)
		if err != nil {
			continue
		}
		labels, _ := o.Get("spec", "selector", "matchLabels")
		cond, _ := olm.FindCondition(d.Status.Conditions, "Available")
		if olm.EqualJSON(text, labels) && cond.Status == olm.ConditionTrue {
			return true
		}
	}
	return false
}

// serve simulates that the API server serves an API and records the version in which it
// stores objects.
func (c *Cluster) serve(crd *olm.CustomResourceDefinition) (*olm.Object, error) {
	crd.Status.Conditions = []olm.Condition{
		{Type: "NamesAccepted", Status: olm.ConditionTrue, Reason: "NoConflicts"},
		{Type: "Established", Status: olm.ConditionTrue, Reason: "InitialNamesAccepted"},
	}
	for _, v := range crd.Spec.AllVersions() {
		if v.Storage && !slices.Contains(crd.Status.StoredVersions, v.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
	o, err := olm.ToObject(crd)
	return &o, err
}

// run simulates the pods of a deployment, which run or not.
func (c *Cluster) run(d *olm.Deployment) (*olm.Object, error) {
	available := olm.Condition{Type: "Available", Status: olm.ConditionTrue, Reason: "MinimumReplicasAvailable"}
	if c.Available != nil && !c.Available(d) {
		available = olm.Condition{Type: "Available", Status: olm.ConditionFalse, Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability."}
	}
	d.Status.ObservedGeneration = d.Metadata.Generation
	var spec struct {
		Replicas *int64 `json:"replicas"`
	}
	d.Status.Replicas = 1 // the default, and where the spec cannot be read
	if olm.Unmarshal(d.Spec, &spec) == nil && spec.Replicas != nil {
		d.Status.Replicas = *spec.Replicas
	}
	d.Status.UpdatedReplicas = d.Status.Replicas
	d.Status.Conditions = []olm.Condition{available}
	o, err := olm.ToObject(d)
	return &o, err
}
