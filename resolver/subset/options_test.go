package subset_test

import (
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// options load whole blobs, because text in memory cannot be read again later.
var options = &graph.Options{Load: &fbc.LoadOptions{KeepAll: true, AllowEmpty: true}}
