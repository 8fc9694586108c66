package graph

import "encoding/binary"

// IndexForm tells the form of the records of an index.
func IndexForm() string {
	var c Catalog
	var all, tail string
	return describe(c.sections(&c.bundles, &c.end, &all, &tail), binary.LittleEndian)
}
