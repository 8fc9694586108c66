package document

import "fmt"

// Version is the version of the documents that this package reads. Fields that are
// added keep it.
const Version = 1

// A FormatVersion is the field formatVersion of a document. It is always written. It may be
// missing when a document is read; a version other than [Version] is an error.
type FormatVersion struct{}

// MarshalJSON returns [Version].
func (FormatVersion) MarshalJSON() ([]byte, error) { return fmt.Append(nil, Version), nil }

// UnmarshalJSON refuses every other version.
func (*FormatVersion) UnmarshalJSON(text []byte) error {
	if string(text) != fmt.Sprint(Version) {
		return &versionError{string(text)}
	}
	return nil
}

// A versionError is the error of a document of another version.
type versionError struct{ found string }

// Error names both versions.
func (e *versionError) Error() string {
	return fmt.Sprintf("want %d, found %s; use the release of olmkit that the document was written for", Version, e.found)
}
