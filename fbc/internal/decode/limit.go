package decode

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/jsonscan"
)

// Limits bound the cost of hostile input. They are those of package fbc that apply to
// documents, without defaults.
type Limits struct {
	FileSize, DocumentSize, Depth, Expansion int64
}

// MaxDepth is the largest Depth that jsontext can read.
const MaxDepth = jsonscan.MaxDepth

// nodes returns how many keys, values and items a YAML document may have.
func (l Limits) nodes() int64 { return max(l.Expansion/32, 1) }

// A LimitError has the fields of fbc.LimitError, and is converted to it.
type LimitError struct {
	Limit string
	What  string
	Size  int64
	Max   int64
}

// Error returns what exceeds the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("%s exceeds the limit of %d", e.What, e.Max) }
