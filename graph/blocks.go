package graph

import "slices"

// blocks is a list that grows without copying, for builds that do not know the length in
// advance.
type blocks[T any] struct {
	list [][]T
	n    uint32
}

// blockLen is the number of items in a block. The last block may have fewer.
const blockLen = 256

func (l *blocks[T]) add(x T) {
	if l.n%blockLen == 0 {
		l.list = append(l.list, make([]T, 0, blockLen))
	}
	last := &l.list[len(l.list)-1]
	*last = append(*last, x)
	l.n++
}

// at returns item i.
func (l *blocks[T]) at(i uint32) *T { return &l.list[i/blockLen][i%blockLen] }

// flat returns the items as one slice without spare capacity, and drops the blocks.
func (l *blocks[T]) flat() []T {
	all := slices.Concat(l.list...)
	*l = blocks[T]{}
	return all
}
