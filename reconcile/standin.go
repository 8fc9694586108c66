package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
)

// csvMetadata is the value of an olm.csv.metadata property.
type csvMetadata struct {
	Annotations map[string]string `json:"annotations"`
	Labels      map[string]string `json:"labels"`
	APIServices olm.OwnedAPIs     `json:"apiServiceDefinitions"`
	CRDs        olm.OwnedCRDs     `json:"crdDescriptions"`
	DisplayName string            `json:"displayName"`
	Modes       []olm.InstallMode `json:"installModes"`
	MinKube     string            `json:"minKubeVersion"`
	NativeAPIs  []olm.NativeAPI   `json:"nativeAPIs"`
}

// standIns makes a CSV, and the CRDs that it owns, from the data of a catalog about
// a bundle: its olm.csv.metadata, or only its properties.
func standIns(b graph.Bundle, properties []property.Property) ([]olm.Object, error) {
	csv := &olm.ClusterServiceVersion{Header: olm.Header{
		APIVersion: olm.V1Alpha1, Kind: olm.KindClusterServiceVersion, Metadata: olm.Metadata{Name: b.Name()},
	}}
	csv.Spec.Install = olm.InstallStrategy{Strategy: olm.StrategyDeployment}
	csv.Spec.DisplayName = b.Package().Name() // the CRD of CSVs requires it
	described := false
	for i, p := range properties {
		var err error
		switch p.Type {
		case property.TypeCSVMetadata:
			described = true
			err = describe(csv, p.Value)
		case property.TypePackage:
			var v property.Package
			v, err = property.Parse[property.Package](p)
			csv.Spec.Version = v.Version
		}
		if err != nil {
			return nil, fmt.Errorf("%s: bundle %q: /properties/%d: %w", b.Pos(), b.Name(), i, err)
		}
	}
	if !described {
		if err := infer(csv, properties); err != nil {
			return nil, fmt.Errorf("%s: bundle %q: %w", b.Pos(), b.Name(), err)
		}
	}
	o, err := olm.ToObject(csv)
	if err != nil {
		return nil, err
	}
	objects := []olm.Object{o}
	for _, crd := range standInCRDs(csv) {
		o, err := olm.ToObject(crd)
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func describe(csv *olm.ClusterServiceVersion, value []byte) error {
	var m csvMetadata
	if err := olm.Unmarshal(value, &m); err != nil {
		return fmt.Errorf("%s: %w", property.TypeCSVMetadata, err)
	}
	csv.Metadata.Annotations, csv.Metadata.Labels = m.Annotations, m.Labels
	csv.Spec.DisplayName, csv.Spec.MinKubeVersion = cmp.Or(m.DisplayName, csv.Spec.DisplayName), m.MinKube
	csv.Spec.CRDs, csv.Spec.NativeAPIs, csv.Spec.InstallModes = m.CRDs, m.NativeAPIs, m.Modes
	csv.Spec.APIServices = m.APIServices
	csv.Spec.APIServices.Owned = nil // the deployments that serve them are unknown
	return nil
}

// infer describes an operator by its properties: it owns the APIs it provides
// and can serve any namespace.
func infer(csv *olm.ClusterServiceVersion, properties []property.Property) error {
	for _, m := range []olm.InstallModeType{olm.OwnNamespace, olm.SingleNamespace, olm.MultiNamespace, olm.AllNamespaces} {
		csv.Spec.InstallModes = append(csv.Spec.InstallModes, olm.InstallMode{Type: m, Supported: true})
	}
	for i, p := range properties {
		switch p.Type {
		case property.TypeGVK:
			g, err := property.Parse[property.GVK](p)
			if err != nil {
				return fmt.Errorf("/properties/%d: %w", i, err)
			}
			csv.Spec.CRDs.Owned = append(csv.Spec.CRDs.Owned, describeCRD(g))
		case property.TypeGVKRequired:
			g, err := property.Parse[property.GVK](p)
			if err != nil {
				return fmt.Errorf("/properties/%d: %w", i, err)
			}
			csv.Spec.CRDs.Required = append(csv.Spec.CRDs.Required, describeCRD(g))
		}
	}
	return nil
}

func describeCRD(g property.GVK) olm.CRDDescription {
	return olm.CRDDescription{Name: strings.ToLower(g.Kind) + "s." + g.Group, Version: g.Version, Kind: g.Kind}
}

// standInCRDs returns definitions without a schema of the CRDs that a CSV owns.
func standInCRDs(csv *olm.ClusterServiceVersion) []*olm.CustomResourceDefinition {
	var list []*olm.CustomResourceDefinition
	for _, d := range csv.Spec.CRDs.Owned {
		plural, group, ok := strings.Cut(d.Name, ".")
		if !ok {
			continue
		}
		v := olm.CRDVersion{Name: d.Version, Served: true, Storage: true,
			Schema: &olm.CRDSchema{OpenAPIV3Schema: []byte(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)}}
		if i := slices.IndexFunc(list, func(c *olm.CustomResourceDefinition) bool { return c.Metadata.Name == d.Name }); i >= 0 {
			v.Storage = false
			list[i].Spec.Versions = append(list[i].Spec.Versions, v)
			continue
		}
		list = append(list, &olm.CustomResourceDefinition{
			Header: olm.Header{APIVersion: olm.GroupCRD + "/v1", Kind: olm.KindCRD, Metadata: olm.Metadata{
				Name: d.Name, Annotations: map[string]string{crd.AnnotationStandIn: "true"},
			}},
			Spec: olm.CRDSpec{Group: group, Names: olm.CRDNames{Kind: d.Kind, Plural: plural}, Scope: olm.ScopeNamespaced, Versions: []olm.CRDVersion{v}},
		})
	}
	return list
}
