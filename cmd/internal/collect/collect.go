// Package collect makes garbage collections rarer where that saves time and costs little
// memory. It changes nothing if GOGC or GOMEMLIMIT is set.
package collect

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// rarely is the growth of the heap, in percent, that starts a collection. By default, it is
// 100, and the heap reaches 4 MB before the first collection.
const rarely = 400

var byUser = os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != ""

// started restores the setting with which the process started.
var started = start()

// start makes the first collection begin when the heap reaches 16 MB, which most commands
// never do: packages allocate 3 MB when they are initialized, and this one is among the first.
// The setting is restored after that collection, which is when the sentinel is found unused.
func start() (restore func()) {
	if byUser {
		return func() {}
	}
	percent := debug.SetGCPercent(rarely)
	restore = sync.OnceFunc(func() { debug.SetGCPercent(percent) })
	sentinel := new([64]byte)
	runtime.AddCleanup(sentinel, func(restore func()) { restore() }, restore)
	return restore
}

// Less makes garbage collections rarer, also of large heaps, and returns a function that
// restores the settings. Most of what bundles are decoded to is garbage soon after, so this
// costs some memory, with a limit, and saves a third of the CPU time.
func Less() (restore func()) {
	if byUser {
		return func() {}
	}
	started() // not later, during what Less is called for
	percent, limit := debug.SetGCPercent(rarely), debug.SetMemoryLimit(1<<30)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
