// Package olm holds the resources of Operator Lifecycle Manager as plain
// values: subscriptions, cluster service versions, install plans, operator
// groups, catalog sources and the few others that their rules mention.
//
// Their JSON is that of the resources in a cluster, so that the objects of any client
// convert through JSON. A type here has fields for what the rules of this module read or
// write, no more; everything else that an object holds stays in a field named Rest, as
// JSON, and is written back unharmed:
//
//	var sub olm.Subscription
//	err := json.Unmarshal(text, &sub) // whatever else text holds …
//	sub.Status.State = olm.StateAtLatestKnown
//	text, err = json.Marshal(&sub)    // … is still there
//
// Most of them are a [Typed], so Subscription has the fields Header, Spec, Status and
// Rest.
//
// Keys are written in a fixed order, so that equal values have equal bytes.
//
// Values are shared freely: callers that change a map or a slice of one clone it
// first (see Metadata.SetLabel and SetAnnotation, which do). The raw JSON in
// Rest is never modified.
//
// An [Object] is a resource of any kind. [ToObject] and [As] convert.
//
// This package has no behavior beyond conversion; what the resources mean is
// for packages operatorgroup and reconcile.
package olm
