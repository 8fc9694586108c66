package fbc

import (
	"bytes"
	"io/fs"
	"time"
)

// A oneFile is a file system with one file, at whatever name it is opened.
type oneFile struct {
	name string
	data []byte
}

func (o oneFile) Open(string) (fs.File, error) {
	return &openFile{bytes.NewReader(o.data), o}, nil
}

type openFile struct {
	*bytes.Reader
	oneFile
}

func (f *openFile) Close() error               { return nil }
func (f *openFile) Stat() (fs.FileInfo, error) { return fileInfo{f.oneFile}, nil }

type fileInfo struct{ oneFile }

func (i fileInfo) Name() string     { return i.name }
func (i fileInfo) Size() int64      { return int64(len(i.data)) }
func (fileInfo) Mode() fs.FileMode  { return 0o444 }
func (fileInfo) ModTime() time.Time { return time.Time{} }
func (fileInfo) IsDir() bool        { return false }
func (fileInfo) Sys() any           { return nil }
