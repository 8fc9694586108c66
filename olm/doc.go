// Package olm holds the resources of Operator Lifecycle Manager as plain values:
// subscriptions, cluster service versions, install plans, operator groups, catalog
// sources and the other resources that OLM's rules mention.
//
// Their JSON is the same as in a cluster, so objects of any client library can be
// converted through JSON. A type has fields only for what the rules of this module read
// or write. Everything else stays in a field named Rest, as JSON, and is written back
// unchanged:
//
//	var sub olm.Subscription
//	err := json.Unmarshal(text, &sub) // whatever else text holds …
//	sub.Status.State = olm.StateAtLatestKnown
//	text, err = json.Marshal(&sub)    // … is still there
//
// Most types are a [Typed]: Subscription, for example, has the fields Header, Spec,
// Status and Rest.
//
// Keys are written in a fixed order, so that equal values have equal bytes.
//
// Values may share maps and slices. Clone a map or slice before changing it, as
// Metadata.SetLabel and SetAnnotation do. The raw JSON in Rest is never modified.
//
// An [Object] is a resource of any kind. [ToObject] and [As] convert.
//
// This package has no behavior beyond conversion; packages operatorgroup and reconcile
// define what the resources mean.
package olm
