// Package sample holds a small catalog for the command line, the examples and the tests,
// so that they work without a download. Its README.md describes what each package shows.
// The catalog is fictitious; do not install from it.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed all:catalog
var files embed.FS

// Catalog returns the root of the sample catalog.
func Catalog() fs.FS {
	sub, err := fs.Sub(files, "catalog")
	if err != nil {
		panic("internal error: " + err.Error()) // the name is a constant
	}
	return sub
}
