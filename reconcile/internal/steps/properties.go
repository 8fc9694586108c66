package steps

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// setProperties writes the properties of the bundle, and those that the author added to the CSV,
// to the annotation of the CSV in which OLM writes them. Pods have the annotations of their CSV,
// so another one would restart them if OLM installed the same CSV (E23).
func setProperties(csv *olm.ClusterServiceVersion, s resolver.Selected) error {
	list := light(s)
	if text, ok := csv.Metadata.Annotations[property.Annotation]; ok {
		own, err := property.ParseList([]byte(text))
		if err != nil {
			return err
		}
		for _, p := range own {
			if !slices.ContainsFunc(list, func(o property.Property) bool {
				return o.Type == p.Type && bytes.Equal(compact(o.Value), compact(p.Value))
			}) {
				list = append(list, p)
			}
		}
	}
	text, err := project(list)
	if err != nil {
		return err
	}
	csv.Metadata.SetAnnotation(property.ProjectedAnnotation, text)
	return nil
}

// light returns the properties of a bundle that describe it, without its manifests.
func light(s resolver.Selected) []property.Property {
	list := []property.Property{}
	for p := range s.Bundle.Properties() {
		if !property.IsHeavy(p.Type) {
			list = append(list, p)
		}
	}
	return list
}

// project returns properties in the form that annotations, references and lookups use.
func project(list []property.Property) (string, error) {
	text, err := json.Marshal(list)
	return `{"properties":` + string(text) + `}`, err
}

func compact(v json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}
