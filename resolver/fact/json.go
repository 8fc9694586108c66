package fact

import (
	"github.com/go-json-experiment/json"
)

// A factJSON is the JSON form of every fact. All facts have a code and a text; the other
// fields depend on the kind of fact.
type factJSON struct {
	Code         Code     `json:"code"`
	Text         string   `json:"text"`
	Subscription string   `json:"subscription,omitempty"`
	Bundle       *Ref     `json:"bundle,omitzero"`
	Operator     *Ref     `json:"operator,omitzero"`
	Held         string   `json:"held,omitempty"`
	Package      string   `json:"package,omitempty"`
	API          string   `json:"api,omitempty"`
	Requirement  string   `json:"requirement,omitempty"`
	Message      string   `json:"message,omitempty"`
	Place        *Place   `json:"place,omitzero"`
	Missing      string   `json:"missing,omitempty"`
	Known        []string `json:"known,omitempty"`
	Nearest      []string `json:"nearest,omitempty"`
	Crowded      bool     `json:"crowded,omitzero"`
	Elsewhere    []string `json:"elsewhere,omitempty"`
	Policy       *Policy  `json:"policy,omitzero"`
	Fault        string   `json:"fault,omitempty"`
	From         string   `json:"from,omitempty"`
	Steps        int      `json:"steps,omitzero"`
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
		out.Nearest, out.Crowded, out.Elsewhere = f.Nearest, f.Crowded, f.Elsewhere
		if f.Err != nil {
			out.Error = f.Err.Error()
		}
	case *MustStay:
		out.Operator, out.Held = &f.Operator, f.Held
	case *Requires:
		out.Bundle, out.Requirement, out.Candidates = &f.Bundle, f.Requirement.String(), f.Candidates
		out.Message, out.Place = f.Requirement.Message(), f.Place()
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
		out.From, out.Steps = f.From, f.Steps
	case *InstallMode:
		out.Bundle, out.Targets, out.Error = &f.Bundle, f.Targets, f.Err.Error()
	}
	return out
}

// A List is a list of facts. Each marshals to an object with its code, its text, and
// whatever it names.
type List []Fact

// MarshalJSON returns a list of objects.
func (list List) MarshalJSON() ([]byte, error) {
	out := make([]factJSON, len(list))
	for i, f := range list {
		out[i] = factToJSON(f)
	}
	return json.Marshal(out)
}

// JSONSchemaAlias returns a value of the type that facts marshal as. It is exported for
// the generator of the JSON Schemas, which is in another module.
func (List) JSONSchemaAlias() any { return []factJSON{} }
