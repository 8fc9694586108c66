package subset_test

import (
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// options load whole blobs, which a text in memory cannot give later.
var options = &graph.Options{Load: &fbc.LoadOptions{KeepAll: true, AllowEmpty: true}}
