package fbc

// Limits bound what a load may cost on hostile input (A16). A zero field means
// the documented default. Every violation is a [Diagnostic] with [CodeLimit]
// whose cause, a [*LimitError], names the field.
type Limits struct {
	// FileSize bounds one file, in bytes, and a compiled index. Default 2 GiB.
	FileSize int64
	// DocumentSize bounds one document, in bytes of its source text.
	// Default 64 MiB.
	DocumentSize int64
	// Documents bounds the number of documents of a catalog.
	// Default 20 million.
	Documents int64
	// Files bounds the number of files and directories. Default 1 million.
	Files int64
	// IgnoreSize bounds one .indexignore file, in bytes. Default 1 MiB.
	IgnoreSize int64
	// Depth bounds the nesting of one document. Default 1,000; at most 10,000.
	Depth int64
	// Expansion bounds what YAML turns into, in bytes: how much the aliases of all
	// documents of a load may add, and how large the tree of one document may
	// become, at 32 bytes for a key, a value or an item. Default 64 MiB.
	Expansion int64
	// PropertySize bounds one property value that is kept, in bytes of JSON.
	// Default 4 MiB.
	PropertySize int64
	// Diagnostics bounds the faults that are reported: a load is given up when
	// there are more that prevent it. Of findings that do not, the rest is
	// counted. Default 1,000.
	Diagnostics int64
}

// nodes returns how many keys, values and items a YAML document may have.
func (l *Limits) nodes() int64 { return max(l.Expansion/32, 1) }

// WithDefaults returns the limits with every zero field replaced.
func (l *Limits) WithDefaults() Limits {
	var out Limits
	if l != nil {
		out = *l
	}
	set := func(f *int64, def int64) {
		if *f <= 0 {
			*f = def
		}
	}
	set(&out.FileSize, 2<<30)
	set(&out.DocumentSize, 64<<20)
	set(&out.Documents, 20_000_000)
	set(&out.Files, 1_000_000)
	set(&out.IgnoreSize, 1<<20)
	set(&out.Depth, 1000)
	set(&out.Expansion, 64<<20)
	set(&out.PropertySize, 4<<20)
	set(&out.Diagnostics, 1000)
	out.Depth = min(out.Depth, maxDepth)
	return out
}

// maxDepth is the largest Depth: what jsontext can read.
const maxDepth = 10_000
