//go:build !unix

package disk

// nonblock is zero on systems that do not have named pipes in the file system.
const nonblock = 0
