package crd

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
)

// keepConversion returns o, the new definition of a CRD. If an operator serves the conversion
// webhook of the old definition, the result has the conversion of the old one. The new version
// of the operator registers its own conversion when it is installed. Without a webhook, the
// API server would lose data until then (E17).
func (e *Upgrades) keepConversion(have *olm.CustomResourceDefinition, o olm.Object) (olm.Object, error) {
	name := have.Metadata.Name
	if serving.ConvertedBy(have) == "" || !serving.IsConverted(name, e.Users(e.CSVs)[name]) {
		return o, nil
	}
	want, err := olm.As[olm.CustomResourceDefinition](o)
	if err != nil {
		return o, err
	}
	want.Spec.Conversion = have.Spec.Conversion
	return olm.ToObject(want)
}
