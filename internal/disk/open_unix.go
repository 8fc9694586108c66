//go:build unix

package disk

import "syscall"

// nonblock makes opening a pipe return without waiting for a writer.
const nonblock = syscall.O_NONBLOCK
