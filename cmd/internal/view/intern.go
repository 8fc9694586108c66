package view

import "fmt"

// An interned is a list of distinct texts. The zero value is empty.
type interned struct {
	list   []string
	number map[string]int // never ranged over
}

// add returns the index of a text, appending it if it is new.
func (t *interned) add(s string) int {
	if i, ok := t.number[s]; ok {
		return i
	}
	if t.number == nil {
		t.number = map[string]int{}
	}
	t.number[s] = len(t.list)
	t.list = append(t.list, s)
	return len(t.list) - 1
}

// key returns a text that identifies a list.
func key(list []int) string { return fmt.Sprint(list) }
