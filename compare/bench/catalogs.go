package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/olmkit/olmkit/compare/generate"
)

// errAbsent reports that the directory of real catalogs, ../shared/catalogs, does not exist.
var errAbsent = errors.New("../shared/catalogs does not exist: it is not part of the project")

// catalog returns the directory of a real catalog, unpacked.
func (r *run) catalog(name string) (string, error) {
	dir := filepath.Join(r.tmp, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	f, err := os.Open(filepath.Join(r.shared, name+".tar.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errAbsent
	} else if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return dir, nil
		}
		if err != nil {
			return "", err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(h.Name) {
			return "", fmt.Errorf("%s holds the path %q", name, h.Name)
		}
		path := filepath.Join(r.tmp, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return "", err
		}
	}
}

// copyOf returns the directory of a copy of a real catalog, in the form that t describes.
func (r *run) copyOf(ctx context.Context, name string, t generate.Tree) (string, error) {
	from, err := r.catalog(name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(r.tmp, fmt.Sprintf("%s-%dx-yaml=%v-light=%v", name, max(t.Copies, 1), t.YAML, t.Light))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	files, err := t.Files(ctx, os.DirFS(from))
	if err != nil {
		return "", err
	}
	return dir, generate.Write(files, dir)
}

// absent handles errAbsent by adding a row that states why a group did not run. It returns any other error.
func (r *run) absent(group string, err error) error {
	if errors.Is(err, errAbsent) {
		r.add(Row{Group: group, Case: "not measured", Note: err.Error()})
		return nil
	}
	return err
}

// size returns the total size of the files in a directory, in bytes.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
