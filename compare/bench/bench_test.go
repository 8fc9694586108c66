package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/resolver"
)

func TestOnly(t *testing.T) {
	var r run
	err := r.all(context.Background(), "nosuch", io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"nosuch"`) || !strings.Contains(err.Error(), "load, memory, resolve") {
		t.Errorf("got %v, want an error that names the groups", err)
	}
}

// TestSameWork checks that sameWork returns an error if the two sides did different work.
func TestSameWork(t *testing.T) {
	p := &resolver.Problem{Subscriptions: []resolver.Subscription{{Package: "a"}, {Package: "b"}}}
	for _, c := range []struct {
		text string
		ours []string
		want string
	}{
		{"0\ni a\ni b\n1.5\n2\n", []string{"a", "b"}, ""},
		{"0\ni a\ni b\ni c\n1.5\n", []string{"b", "c", "a"}, ""},
		{"1\ni a\ni b\n1.5\n", []string{"a", "b"}, "libsolv finds 1 problems and no solution"},
		{"0\ni a\ni c\n1.5\n", []string{"a", "b"}, `libsolv did not install package "b"`},
		{"0\ni a\ni b\n1.5\n", []string{"a", "c"}, `olmkit did not install package "b"`},
		{"0\ni a\ni b\ni c\n1.5\n", []string{"a", "b"}, "olmkit installed 2 packages (a, b), libsolv 3 (a, b, c)"},
	} {
		out, err := parseSolved([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := sameWork(p, c.ours, out); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	for _, text := range []string{"", "x\n", "0\n", "0\ni a\nx\n"} {
		if _, err := parseSolved([]byte(text)); err == nil {
			t.Errorf("%q is parsed without an error", text)
		}
	}
}

func TestLibsolvMissing(t *testing.T) {
	if !libsolvMissing([]byte("universe.c:18:10: fatal error: solv/pool.h: No such file or directory")) || libsolvMissing([]byte("universe.c:30: error: expected ';'")) {
		t.Error("libsolvMissing confuses a missing library with another error")
	}
}

func TestAllocated(t *testing.T) {
	var keep []byte
	note, err := allocated(func() error { keep = make([]byte, 1<<20); return nil }, nil)
	if want := "1 allocations of 1049 KB"; err != nil || note != want || len(keep) == 0 {
		t.Errorf("got %q, %v; want %q", note, err, want)
	}
}
