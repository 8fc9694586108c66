package fbc

import "github.com/olmkit/olmkit/property"

// A reuse is the memory of the blobs of a batch that are not kept (LoadOptions.Visit).
// The next batch reuses it. Blobs point into it: a list that grows moves to other
// memory, and blobs keep pointing to the old items.
type reuse struct {
	json       []byte // of YAML documents
	bundles    []Bundle
	channels   []Channel
	properties []property.Property
	entries    []Entry
}

// again empties the memory and drops the references of the blobs.
func (m *reuse) again() {
	m.json = m.json[:0]
	m.bundles = dropped(m.bundles)
	m.channels = dropped(m.channels)
	m.properties = dropped(m.properties)
	m.entries = dropped(m.entries)
}

func dropped[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// push adds a zero item to list and returns it.
func push[T any](list *[]T) *T {
	*list = append(*list, *new(T))
	return &(*list)[len(*list)-1]
}

// pushN adds n zero items and returns them, without room for more.
func pushN[T any](list *[]T, n int) []T {
	from := len(*list)
	*list = append(*list, make([]T, n)...)
	return (*list)[from : from+n : from+n]
}

func (d *decoder) newBundle() *Bundle {
	if d.reuse == nil {
		return &Bundle{}
	}
	return push(&d.reuse.bundles)
}

func (d *decoder) newChannel() *Channel {
	if d.reuse == nil {
		return &Channel{}
	}
	return push(&d.reuse.channels)
}

func (d *decoder) newProperties(n int) []property.Property {
	if d.reuse == nil {
		return make([]property.Property, n)
	}
	return pushN(&d.reuse.properties, n)
}
