package graph

import "encoding/binary"

// IndexForm tells the form of the records of an index.
func IndexForm() string {
	var c Catalog
	var tail string
	return describe(c.sections(&c.bundles, &c.table, &tail), binary.LittleEndian)
}
