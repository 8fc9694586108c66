package resolver

import (
	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/resolver/fact"
)

// A coreJSON is the form of a core in JSON.
type coreJSON struct {
	// Code is the code of the fact that explains the core best.
	Code     fact.Code `json:"code"`
	Headline string    `json:"headline"`
	// Derivation is the contradiction that the facts lead to, unless it is expensive to
	// find.
	Derivation *fact.Step `json:"derivation,omitzero"`
	Facts      fact.List  `json:"facts"`
	// Faults are the rules in the core that could not be evaluated.
	Faults []Fault `json:"faults,omitempty"`
}

// JSONSchemaAlias returns a value of the type that a core marshals as. It is exported for
// the generator of the JSON Schemas, which is in another module.
func (Core) JSONSchemaAlias() any { return coreJSON{} }

// A conflictJSON is the form of a conflict in JSON.
type conflictJSON struct {
	Cores []*Core `json:"cores"`
	// Planned and Refused are the subscriptions that can be planned, and those that
	// are refused. Plan is the plan of the former.
	Planned []string   `json:"planned"`
	Refused []string   `json:"refused"`
	Plan    []Selected `json:"plan"`
}

// JSONSchemaAlias returns a value of the type that a conflict marshals as. It is exported
// for the generator of the JSON Schemas, which is in another module.
func (Conflict) JSONSchemaAlias() any { return conflictJSON{} }

// MarshalJSON returns an object with the headline, facts and faults of the core, and its
// derivation unless that is expensive; see [Core.Derive].
func (c Core) MarshalJSON() ([]byte, error) {
	out := coreJSON{Code: c.code(), Headline: c.headline, Facts: c.Facts, Faults: c.Faults}
	if c.derivation != nil {
		out.Derivation = c.derivation.Conclusion
	}
	return json.Marshal(out)
}

// MarshalJSON returns an object with the cores, the names of the subscriptions that can be
// planned and that are refused, and the plan.
func (c Conflict) MarshalJSON() ([]byte, error) {
	out := conflictJSON{c.Cores, c.planned, c.refused, nil}
	if p := c.Planned(); p != nil {
		out.Plan = p.Selected
	}
	for _, list := range []*[]string{&out.Planned, &out.Refused} {
		if *list == nil {
			*list = []string{}
		}
	}
	return json.Marshal(out)
}
