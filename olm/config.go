package olm

// An OLMConfig is the configuration of OLM in a cluster. There is one, named
// "cluster".
type OLMConfig = Typed[OLMConfigSpec, OLMConfigStatus]

// OLMConfigSpec switches features.
type OLMConfigSpec struct {
	Features *Features `json:"features,omitzero"`
	Rest     Members   `json:",unknown"`
}

// Features are the features that can be switched.
type Features struct {
	DisableCopiedCSVs *bool   `json:"disableCopiedCSVs,omitzero"`
	Rest              Members `json:",unknown"`
}

// OLMConfigStatus reports whether copied CSVs are as configured.
type OLMConfigStatus struct {
	Conditions []Condition `json:"conditions,omitzero"`
	Rest       Members     `json:",unknown"`
}

// CopiedCSVsDisabled reports whether no CSVs are copied. A nil
// configuration disables nothing.
func CopiedCSVsDisabled(c *OLMConfig) bool {
	return c != nil && c.Spec.Features != nil && c.Spec.Features.DisableCopiedCSVs != nil && *c.Spec.Features.DisableCopiedCSVs
}
