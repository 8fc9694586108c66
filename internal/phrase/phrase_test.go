package phrase_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
)

// TestLists joins lists of all lengths, up to those that are shortened.
func TestLists(t *testing.T) {
	words := strings.Fields("a b c d e f g")
	for _, c := range []struct {
		list func([]string) string
		want map[int]string // by the number of words
	}{
		{phrase.Or, map[int]string{0: "nothing", 1: "a", 2: "a or b", 4: "a, b, c or d", 5: "a, b, c or 2 others"}},
		{phrase.And, map[int]string{0: "nothing", 1: "a", 2: "a and b", 6: "a, b, c, d, e and f", 7: "a, b, c, d, e and 2 others"}},
		{phrase.Few, map[int]string{0: "nothing", 1: "a", 3: "a, b and c", 4: "a, b, c and 1 more"}},
	} {
		for n, want := range c.want {
			if got := c.list(words[:n]); got != want {
				t.Errorf("%d words: %q, want %q", n, got, want)
			}
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := phrase.Count(n, "step"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEither(t *testing.T) {
	for n, want := range map[int]string{0: "are", 1: "is", 2: "are"} {
		if got := phrase.Either(n, "is", "are"); got != want {
			t.Errorf("Either(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestClause(t *testing.T) {
	for text, want := range map[string]string{"": "", "it failed": "it failed", " it failed. ": "it failed", "1.2": "1.2"} {
		if got := phrase.Clause(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestReason drops the position of a finding, which the surrounding sentence states.
func TestReason(t *testing.T) {
	found := &fbc.Diagnostic{Pos: fbc.Pos{File: "a.yaml", Line: 3}, Err: errors.New("it has no name")}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "plain"},
		{found, "it has no name"},
		{fmt.Errorf("package a: %w", found), "it has no name"},
	} {
		if got := phrase.Reason(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
