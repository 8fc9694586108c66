package registryv1

import (
	"cmp"

	"github.com/olmkit/olmkit/internal/yamljson"
)

// Limits caps the cost of hostile bundles. A zero field means the default.
type Limits struct {
	// BundleSize limits the total size of all files, in bytes. Default 16 MiB.
	BundleSize int64
	// DocumentSize limits one manifest, or one list of manifests, as JSON, in
	// bytes. Default 3 MiB: the API server accepts no larger object.
	DocumentSize int64
	// Files limits the number of entries in a directory. Default 10,000.
	Files int
	// Objects limits the number of manifests. Default 10,000.
	Objects int
	// Expansion limits the bytes that expanding YAML aliases adds to all files
	// together. Default 64 MiB.
	Expansion int64
}

// WithDefaults returns the limits with every zero field replaced by its
// default.
func (l *Limits) WithDefaults() Limits {
	var out Limits
	if l != nil {
		out = *l
	}
	out.BundleSize = cmp.Or(out.BundleSize, 16<<20)
	out.DocumentSize = cmp.Or(out.DocumentSize, 3<<20)
	out.Files = cmp.Or(out.Files, 10_000)
	out.Objects = cmp.Or(out.Objects, 10_000)
	out.Expansion = cmp.Or(out.Expansion, yamljson.DefaultExpansion)
	return out
}
