package fbc

import "github.com/olmkit/olmkit/fbc/internal/decode"

// Limits bound the cost of hostile input. A zero field means the default. Exceeding a
// limit is a [Diagnostic] with [Code] "limit", whose cause is a [*LimitError] with the
// name of the field.
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
	// Expansion bounds the memory of YAML, in bytes: what the aliases of all
	// documents of a load add, and the tree of each document, at 32 bytes per key,
	// value and item. It also bounds the memory of a compiled index beyond 16 times the
	// size of its file. Default 64 MiB.
	Expansion int64
	// PropertySize bounds a property value that is kept, in bytes of JSON. Default
	// 4 MiB.
	PropertySize int64
	// Diagnostics bounds the findings that are reported. A load stops when more
	// errors than this make it fail. Other findings beyond it are counted. Default
	// 1,000.
	Diagnostics int64
}

// ofDocuments returns the limits on single documents.
func (l *Limits) ofDocuments() decode.Limits {
	return decode.Limits{FileSize: l.FileSize, DocumentSize: l.DocumentSize, Depth: l.Depth, Expansion: l.Expansion}
}

// WithDefaults returns the limits with every zero field replaced.
func (l *Limits) WithDefaults() Limits { // A16
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
	out.Depth = min(out.Depth, decode.MaxDepth)
	return out
}
