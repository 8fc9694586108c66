package olm

// An OLMConfig is the configuration of OLM in a cluster. There is one, named
// "cluster".
type OLMConfig struct {
	Header
	Spec OLMConfigSpec `json:"spec,omitzero"`
	Rest Members       `json:",unknown"`
}

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

// CopiedCSVsDisabled reports whether no CSVs are copied. A nil
// configuration disables nothing.
func (c *OLMConfig) CopiedCSVsDisabled() bool {
	return c != nil && c.Spec.Features != nil && c.Spec.Features.DisableCopiedCSVs != nil && *c.Spec.Features.DisableCopiedCSVs
}

// MarshalJSON writes the configuration with its keys in a fixed order.
func (c OLMConfig) MarshalJSON() ([]byte, error) {
	type plain OLMConfig
	return marshal((*plain)(&c))
}

// UnmarshalJSON reads a configuration.
func (c *OLMConfig) UnmarshalJSON(text []byte) error {
	type plain OLMConfig
	return unmarshal((*plain)(c), text)
}
