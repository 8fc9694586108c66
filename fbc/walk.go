package fbc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// A file is a regular file of the catalog.
type file struct {
	name string
	size int64 // 0 when unknown
}

// listFiles returns the files of the tree below the root of fsys in lexical
// order, without those that the ignore files name (A1, A2).
func listFiles(ctx context.Context, fsys fs.FS, limits *Limits) ([]file, Diagnostics) {
	w := walker{ctx: ctx, fsys: fsys, limits: limits}
	if info, err := fs.Stat(fsys, "."); err != nil {
		w.report(CodeUnreadable, ".", err)
	} else if !info.IsDir() {
		w.report(CodeUnreadable, ".", errors.New("is no directory; name the directory that holds the catalog"))
	} else {
		w.dir(".")
	}
	return w.files, w.faults
}

type walker struct {
	ctx    context.Context
	fsys   fs.FS
	limits *Limits
	ignore ignorer
	files  []file
	faults Diagnostics
	full   bool
}

func (w *walker) report(code Code, name string, err error) {
	w.faults = append(w.faults, &Diagnostic{Code: code, Pos: Pos{File: name}, Err: err})
}

// dir visits a directory: its ignore file first, then its entries by name.
func (w *walker) dir(dir string) {
	if w.full || w.ctx.Err() != nil {
		return
	}
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		w.report(CodeUnreadable, dir, err)
	}
	outer := len(w.ignore.patterns)
	for _, e := range entries {
		if e.Name() != IgnoreFile || e.IsDir() {
			continue
		}
		if err := w.ignore.read(w.fsys, path.Join(dir, IgnoreFile)); err != nil {
			w.report(CodeIgnorePattern, path.Join(dir, IgnoreFile), err)
		}
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			w.dir(name)
		case e.Name() == IgnoreFile || w.ignore.match(name):
		default:
			w.file(name, e)
		}
	}
	// Patterns reach no further than their directory.
	w.ignore.patterns = w.ignore.patterns[:outer]
}

// file adds a regular file, or a link that leads to one.
func (w *walker) file(name string, e fs.DirEntry) {
	info, err := e.Info()
	if err == nil && e.Type()&fs.ModeSymlink != 0 {
		info, err = fs.Stat(w.fsys, name)
	}
	switch {
	case err != nil:
		w.report(CodeUnreadable, name, err)
	case !info.Mode().IsRegular():
		w.report(CodeNotRegular, name, fmt.Errorf("is %s, not a regular file; list it in %s if it does not belong to the catalog", kind(info.Mode()), IgnoreFile))
	case info.Size() > w.limits.FileSize:
		w.report(CodeLimit, name, &LimitError{Limit: "FileSize", What: "file", Size: info.Size(), Max: w.limits.FileSize})
	case int64(len(w.files)) >= w.limits.Files:
		if !w.full {
			w.full = true
			w.report(CodeLimit, name, &LimitError{Limit: "Files", What: "number of files", Max: w.limits.Files})
		}
	default:
		w.files = append(w.files, file{name, info.Size()})
	}
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a link to a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
