package kube

import (
	"context"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// S8: invisible characters from catalogs and servers are made visible in
// events, and line breaks stay.
func TestEventText(t *testing.T) {
	recorder := events.NewFakeRecorder(2)
	r := &Reconciler{recorder: recorder}
	sub := olm.Key{Group: olm.Group, Kind: olm.KindSubscription, Namespace: "operators", Name: "etcd"}
	for _, tt := range []struct{ text, want string }{
		{"one\ntwo \u202eowt\u200b\x1b[1m\r", "one\n" + `two \u202eowt\u200b\u001b[1m\r`},
		{strings.Repeat("\u202e", 1000), strings.Repeat(`\u202e`, 170) + "\\..."},
	} {
		r.event(&reconcile.Snapshot{}, reconcile.Event{Object: sub, Type: "Warning", Reason: "X", Message: tt.text})
		if got := <-recorder.Events; got != "Warning X "+tt.want {
			t.Errorf("%q is recorded as %q; want %q", tt.text, got, tt.want)
		}
	}
}

// An eventSink sends the messages of the events that are created.
type eventSink chan string

func (s eventSink) Create(_ context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	s <- e.Note
	return e, nil
}

func (s eventSink) Update(_ context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	return e, nil
}

func (s eventSink) Patch(_ context.Context, e *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	s <- "the event was recorded separately"
	return e, nil
}

// E19: events about two versions of an object are recorded separately, even with
// the same reason.
func TestEventsOfOneReason(t *testing.T) {
	sink := make(eventSink, 2)
	b := events.NewBroadcaster(sink)
	if err := b.StartRecordingToSinkWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	r := &Reconciler{recorder: b.NewRecorder(runtime.NewScheme(), FieldOwner)}
	for i, text := range []string{"needs a service account", "needs a CRD"} {
		sub := &olm.Subscription{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindSubscription, Metadata: olm.Metadata{
			Name: "etcd", Namespace: "operators", UID: "1", ResourceVersion: string(rune('1' + i)),
		}}}
		s := &reconcile.Snapshot{Subscriptions: []*olm.Subscription{sub}}
		r.event(s, reconcile.Event{Object: sub.Key(), Type: "Warning", Reason: "RequirementsNotMet", Message: text})
		if got := <-sink; got != text {
			t.Errorf("event %q is recorded as %q", text, got)
		}
	}
}
