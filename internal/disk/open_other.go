//go:build !unix

package disk

// nonblock is nothing where files have no such names as those of pipes.
const nonblock = 0
