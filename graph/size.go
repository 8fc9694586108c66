package graph

import "reflect"

// The memory kept for each blob and problem, in bytes: measured, and rounded up.
const (
	blobMemory     = 256
	bundleMemory   = 128 // in addition to that of any blob
	entryMemory    = 160
	propertyMemory = 64
	problemMemory  = 256
	textMemory     = 32   // of the location of a blob's text
	partMemory     = 40   // of a package of an opened index
	readMemory     = 1024 // in addition, once it has been read
)

// MemorySize returns the approximate memory use of the catalog in bytes. Records are
// counted exactly; problems and kept blobs are estimated. A catalog opened from an index
// has no blobs, and packages that have not been read do not count. Heavy properties do not
// count, because they stay in the source.
func (c *Catalog) MemorySize() int64 {
	size := int64(len(c.problems))*problemMemory + int64(len(c.texts)+len(c.packageTexts))*textMemory + int64(len(c.others))*blobMemory
	size += c.records.memory()
	if c.parts != nil {
		size += c.parts.memory()
	}
	if c.blobs != nil {
		size += int64(c.blobs.Len())*blobMemory + int64(len(c.bundles))*bundleMemory +
			int64(len(c.entries))*entryMemory + int64(len(c.props))*propertyMemory
	}
	return size
}

// memory returns the size of the records and their text.
func (r *records) memory() int64 {
	size := 4 * int64(len(r.end))
	for _, p := range r.pieces[:max(len(r.pieces)-1, 0)] {
		size += int64(min(len(p), pieceSize))
	}
	if n := len(r.pieces); n > 0 {
		size += int64(len(r.pieces[n-1]))
	}
	r.walk(func(list []uint32, _ reflect.Type) []uint32 {
		size += 4 * int64(len(list))
		return nil
	})
	return size
}
