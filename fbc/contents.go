package fbc

import "fmt"

// contents is what files make up, for the messages about them. Empty, it is a single
// file.
type contents string

const (
	aCatalog contents = "catalog"
	aBundle  contents = "bundle"
)

// outsider returns err with what to do about a file that does not belong to the
// contents.
func (c contents) outsider(err error) error {
	switch c {
	case aCatalog:
		return fmt.Errorf("%w; list it in %s if it does not belong to the catalog", err, IgnoreFile)
	case aBundle:
		return fmt.Errorf("%w; move it out of the bundle if it does not belong to it", err)
	}
	return err
}
