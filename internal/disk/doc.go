// Package disk is where the program meets the file system: it opens the files that
// input names (open.go), and writes files (replace.go).
package disk
