// Package regular decides which files of a directory may be read, for catalogs and
// bundles, and names the types of other files.
package regular

import (
	"errors"
	"fmt"
	"io/fs"
)

// An Error is the reason why a file is not read: it is not a regular file of the tree.
type Error struct {
	reason string
}

// Error returns the reason.
func (e *Error) Error() string { return e.reason }

// Stat returns the information about a regular file, or about the one that a link within
// the tree leads to. The error is an [Error], or that of the file system. of names what
// the tree holds, such as "catalog"; advice is what to do about a file that does not
// belong there.
func Stat(fsys fs.FS, name string, e fs.DirEntry, of, advice string) (fs.FileInfo, error) {
	info, err := e.Info()
	if err == nil && e.Type()&fs.ModeSymlink != 0 {
		if err := escapes(fsys, name, of); err != nil {
			return nil, &Error{err.Error()}
		}
		info, err = fs.Stat(fsys, name)
	}
	switch {
	case err != nil:
		return nil, Cause(err)
	case info.IsDir():
		return nil, &Error{"is a link to a directory, not a regular file; " + advice}
	case !info.Mode().IsRegular():
		return nil, &Error{fmt.Sprintf("is %s, not a regular file; %s", Kind(info.Mode()), advice)}
	}
	return info, nil
}

// Kind returns the name of a type of file: "a named pipe".
func Kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a regular file"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a special file"
}

// Cause returns the error of a file system without the path, for findings, which have
// the path already.
func Cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
