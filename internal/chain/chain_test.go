package chain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	none := func(skips ...int) Entry { return Entry{Replaces: -1, Skips: skips} }
	for _, c := range []struct {
		name    string
		entries []Entry
		want    Shape
	}{
		{"empty", nil, Shape{Skipped: []bool{}}},
		{"one", []Entry{none()}, Shape{Heads: []int{0}, Skipped: []bool{false}, Chain: []int{0}}},
		{"chain", []Entry{none(), {Replaces: 0}, {Replaces: 1}}, Shape{Heads: []int{2}, Skipped: make([]bool, 3), Chain: []int{2, 1, 0}}},
		{"skip", []Entry{none(), {Replaces: 0}, {Replaces: 0, Skips: []int{1}}}, Shape{Heads: []int{2}, Skipped: []bool{false, true, false}, Chain: []int{2, 0}}},
		{"two-heads", []Entry{none(), {Replaces: 0}, {Replaces: 0}}, Shape{Heads: []int{1, 2}, Skipped: make([]bool, 3)}},
		{"no-head", []Entry{{Replaces: 1}, {Replaces: 0}}, Shape{Skipped: make([]bool, 2), Cycles: [][]int{{0, 1}}}},
		{"replaces-itself", []Entry{{Replaces: 0}}, Shape{Skipped: make([]bool, 1), Cycles: [][]int{{0}}}},
		{"cycle-below-the-head", []Entry{{Replaces: 2}, {Replaces: 2}, {Replaces: 0}}, Shape{Heads: []int{1}, Skipped: make([]bool, 3), Chain: []int{1, 2, 0}, Cycles: [][]int{{0, 2}}}},
		{"cycle-of-skipped", []Entry{{Replaces: 1}, {Replaces: 0}, none(0, 1)}, Shape{Heads: []int{2}, Skipped: []bool{true, true, false}, Chain: []int{2}, Cycles: [][]int{{0, 1}}}},
		{"stranded", []Entry{none(), {Replaces: 0}, none(1)}, Shape{Heads: []int{2}, Skipped: []bool{false, true, false}, Chain: []int{2}, Stranded: []int{0}}},
		{"through-a-skipped-one", []Entry{none(), {Replaces: 0}, {Replaces: 1, Skips: []int{1}}}, Shape{Heads: []int{2}, Skipped: []bool{false, true, false}, Chain: []int{2, 1, 0}, Stranded: []int{0}}},
		{"two-cycles", []Entry{{Replaces: 3}, {Replaces: 2}, {Replaces: 1}, {Replaces: 0}}, Shape{Skipped: make([]bool, 4), Cycles: [][]int{{0, 3}, {1, 2}}}},
	} {
		if diff := cmp.Diff(c.want, Of(c.entries)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
