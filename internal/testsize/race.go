//go:build race

package testsize

// Race reports whether the race detector is enabled. With it, a test makes more allocations.
const Race = true
