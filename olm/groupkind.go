package olm

// A GroupKind names a kind of objects, regardless of version.
type GroupKind struct{ Group, Kind string }
