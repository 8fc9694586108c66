package graph

// The memory kept for each blob and problem, in bytes: measured, and rounded up.
const (
	blobMemory     = 256
	bundleMemory   = 128 // in addition to that of any blob
	entryMemory    = 160
	propertyMemory = 64
	problemMemory  = 256
	textMemory     = 32 // of the location of a blob's text
)

// MemorySize returns the approximate memory use of the catalog in bytes. Records are
// counted exactly; problems and kept blobs are estimated. A catalog opened from an index
// has no blobs. Heavy properties do not count, because they stay in the source.
func (c *Catalog) MemorySize() int64 {
	var all, tail string
	size := int64(len(c.problems))*problemMemory + int64(len(c.texts)+len(c.packageTexts))*textMemory + int64(len(c.others))*blobMemory
	for _, p := range c.pieces[:max(len(c.pieces)-1, 0)] {
		size += int64(min(len(p), pieceSize))
	}
	if n := len(c.pieces); n > 0 {
		size += int64(len(c.pieces[n-1]))
	}
	for _, s := range c.sections(&c.bundles, &c.end, &all, &tail) {
		size += int64(len(s.bytes()))
	}
	if c.blobs != nil {
		size += int64(c.blobs.Len())*blobMemory + int64(len(c.bundles))*bundleMemory +
			int64(len(c.entries))*entryMemory + int64(len(c.props))*propertyMemory
	}
	return size
}
