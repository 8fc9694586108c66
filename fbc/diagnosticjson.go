package fbc

import "github.com/go-json-experiment/json"

// A diagnosticJSON is the form of a finding in JSON.
type diagnosticJSON struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitzero"`
	// FieldLine is the line of Path, where it is known.
	FieldLine int    `json:"fieldLine,omitzero"`
	Schema    string `json:"schema,omitempty"`
	Package   string `json:"package,omitempty"`
	Name      string `json:"name,omitempty"`
	// Path is the JSON pointer of the fault within the blob.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// JSONSchemaAlias returns a value of the type that a finding marshals as. It is exported
// for the generator of the JSON Schemas, which is in another module.
func (Diagnostic) JSONSchemaAlias() any { return diagnosticJSON{} }

// MarshalJSON returns the finding as "olmkit validate -o json" prints it: a flat object
// whose message is the text of Err, or the code if Err is nil.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	out := diagnosticJSON{
		Code: d.Code, Severity: d.Severity, File: d.Pos.File, Line: d.Pos.Line, FieldLine: d.FieldLine,
		Schema: d.Schema, Package: d.Package, Name: d.Name, Path: d.Path, Message: string(d.Code),
	}
	if d.Err != nil {
		out.Message = d.Err.Error()
	}
	return json.Marshal(out)
}

// MarshalJSON returns the list of the findings, which is never null.
func (ds Diagnostics) MarshalJSON() ([]byte, error) { return json.Marshal([]*Diagnostic(ds)) }
