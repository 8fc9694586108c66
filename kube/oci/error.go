package oci

import "fmt"

// An Error says that an image could not be had.
type Error struct {
	Ref string
	Err error
}

// Error returns "image ref: what is wrong".
func (e *Error) Error() string { return fmt.Sprintf("image %s: %v", e.Ref, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A LimitError says that an image exceeds a limit.
type LimitError struct {
	// Limit is the field of Limits, Max its value.
	Limit string
	Max   int64
}

var limitTexts = map[string]string{
	"Download": "its layers have more than %d bytes",
	"Scan":     "its layers hold more than %d bytes",
	"Bytes":    "its files have more than %d bytes",
	"Files":    "it has more than %d files and directories",
	"Layers":   "it has more than %d layers",
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf(limitTexts[e.Limit], e.Max) + fmt.Sprintf("; raise Limits.%s if that is right", e.Limit)
}

// An UnsafeError says that a layer holds what must not be unpacked.
type UnsafeError struct {
	Path   string
	Reason string
}

// Error names the path.
func (e *UnsafeError) Error() string { return fmt.Sprintf("%q %s", e.Path, e.Reason) }

// A LabelError says that an image does not say where its content is, or that
// there is none.
type LabelError struct {
	Label string
	// Value is that of the label; empty when it is missing.
	Value  string
	Reason string
}

// Error names the label.
func (e *LabelError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("it has no label %s: %s", e.Label, e.Reason)
	}
	return fmt.Sprintf("its label %s=%s %s", e.Label, e.Value, e.Reason)
}

// A ManifestError says that a file of a bundle is no Kubernetes object.
type ManifestError struct {
	// File is the path in the bundle, Document the number in the file, from 1.
	File     string
	Document int
	Err      error
}

// Error returns "file: document n: what is wrong".
func (e *ManifestError) Error() string {
	return fmt.Sprintf("%s: document %d: %v", e.File, e.Document, e.Err)
}

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }
