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
	"github.com/olmkit/olmkit/reconcile/olm"
)

// A Bundle is the content of a bundle image. It never changes, and any number of
// goroutines may share it. Its FS is that of a bundle directory, for
// fbc.ReadBundleDir.
type Bundle struct {
	*Image
	// Objects are the manifests, by file and in the order of the file.
	Objects []olm.Object
}

// Bundle returns the content of a bundle image: the directories that its labels
// operators.operatorframework.io.bundle.manifests.v1 and metadata.v1 name. The
// error is an [*Error], or the cause of the context's end.
func (p *Puller) Bundle(ctx context.Context, ref string) (*Bundle, error) {
	img, err := p.pull(ctx, ref, bundleKind(p.opts.Bundles))
	if err != nil {
		return nil, err
	}
	objects, err := readObjects(ctx, img.FS, "manifests")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &Error{Ref: ref, Err: err}
	}
	return &Bundle{img, objects}, nil
}

// readObjects reads the manifests of a directory as opm does: the files in it by
// name, without those that begin with a dot, and none below it.
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

// readObject reads a document; an empty one is no object and no error.
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
		return o, errors.New("is no Kubernetes object: it has no kind, apiVersion or name")
	}
	return o, nil
}
