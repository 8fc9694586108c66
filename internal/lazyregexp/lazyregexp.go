// Package lazyregexp compiles regular expressions when they are first used. A package-level regexp.MustCompile runs in
// every program that links the package, each time it starts.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression. The function panics if the expression is invalid. It may
// be called by several goroutines at once.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
