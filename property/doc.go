// Package property reads and builds the properties of operator bundles: the
// {type, value} pairs of a file-based catalog by which bundles say what they
// are, what they provide and what they need (rules A4 and A13).
//
// A [Property] keeps its value as raw JSON, so that a type this package does
// not know survives unharmed. The types that OLM gives a meaning to have one
// parser each:
//
//	p := property.Property{Type: property.TypeGVK, Value: raw}
//	gvk, err := property.ParseGVK(p.Value)
//
// The parsers ignore keys that they do not know, since real catalogs carry
// some, and are strict about the ones that they do know: a key is missing,
// empty, of another type or given twice only by mistake, and the [Error] says
// where by a JSON pointer. Keys are compared by case.
//
// Builders go the other way: [NewGVK], [NewPackage] and so on return a
// Property whose value has the keys in OLM's order.
//
// This package reads no files, compares no versions and does not interpret
// olm.constraint values; package constraints does the latter.
package property
