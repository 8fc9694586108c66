// Package disk opens the files that input names (open.go) and writes files (replace.go). All access to the file system
// goes through it.
package disk
