package oci

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/fbc"
)

// An Error reports that an image could not be read.
type Error struct {
	Ref string
	Err error
}

// Error returns "image ref: cause".
func (e *Error) Error() string { return fmt.Sprintf("image %s: %v", e.Ref, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A LimitError reports that an image exceeds a limit.
type LimitError struct {
	// Limit is the name of the field in Limits that is exceeded, and Max is the
	// value of that field.
	Limit string
	Max   int64
}

var limitTexts = map[string]struct{ fault, limit string }{
	"Download": {"the compressed layers are larger than %d bytes", "compressed layers"},
	"Scan":     {"the decompressed layers are larger than %d bytes", "decompressed layers"},
	"Bytes":    {"the files are larger than %d bytes in total", "the size of files"},
	"Files":    {"the image has more than %d files and directories", "the number of files"},
	"Layers":   {"the image has more than %d layers", "layers"},
}

// Error returns a message that names the limit in words, not by its field name.
func (e *LimitError) Error() string {
	text := limitTexts[e.Limit]
	return fmt.Sprintf(text.fault, e.Max) + "; raise the limit on " + text.limit + " in images to allow it"
}

// An UnsafeError reports an entry of a layer that must not be unpacked.
type UnsafeError struct {
	Path   string
	Reason string
}

// Error returns the quoted path and the reason.
func (e *UnsafeError) Error() string { return fmt.Sprintf("%q %s", e.Path, e.Reason) }

// A LabelError reports a label that is missing or invalid, or whose directory
// is missing.
type LabelError struct {
	Label string
	// Value is the label's value, or "" if it is missing.
	Value  string
	Reason string
}

// Error returns a message that names the label.
func (e *LabelError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("label %s is missing: %s", e.Label, e.Reason)
	}
	return fmt.Sprintf("label %s=%s %s", e.Label, e.Value, e.Reason)
}

// A ManifestError reports a file of a bundle that is not a Kubernetes object.
type ManifestError struct {
	fbc.Pos // in the bundle; Line is 0 if the file cannot be read
	Err     error
}

// Error returns "file:line: cause".
func (e *ManifestError) Error() string { return fmt.Sprintf("%s: %v", e.Pos, e.Err) }

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }

// A DigestError reports content whose digest is not the expected one.
type DigestError struct{ Want, Got string }

// Error returns both digests.
func (e *DigestError) Error() string {
	return fmt.Sprintf("the content has digest %s instead of %s; copy the image again", e.Got, e.Want)
}

// A FormatError reports a reference to something that is not an image or an
// index of images in a supported format.
type FormatError struct{ MediaType string }

// Error returns a message that names the media type.
func (e *FormatError) Error() string {
	if strings.HasPrefix(e.MediaType, "application/vnd.docker.distribution.manifest.v1+") {
		return "the image has schema version 1, which has no labels; push it again with a current tool, for example skopeo copy --format v2s2"
	}
	switch e.MediaType {
	case "":
		return "the answer has no media type, so it is not an image; check that the host is a registry"
	case "text/html":
		return "the answer is a web page, not an image; check that the host is a registry, and that no proxy or login page answers in its place"
	}
	return fmt.Sprintf("media type %s is not an image or an image index", e.MediaType)
}

// An IndexError reports an index of images without an image.
type IndexError struct {
	// Entries is the number of entries, none of which is an image.
	Entries int
}

// Error returns a message for an empty index, or for one of other things.
func (e *IndexError) Error() string {
	if e.Entries == 0 {
		return "the index of images is empty; push the image again"
	}
	return "the index of images lists only attestations or artifacts; push the image again"
}

// A CutError reports that a connection ended early.
type CutError struct {
	// Read is the number of bytes received of Size.
	Read, Size int64
	Err        error
}

// Error returns both sizes and the cause.
func (e *CutError) Error() string {
	return fmt.Sprintf("the connection ended after %d of %d bytes: %v", e.Read, e.Size, e.Err)
}

// Unwrap returns the cause.
func (e *CutError) Unwrap() error { return e.Err }

// A CredentialsError reports that a file with credentials, or a credential helper that it
// names, cannot be used.
type CredentialsError struct {
	// File is "" for an [AuthText].
	File string
	Err  error
}

// Error returns "credentials in FILE: cause".
func (e *CredentialsError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("credentials: %v", e.Err)
	}
	return fmt.Sprintf("credentials in %s: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *CredentialsError) Unwrap() error { return e.Err }

// A ReferenceError reports that a text is not a reference to an image.
type ReferenceError struct{ Err error }

// Error returns what a reference looks like.
func (e *ReferenceError) Error() string {
	return "not a reference to an image; write REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@sha256:DIGEST, the repository in lower case with at least two characters"
}

// Unwrap returns the cause.
func (e *ReferenceError) Unwrap() error { return e.Err }

// A TagError reports that image files hold no image with the requested tag, or
// several images when no tag is requested.
type TagError struct {
	// Tag is the requested tag, or "".
	Tag string
	// Tags are the tags of the images in the files, sorted.
	Tags []string
}

// Error returns a message that lists the tags.
func (e *TagError) Error() string {
	have := "it has " + strings.Join(e.Tags, ", ")
	if len(e.Tags) == 0 {
		have = "it has no tags"
	}
	if e.Tag == "" {
		return "several images and no tag; add one: " + have
	}
	return fmt.Sprintf("no image has tag %q; %s", e.Tag, have)
}
