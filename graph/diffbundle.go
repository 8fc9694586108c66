package graph

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/property"
)

// A BundleChange is a bundle that kept its name but changed its content. Bundles are
// meant to be immutable: users who installed it have the old content, and no upgrade
// leads to the new one.
type BundleChange struct {
	Name string `json:"name"`
	// Image and Version are set if they changed. Old is empty if the bundle had none, and
	// New if it has none now.
	Image   *Change `json:"image,omitzero"`
	Version *Change `json:"version,omitzero"`
	// PropertiesAdded and PropertiesRemoved are requirements, provided APIs,
	// platform limits and all other properties that an index keeps, sorted by type
	// and value. The metadata and objects of a bundle are not compared.
	PropertiesAdded   []property.Property `json:"propertiesAdded,omitempty"`
	PropertiesRemoved []property.Property `json:"propertiesRemoved,omitempty"`
}

// A RangeChange is an entry whose skipRange changed. It changes the upgrades of versions
// that are in neither catalog, and the other lists of a Diff do not contain these.
type RangeChange struct {
	Name string `json:"name"` // of the entry
	Change
}

func compareBundle(old, new Bundle) (BundleChange, bool) {
	x := BundleChange{Name: old.Name(), Image: changed(old.Image(), new.Image()), Version: changed(old.Node().Version, new.Node().Version)}
	if !sameProperties(old, new) {
		a, b := comparableProperties(old, x.Version != nil), comparableProperties(new, x.Version != nil)
		x.PropertiesRemoved, x.PropertiesAdded = without(a, b), without(b, a)
	}
	return x, x.Image != nil || x.Version != nil || len(x.PropertiesAdded)+len(x.PropertiesRemoved) > 0
}

func changed(old, new string) *Change {
	if old == new {
		return nil
	}
	return &Change{old, new}
}

// sameProperties is a fast check for identical properties.
func sameProperties(old, new Bundle) bool {
	a, b := slices.Collect(old.Properties()), slices.Collect(new.Properties())
	return slices.EqualFunc(a, b, func(p, q property.Property) bool { return compareProperties(p, q) == 0 })
}

// comparableProperties returns the properties that every index keeps, as canonical JSON,
// sorted by type and value. If version is true, it omits olm.package, because the version
// is compared separately.
func comparableProperties(b Bundle, version bool) []property.Property {
	var out []property.Property
	for p := range b.Properties() {
		switch {
		case p.Type == property.TypeCSVMetadata, p.Type == property.TypeBundleObject, p.Value == nil:
			continue
		case p.Type == property.TypePackage && version:
			continue
		}
		v := jsontext.Value(slices.Clone(p.Value))
		if v.Canonicalize() == nil {
			p.Value = []byte(v)
		}
		out = append(out, p)
	}
	slices.SortFunc(out, compareProperties)
	return out
}

func compareProperties(p, q property.Property) int {
	if p.Type != q.Type {
		return strings.Compare(p.Type, q.Type)
	}
	return strings.Compare(string(p.Value), string(q.Value))
}

// without returns the items that a has more often than b. Both are sorted.
func without(a, b []property.Property) []property.Property {
	var out []property.Property
	for _, p := range a {
		for len(b) > 0 && compareProperties(b[0], p) < 0 {
			b = b[1:]
		}
		if len(b) > 0 && compareProperties(b[0], p) == 0 {
			b = b[1:]
			continue
		}
		out = append(out, p)
	}
	return out
}

// compareRanges compares the skipRanges of the entries that both channels have, sorted
// by name.
func compareRanges(old, new Channel) []RangeChange {
	var out []RangeChange
	for e := range old.Entries() {
		if f, ok := new.Entry(e.Name()); ok {
			if c := changed(e.SkipRange(), f.SkipRange()); c != nil {
				out = append(out, RangeChange{e.Name(), *c})
			}
		}
	}
	return out
}

// String describes the change without the name.
func (x *BundleChange) String() string {
	var words []string
	if c := x.Image; c != nil {
		words = append(words, "image "+orNone(c.New)+", was "+orNone(c.Old))
	}
	if c := x.Version; c != nil {
		words = append(words, "version "+orNone(c.New)+", was "+orNone(c.Old))
	}
	for _, part := range []struct {
		verb string
		list []property.Property
	}{{"no more ", x.PropertiesRemoved}, {"now ", x.PropertiesAdded}} {
		for _, p := range part.list {
			words = append(words, part.verb+p.Type+" "+string(p.Value))
		}
	}
	return strings.Join(words, "; ")
}
