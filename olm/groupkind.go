package olm

// A GroupKind names a kind of objects, in whatever version.
type GroupKind struct{ Group, Kind string }
