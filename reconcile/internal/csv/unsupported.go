package csv

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// crdOfCSVs is the CRD that defines CSVs.
const crdOfCSVs = "clusterserviceversions.operators.coreos.com"

// unsupported returns the part of a CSV that would not be run, and why, or "". Such a CSV
// fails before anything is created for it (E38).
func (p *planner) unsupported(c *olm.ClusterServiceVersion) string {
	if s := c.Spec.Install.Strategy; s != olm.StrategyDeployment {
		return fmt.Sprintf("install strategy %q is unknown: want %q", s, olm.StrategyDeployment)
	}
	first := map[string]int{}
	for i, d := range c.Spec.Install.Spec.Deployments {
		if _, ok := first[d.Name]; ok {
			return fmt.Sprintf("/spec/install/spec/deployments/%d: there are two deployments %q; rename one", i, d.Name)
		}
		first[d.Name] = i
	}
	servers := map[string]olm.APIServiceDescription{}
	for i, d := range c.Spec.APIServices.Owned {
		name := d.Version + "." + d.Group
		if o, ok := servers[name]; ok && (o.DeploymentName != d.DeploymentName || o.ContainerPort != d.ContainerPort) {
			return fmt.Sprintf("/spec/apiservicedefinitions/owned/%d: APIService %s can have only one server, but is described with deployment %q, port %d and with deployment %q, port %d; use one of them", i, name, o.DeploymentName, o.ContainerPort, d.DeploymentName, d.ContainerPort)
		}
		servers[name] = d
	}
	if at := p.unknownField(&c.Spec); at != "" {
		return fmt.Sprintf("%s: the CRD of the cluster defines this field, but this version of olmkit does not; update olmkit, or remove the field", at)
	}
	return ""
}

// shown are the fields of a CSV that OLM v0.45 accepts and that do not affect how the
// operator runs. OLM does not implement cleanup.
var shown = []string{
	"annotations", "cleanup", "description", "icon", "keywords", "labels", "links", "maintainers", "maturity",
	"provider", "relatedImages", "release", "selector",
}

// webhookFields are the fields of a webhook that package serving reads.
var webhookFields = []string{
	"admissionReviewVersions", "failurePolicy", "matchPolicy", "objectSelector", "reinvocationPolicy", "rules",
	"sideEffects", "targetPort", "timeoutSeconds",
}

// unknownField returns the path of the first field that can affect how an operator runs and
// that the CRD of the cluster defines, but OLM v0.45 does not. The API server drops fields
// that the CRD does not define, and returns a warning. Without the CRD, every field counts as
// dropped.
func (p *planner) unknownField(s *olm.CSVSpec) string {
	crd := p.CRD(crdOfCSVs)
	if crd == nil {
		return ""
	}
	at := ""
	check := func(path string, rest olm.Members, known []string, schema ...string) {
		for _, name := range slices.Sorted(maps.Keys(rest)) {
			if at == "" && !slices.Contains(known, name) && isDefined(crd, append(slices.Clip(schema), name)) {
				at = path + "/" + name
			}
		}
	}
	const spec, install = "/spec", "/spec/install/spec"
	check(spec, s.Rest, shown)
	check("/spec/install", s.Install.Rest, nil, "install")
	check(install, s.Install.Spec.Rest, nil, "install", "spec")
	for i, d := range s.Install.Spec.Deployments {
		check(fmt.Sprintf("%s/deployments/%d", install, i), d.Rest, nil, "install", "spec", "deployments")
	}
	for i, x := range s.Install.Spec.Permissions {
		check(fmt.Sprintf("%s/permissions/%d", install, i), x.Rest, nil, "install", "spec", "permissions")
	}
	for i, x := range s.Install.Spec.ClusterPermissions {
		check(fmt.Sprintf("%s/clusterPermissions/%d", install, i), x.Rest, nil, "install", "spec", "clusterPermissions")
	}
	check("/spec/customresourcedefinitions", s.CRDs.Rest, nil, "customresourcedefinitions")
	check("/spec/apiservicedefinitions", s.APIServices.Rest, nil, "apiservicedefinitions")
	for i, w := range s.Webhooks {
		check(fmt.Sprintf("/spec/webhookdefinitions/%d", i), w.Rest, webhookFields, "webhookdefinitions")
	}
	return at
}

// isDefined reports whether the schema of CSVs defines a field, which is given by its path
// below spec. Elements of lists have no name in the path.
func isDefined(crd *olm.CustomResourceDefinition, path []string) bool {
	type schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	for _, v := range crd.Spec.AllVersions() {
		if v.Name != "v1alpha1" || v.Schema == nil {
			continue
		}
		text := v.Schema.OpenAPIV3Schema
		for _, name := range append([]string{"spec"}, path...) {
			var s, element schema
			_ = olm.Unmarshal(text, &s) // a schema that cannot be read defines nothing
			_ = olm.Unmarshal(s.Items, &element)
			if text = s.Properties[name]; len(text) == 0 {
				text = element.Properties[name]
			}
		}
		return len(text) > 0
	}
	return false
}
