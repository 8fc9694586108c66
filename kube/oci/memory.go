package oci

import (
	"container/list"
	"strconv"
	"sync"
)

// A memory holds the images that were asked for last, up to a number and a size.
// It is safe for use by any number of goroutines.
type memory struct {
	number int
	most   int64

	mu     sync.Mutex
	images map[string]*list.Element // of order
	order  *list.List               // of *remembered, the latest first
	size   int64
	scopes int
}

type remembered struct {
	key   string
	image *Image
}

func newMemory(number int, most int64) *memory {
	return &memory{number: number, most: most, images: map[string]*list.Element{}, order: list.New()}
}

// newScope returns what keys begin with that nobody else uses.
func (m *memory) newScope() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scopes++
	return strconv.Itoa(m.scopes)
}

// get returns an image, or nil.
func (m *memory) get(key string) *Image {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.images[key]
	if !ok {
		return nil
	}
	m.order.MoveToFront(e)
	return e.Value.(*remembered).image
}

// put puts an image in front of all others, and forgets those that were not asked
// for the longest.
func (m *memory) put(key string, img *Image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.images[key]; ok {
		m.remove(e)
	}
	if img.size > m.most {
		return
	}
	m.images[key] = m.order.PushFront(&remembered{key, img})
	m.size += img.size
	for m.order.Len() > m.number || m.size > m.most {
		m.remove(m.order.Back())
	}
}

func (m *memory) remove(e *list.Element) {
	r := m.order.Remove(e).(*remembered)
	delete(m.images, r.key)
	m.size -= r.image.size
}
