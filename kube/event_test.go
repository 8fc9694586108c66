package kube

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// S8: what an event repeats of a catalog or a server is visible, and our own lines
// stay.
func TestEventText(t *testing.T) {
	recorder := events.NewFakeRecorder(2)
	r := &Reconciler{recorder: recorder}
	sub := olm.Key{Group: olm.Group, Kind: olm.KindSubscription, Namespace: "operators", Name: "etcd"}
	for _, tt := range []struct{ text, want string }{
		{"one\ntwo \u202eowt\u200b\x1b[1m\r", "one\n" + `two \u202eowt\u200b\u001b[1m\r`},
		{strings.Repeat("\u202e", 1000), strings.Repeat(`\u202e`, 170) + "\\..."},
	} {
		r.event(&reconcile.Snapshot{}, reconcile.Event{Object: sub, Type: reconcile.Warning, Reason: "X", Message: tt.text})
		if got := <-recorder.Events; got != "Warning X "+tt.want {
			t.Errorf("%q is recorded as %q; want %q", tt.text, got, tt.want)
		}
	}
}
