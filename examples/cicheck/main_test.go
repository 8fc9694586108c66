package main

import (
	"os"
	"strings"
	"testing"
)

// TestRun checks the pull request of docs/recipes/gate.md.
func TestRun(t *testing.T) {
	old, new := os.DirFS("../../docs/recipes/gate/old"), os.DirFS("../../docs/recipes/gate/new")
	var b strings.Builder
	ok, err := run(t.Context(), &b, old, new)
	if want := "etcd: an installed etcd.v0.9.0 no longer gets updates from channel stable\n"; err != nil || ok || b.String() != want {
		t.Errorf("run returned %v, %v and printed %q, want false and %q", ok, err, b.String(), want)
	}
	b.Reset()
	if ok, err := run(t.Context(), &b, old, old); err != nil || !ok || b.String() != "no problems found\n" {
		t.Errorf("without a change, run returned %v, %v and printed %q", ok, err, b.String())
	}
}
