package constraints

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/property"
)

// appendJSON appends the constraint to b as the value of an olm.constraint
// property, in compact form. Parsing the text returns an equal tree.
//
// It returns an error for a *Label, which olm.constraint cannot express, for a
// nil constraint and for an empty list. Bytes that are not UTF-8 become U+FFFD.
func appendJSON(b []byte, x Expr) ([]byte, error) {
	switch x := x.(type) {
	case *All:
		return appendList(b, "all", x.FailureMessage, x.Of)
	case *Any:
		return appendList(b, "any", x.FailureMessage, x.Of)
	case *Not:
		return appendList(b, "not", x.FailureMessage, x.Of)
	case *GVK:
		return appendObject(appendHead(b, "gvk", x.FailureMessage),
			"group", x.GVK.Group, "version", x.GVK.Version, "kind", x.GVK.Kind), nil
	case *Package:
		return appendObject(appendHead(b, "package", x.FailureMessage),
			"packageName", x.Name, "versionRange", x.Range.text), nil
	case *CEL:
		return appendObject(appendHead(b, "cel", x.FailureMessage), "rule", x.Rule), nil
	case *Label:
		return nil, fmt.Errorf("label %q: olm.constraint cannot express a label", x.Label)
	}
	return nil, errors.New("nil constraint")
}

// ToProperty returns a property from which Compiler.FromProperty returns an
// equal tree: olm.label.required for a *Label without a message, otherwise
// olm.constraint. It returns an error in the same cases as appendJSON.
func ToProperty(x Expr) (property.Property, error) {
	if l, ok := x.(*Label); ok && l.FailureMessage == "" {
		return property.New(property.TypeLabelRequired, property.Label{Label: l.Label}), nil
	}
	b, err := appendJSON(nil, x)
	if err != nil {
		return property.Property{}, err
	}
	return property.Property{Type: property.TypeConstraint, Value: b}, nil
}

// appendHead appends `{"failureMessage":"…","kind":`; the caller closes the brace.
func appendHead(b []byte, kind, message string) []byte {
	b = append(b, '{')
	if message != "" {
		b = append(b, `"failureMessage":`...)
		b = append(appendString(b, message), ',')
	}
	return append(appendString(b, kind), ':')
}

func appendObject(b []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		if i == 0 {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = append(appendString(b, pairs[i]), ':')
		b = appendString(b, pairs[i+1])
	}
	return append(b, "}}"...)
}

func appendList(b []byte, kind, message string, of []Expr) ([]byte, error) {
	if len(of) == 0 {
		return nil, fmt.Errorf("%q with an empty list of constraints", kind)
	}
	b = append(appendHead(b, kind, message), `{"constraints":[`...)
	for i, x := range of {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendJSON(b, x); err != nil {
			return nil, err
		}
	}
	return append(b, "]}}"...), nil
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	return b
}
