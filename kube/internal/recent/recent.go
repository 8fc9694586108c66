// Package recent keeps values that were used recently.
package recent

import (
	"container/list"
	"sync"
)

// A Cache keeps the values of the keys that were used last. The zero value is empty. It is
// safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	at    map[K]*list.Element
	order list.List // of *entry[K, V], the least recently used first
	size  int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// Get returns the value of a key, which must not be modified. It calls do, which returns the
// value and its size, if it does not have the value; several goroutines may do so at once. It
// keeps values as long as the sum of their sizes is at most limit. Errors are not kept.
func (c *Cache[K, V]) Get(k K, limit int, do func() (V, int, error)) (V, error) {
	if v, ok := c.Find(k); ok {
		return v, nil
	}
	v, size, err := do()
	if err == nil {
		c.Put(k, v, size, limit)
	}
	return v, err
}

// Find returns the value of a key, which must not be modified, and whether it is known.
func (c *Cache[K, V]) Find(k K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.at[k]
	if !ok {
		return v, false
	}
	c.order.MoveToBack(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put keeps a value, unless it has one for the key. It drops others if the sum of the sizes
// exceeds the limit.
func (c *Cache[K, V]) Put(k K, v V, size, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = map[K]*list.Element{}
	}
	if _, ok := c.at[k]; ok || size > limit {
		return
	}
	c.at[k] = c.order.PushBack(&entry[K, V]{k, v, size})
	for c.size += size; c.size > limit; {
		first := c.order.Remove(c.order.Front()).(*entry[K, V])
		delete(c.at, first.key)
		c.size -= first.size
	}
}
