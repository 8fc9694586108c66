// Package testsize decides how much a test does. "go test" checks samples, in a few
// minutes for all packages; "make test" checks more, and "make thorough" everything.
package testsize

import (
	"fmt"
	"os"
)

// Env is the environment variable that the Makefile sets to "moderate" or "large". If it is not set, tests are small.
const Env = "OLMKIT_TEST_SIZE"

// Of returns small, moderate or large, whichever the size of this run selects.
func Of[T any](small, moderate, large T) T {
	switch size := os.Getenv(Env); size {
	case "", "small":
		return small
	case "moderate":
		return moderate
	case "large":
		return large
	default:
		panic(fmt.Sprintf("testsize: %s is %q, not small, moderate or large", Env, size))
	}
}
