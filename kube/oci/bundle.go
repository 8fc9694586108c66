package oci

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/bundledir"
	"github.com/olmkit/olmkit/olm"
)

// A Bundle is the content of a bundle image. It is immutable and safe for
// concurrent use. Its FS is a bundle directory, for package fbc/bundle.
type Bundle struct {
	*Image
	// Objects holds the manifests, ordered by file and by position in the file.
	Objects []olm.Object
}

// Bundle returns the content of a bundle image: the directories named by its
// labels operators.operatorframework.io.bundle.manifests.v1 and metadata.v1.
// The error is an [*Error], or the cause of the context's end.
func (p *Puller) Bundle(ctx context.Context, ref string) (*Bundle, error) {
	img, err := p.pull(ctx, ref, bundleKind(p.opts.Bundles))
	if err != nil {
		return nil, err
	}
	return bundleOf(ctx, ref, img)
}

// bundleOf returns the bundle of an image.
func bundleOf(ctx context.Context, ref string, img *Image) (*Bundle, error) {
	objects, err := readObjects(ctx, img.FS, "manifests")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &Error{Ref: ref, Err: err}
	}
	return &Bundle{img, objects}, nil
}

// readObjects reads the manifests in a directory as opm does: all files in name
// order, without dot files and subdirectories. The limits of images bound the files.
func readObjects(ctx context.Context, fsys fs.FS, dir string) ([]olm.Object, error) {
	files := bundledir.New(fsys, bundledir.Limits{})
	entries, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	var out []olm.Object
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		at := fbc.Pos{File: path.Join(dir, e.Name())}
		text, err := files.Read(at.File, e)
		if err != nil {
			return nil, &ManifestError{Pos: at, Err: err}
		}
		for doc, err := range bundledir.Documents(text) {
			at.Line = doc.Line
			var value []byte
			if err == nil {
				value, at.Line, err = files.JSON(ctx, doc)
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err == nil && value == nil {
				continue
			}
			var o olm.Object
			if err == nil {
				err = json.Unmarshal(value, &o)
			}
			if err == nil && (o.Kind == "" || o.APIVersion == "" || o.Metadata.Name == "") {
				err = errors.New("is not a Kubernetes object: kind, apiVersion or metadata.name is missing")
			}
			if err != nil {
				return nil, &ManifestError{Pos: at, Err: err}
			}
			out = append(out, o)
		}
	}
	return out, nil
}
