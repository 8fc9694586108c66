// Package property parses and builds the properties of operator bundles: the
// {type, value} pairs in a file-based catalog that describe what a bundle is,
// provides and requires.
//
// A [Property] keeps its value as raw JSON, so that unknown types are
// preserved. [Parse] returns the value of a known type:
//
//	p := property.Property{Type: property.TypeGVK, Value: raw}
//	gvk, err := property.Parse[property.GVK](p)
//
// Parse ignores unknown keys, which occur in real catalogs. It is
// strict about known keys: a missing, empty or repeated key or one of the wrong
// type is an [Error], which locates it with a JSON pointer. Keys are
// case-sensitive.
//
// [New] returns a Property whose keys are in OLM's order.
//
// This package does not read files, compare versions, or interpret
// olm.constraint values; for the latter see package constraints.
package property
