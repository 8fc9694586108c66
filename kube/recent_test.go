package kube

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestRecentIsBounded checks that the number of entries is limited, and that
// the oldest are removed first.
func TestRecentIsBounded(t *testing.T) {
	r := &recent{}
	for i := range 3 * maxOwn {
		uid := types.UID(fmt.Sprint(i))
		r.wrote(uid, "1", "ops")
		if i%2 == 0 {
			r.forget(uid)
		}
	}
	if len(r.own) > maxOwn || len(r.order) > 2*maxOwn {
		t.Errorf("%d writes and %d names are kept: want %d at most", len(r.own), len(r.order), maxOwn)
	}
	last := types.UID(fmt.Sprint(3*maxOwn - 1))
	for range 2 { // a lookup does not remove it
		if !r.isOwn(last, "1", "ops") {
			t.Error("the last write is forgotten")
		}
	}
	if r.isOwn("1", "1", "ops") {
		t.Error("the first write is not forgotten")
	}
}

// An update of a version that this process has replaced is not sent.
func TestOvertook(t *testing.T) {
	r := &recent{}
	r.wrote("a", "10", "ops")
	for version, want := range map[string]bool{"9": true, "10": false, "11": false, "": false, "x": false} {
		if got := r.overtook("a", version); got != want {
			t.Errorf("version %q: got %v, want %v", version, got, want)
		}
	}
	if r.overtook("b", "9") {
		t.Error("another object is outdated")
	}
	if r.forget("a"); r.overtook("a", "9") {
		t.Error("a forgotten write has overtaken")
	}
}
