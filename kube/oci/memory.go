package oci

import (
	"container/list"
	"strconv"
	"sync"
)

// A memory caches the most recently used images, up to a number and a size. It
// is safe for concurrent use.
type memory struct {
	number int
	most   int64

	mu     sync.Mutex
	images map[string]*list.Element // elements of order
	order  *list.List               // of *remembered, most recent first
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

// newScope returns a unique prefix for keys.
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

// put adds an image at the front and evicts the least recently used ones.
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
