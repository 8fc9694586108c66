package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// bundleFiles returns the files of the bundle directory or bundle image that arg names, and a
// Closer for the caller to close. Both are nil if arg is not a bundle; it may be a catalog.
func (l *loader) bundleFiles(ctx context.Context, arg string) (fs.FS, io.Closer, error) {
	if ref, ok := referenceOf(arg); ok {
		if isServer(ref.text) {
			return nil, nil, nil
		}
		if _, err := l.fetch(ctx, ref); !noCatalog(err) {
			if _, name := splitPackage(arg); err == nil || name != "" || ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			return nil, nil, &imageError{"image", arg, err}
		}
		files, err := l.fetchBundle(ctx, ref)
		if err != nil && ctx.Err() == nil {
			err = &imageError{"bundle", arg, err}
		}
		return files, io.NopCloser(nil), err
	}
	if !isDir(arg) || !bundle.IsDir(os.DirFS(arg)) {
		return nil, nil, nil
	}
	root, err := disk.OpenRoot(arg)
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), root, nil
}

// noCatalog reports whether err is about an image that no label declares to be a catalog.
func noCatalog(err error) bool {
	var label *oci.LabelError
	return errors.As(err, &label) && label.Label == oci.LabelConfigs && label.Value == ""
}

// forBundles returns the limits for reading a bundle directory.
func (l *limits) forBundles() *registryv1.Limits {
	out := l.bundle
	out.Files, out.Expansion = int(l.load.Files), l.load.Expansion
	return &out
}
