package fbc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/regular"
)

// A file is a regular file of the catalog.
type file struct {
	name string
	size int64 // 0 when unknown
}

// Files returns the names of the files below the root of fsys that [Load] reads, and
// the names of ignore files. The entries of each directory are sorted by name. The
// error is the context's, or a [Diagnostics] with what Load rejects before it reads a
// file, such as named pipes and links that lead out of the catalog.
//
// When the context ends, Files returns at once, even if a call to the file system
// hangs.
func Files(ctx context.Context, fsys fs.FS, limits *Limits) ([]string, error) {
	l := limits.WithDefaults()
	list, err := listed(ctx, tree(fsys), &l)
	if err != nil {
		return nil, err
	}
	if len(list.faults) > 0 {
		faults := faultList{max: int(l.Diagnostics)}
		faults.add(list.faults...)
		return nil, faults.capped()
	}
	names := list.ignores
	for _, f := range list.files {
		names = append(names, f.name)
	}
	slices.SortFunc(names, comparePath)
	return names, nil
}

// comparePath orders names as a walk visits them.
func comparePath(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// listFiles returns the files of the tree below the root of fsys that no ignore file
// excludes (A1, A2, A11). The entries of each directory are sorted by name.
func listFiles(ctx context.Context, fsys fs.FS, limits *Limits) listing {
	w := walker{ctx: ctx, fsys: fsys, limits: limits}
	if fsys == nil {
		w.report(codes.Unreadable, ".", errors.New("there is no file system to load from"))
		return w.listing
	}
	switch info, err := fs.Stat(fsys, "."); {
	case errors.Is(err, fs.ErrNotExist):
		w.report(codes.Unreadable, ".", fmt.Errorf("the catalog directory does not exist: %w", regular.Cause(err)))
	case err != nil:
		w.report(codes.Unreadable, ".", regular.Cause(err))
	case !info.IsDir():
		w.report(codes.Unreadable, ".", errors.New("is not a directory; name the directory of the catalog"))
	default:
		w.dir(".")
	}
	return w.listing
}

type walker struct {
	listing
	ctx    context.Context
	fsys   fs.FS
	limits *Limits
	ignore ignorer
	seen   int64 // files and directories
	full   bool
}

func (w *walker) report(code Code, name string, err error) {
	w.faults = append(w.faults, &Diagnostic{Code: code, Pos: Pos{File: name}, Err: err})
}

// dir visits a directory: its ignore file first, then its entries by name.
func (w *walker) dir(dir string) {
	if w.done() {
		return
	}
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		if w.ignore.excludes(dir, true) {
			return // an excluded directory need not be readable
		}
		w.report(codes.Unreadable, dir, regular.Cause(err))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	outer := len(w.ignore.patterns)
	for _, e := range entries {
		if e.Name() == ignoreFile && !e.IsDir() {
			w.ignoreFile(path.Join(dir, ignoreFile), e)
		}
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case w.done():
			return
		case e.IsDir():
			w.count(name)
			w.dir(name)
		case e.Name() == ignoreFile || w.ignore.match(name):
		case e.Type().IsRegular() && regular.IsTemporary(e.Name()):
			w.count(name)
			w.findings = append(w.findings, &Diagnostic{Code: codes.Leftover, Severity: Warning, Pos: Pos{File: name}, Err: errLeftover})
		default:
			if info := w.regular(name, e); info != nil && w.count(name) {
				w.files = append(w.files, file{name, info.Size()})
			}
		}
	}
	// Patterns apply only to their directory.
	w.ignore.patterns = w.ignore.patterns[:outer]
}

func (w *walker) done() bool { return w.full || w.ctx.Err() != nil }

// count reports whether there may be one more file or directory.
func (w *walker) count(name string) bool {
	if w.seen++; w.seen > w.limits.Files && !w.full {
		w.full = true
		w.report(codes.Limit, name, &LimitError{Limit: "Files", What: "number of files and directories", Max: w.limits.Files})
	}
	return !w.full
}

func (w *walker) ignoreFile(name string, e fs.DirEntry) {
	if w.regular(name, e) == nil {
		return
	}
	w.ignores = append(w.ignores, name)
	bad, err := w.ignore.read(w.fsys, name, w.limits.IgnoreSize)
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		w.report(codes.Limit, name, err)
	case err != nil:
		w.report(codes.Unreadable, name, regular.Cause(err))
	}
	for _, b := range bad {
		w.findings = append(w.findings, &Diagnostic{Code: codes.IgnorePattern, Severity: Warning, Pos: Pos{name, b.line}, Err: b.err})
	}
}

// regular returns the information about a file that may be read, and otherwise reports
// why it may not.
func (w *walker) regular(name string, e fs.DirEntry) fs.FileInfo {
	info, err := regular.Stat(w.fsys, name, e, "catalog", notCatalog)
	var not *regular.Error
	switch {
	case errors.As(err, &not):
		w.report(codes.NotRegular, name, err)
	case err != nil:
		w.report(codes.Unreadable, name, err)
	case info.Size() > w.limits.FileSize:
		w.report(codes.Limit, name, &LimitError{Limit: "FileSize", What: "file", Size: info.Size(), Max: w.limits.FileSize})
	default:
		return info
	}
	return nil
}

// notCatalog is the advice about a file that may not belong to the catalog.
const notCatalog = "list it in " + ignoreFile + " if it does not belong to the catalog"

// A listing is what a walk found.
type listing struct {
	files            []file
	ignores          []string // the ignore files
	faults, findings Diagnostics
}
