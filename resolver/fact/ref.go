package fact

import (
	"cmp"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
)

// A CatalogID names a catalog of a problem. It is comparable.
type CatalogID struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// String returns "name/namespace". Objects of a cluster are written the other way around, but
// this order is part of the JSON of answers: [github.com/olmkit/olmkit/resolver.Change].To.
func (id CatalogID) String() string {
	if id.Namespace == "" {
		return id.Name
	}
	return id.Name + "/" + id.Namespace
}

// Compare orders by namespace, then name.
func (id CatalogID) Compare(o CatalogID) int {
	return cmp.Or(cmp.Compare(id.Namespace, o.Namespace), cmp.Compare(id.Name, o.Name))
}

// A Ref names an installed operator, or a bundle in a channel of a catalog. It is
// comparable.
type Ref struct {
	// Catalog is zero for an installed operator.
	Catalog CatalogID `json:"catalog,omitzero"`
	Package string    `json:"package,omitempty"`
	Channel string    `json:"channel,omitempty"`
	Name    string    `json:"name"`
}

// Installed reports whether r names an installed operator.
func (r Ref) Installed() bool { return r.Catalog == CatalogID{} }

// String returns the name and its origin.
func (r Ref) String() string {
	if r.Installed() {
		return "installed " + r.Name
	}
	return r.Name + " (" + r.Catalog.String() + ", channel " + r.Channel + ")"
}

// Names returns the names of bundles in order, without duplicates.
func Names(refs []Ref) []string {
	var names []string
	seen := make(map[string]bool, len(refs))
	for _, r := range refs {
		if !seen[r.Name] {
			seen[r.Name] = true
			names = append(names, r.Name)
		}
	}
	return names
}

// A Place is a position in a catalog.
type Place struct {
	Catalog CatalogID `json:"catalog"`
	File    string    `json:"file"`
	Line    int       `json:"line"`
	// Property is the index of the property, or -1 for the whole blob.
	Property int `json:"property"`
}

// PlaceOf returns the place of a whole blob, or nil for an installed operator.
func PlaceOf(r Ref, pos fbc.Pos) *Place {
	if r.Installed() {
		return nil
	}
	return &Place{r.Catalog, pos.File, pos.Line, -1}
}

// String returns "catalog file:line, property n".
func (p Place) String() string {
	at := p.Catalog.Name + " " + fbc.Pos{File: p.File, Line: p.Line}.String()
	if p.Property < 0 {
		return at
	}
	return fmt.Sprintf("%s, property %d", at, p.Property)
}
