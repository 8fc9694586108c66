package oci

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/olmkit/olmkit/internal/yamljson"
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
// order, without dot files and subdirectories.
func readObjects(ctx context.Context, fsys fs.FS, dir string) ([]olm.Object, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var out []olm.Object
	room := int64(yamljson.DefaultExpansion)
	opts := &yamljson.Options{Expansion: &room}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(dir, e.Name())
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for n := 1; ; n++ {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			doc, err := docs.Read()
			if err == io.EOF {
				break
			}
			var o olm.Object
			if err == nil {
				if o, err = readObject(ctx, doc, opts); o.Kind == "" && err == nil {
					continue // an empty document
				}
			}
			if err != nil {
				return nil, &ManifestError{File: name, Document: n, Err: err}
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// readObject reads a document. An empty document is the zero Object.
func readObject(ctx context.Context, doc []byte, opts *yamljson.Options) (o olm.Object, err error) {
	text, err := yamljson.JSON(ctx, doc, opts)
	if err != nil {
		return o, err
	}
	if bytes.Equal(text, []byte("null")) {
		return o, nil
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, err
	}
	if o.Kind == "" || o.APIVersion == "" || o.Metadata.Name == "" {
		return o, errors.New("is not a Kubernetes object: kind, apiVersion or metadata.name is missing")
	}
	return o, nil
}
