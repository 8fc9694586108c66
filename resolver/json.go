package resolver

import (
	"github.com/go-json-experiment/json"
)

// A factJSON is the form of every fact in JSON: code and text always, the rest
// as the kind of fact has it.
type factJSON struct {
	Code         Code     `json:"code"`
	Text         string   `json:"text"`
	Subscription string   `json:"subscription,omitempty"`
	Bundle       *Ref     `json:"bundle,omitzero"`
	Operator     *Ref     `json:"operator,omitzero"`
	Package      string   `json:"package,omitempty"`
	API          string   `json:"api,omitempty"`
	Requirement  string   `json:"requirement,omitempty"`
	Message      string   `json:"message,omitempty"`
	Place        *Place   `json:"place,omitzero"`
	Missing      string   `json:"missing,omitempty"`
	Known        []string `json:"known,omitempty"`
	Nearest      []string `json:"nearest,omitempty"`
	Policy       *Policy  `json:"policy,omitzero"`
	Fault        PinFault `json:"fault,omitzero"`
	Targets      []string `json:"targets,omitempty"`
	Error        string   `json:"error,omitempty"`
	Candidates   []Ref    `json:"candidates,omitempty"`
}

func factToJSON(f Fact) factJSON {
	out := factJSON{Code: f.Code(), Text: f.String()}
	switch f := f.(type) {
	case *Subscribed:
		out.Subscription, out.Package, out.Candidates = f.Subscription.Name, f.Subscription.Package, f.Candidates
	case *Unavailable:
		out.Subscription, out.Package, out.Missing, out.Known = f.Subscription.Name, f.Subscription.Package, f.What, f.Known
		out.Nearest = f.Nearest
		if f.Err != nil {
			out.Error = f.Err.Error()
		}
	case *MustStay:
		out.Operator = &f.Operator
	case *Requires:
		out.Bundle, out.Requirement, out.Candidates = &f.Bundle, f.Requirement.String(), f.Candidates
		out.Message, out.Place = f.Requirement.Message(), f.place()
	case *OnePerPackage:
		out.Package, out.Candidates = f.Package, f.Bundles
	case *OneProvider:
		out.API, out.Candidates = f.API.String(), f.Providers
	case *Replaced:
		out.Bundle, out.Operator = &f.Bundle, &f.Operator
	case *Prohibited:
		out.Bundle = &f.Bundle
	case *Unusable:
		out.Bundle, out.Error = &f.Bundle, f.Err.Error()
	case *PolicyBlocked:
		out.Bundle, out.Policy, out.Fault, out.Nearest = &f.Bundle, &f.Policy, f.PinFault, f.Nearest
	case *InstallMode:
		out.Bundle, out.Targets, out.Error = &f.Bundle, f.Targets, f.Err.Error()
	}
	return out
}

// Facts are facts of a core. They marshal to objects with the code and the text
// of each, and what it names.
type Facts []Fact

// MarshalJSON returns a list of objects.
func (list Facts) MarshalJSON() ([]byte, error) {
	out := make([]factJSON, len(list))
	for i, f := range list {
		out[i] = factToJSON(f)
	}
	return json.Marshal(out)
}

// JSONSchemaAlias returns a value of the type that facts marshal as, for generators of
// JSON Schemas.
func (Facts) JSONSchemaAlias() any { return []factJSON{} }

// A coreJSON is the form of a core in JSON.
type coreJSON struct {
	Headline string `json:"headline"`
	// Derivation is the contradiction that the facts lead to, unless it takes long to
	// find.
	Derivation *Step `json:"derivation,omitzero"`
	Facts      Facts `json:"facts"`
	// Faults are the rules in it that could not be evaluated.
	Faults []Fault `json:"faults,omitempty"`
}

// JSONSchemaAlias returns a value of the type that a core marshals as, for generators of
// JSON Schemas.
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

// JSONSchemaAlias returns a value of the type that a conflict marshals as, for generators
// of JSON Schemas.
func (Conflict) JSONSchemaAlias() any { return conflictJSON{} }

// MarshalJSON returns an object with the headline, facts and faults of the core, and its
// derivation unless that is expensive; see [Core.Derive].
func (c Core) MarshalJSON() ([]byte, error) {
	out := coreJSON{Headline: c.headline, Facts: c.Facts, Faults: c.Faults}
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
