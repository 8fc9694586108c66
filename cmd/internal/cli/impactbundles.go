package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/property"
)

// A packageBundles reads the bundles of one package, each once. It is not safe for concurrent
// use.
type packageBundles struct {
	run      *impactRun
	images   bool // whether images are read
	packages []graph.Package
	read     map[string]*readBundle
	tree     map[string]*readBundle // those below --bundles, if all were read
	digests  map[string]bundleDigest
}

// A readBundle is a bundle that was read, or why it could not be.
type readBundle struct {
	impact.Bundle
	dir string
	err error
}

// errNotAvailable is the error for a bundle whose manifests were not found.
var errNotAvailable = errors.New("its manifests are not in the catalog")

// errUnknownBundle is the error for a bundle that no catalog has.
var errUnknownBundle = errors.New("no catalog has this bundle; name a directory of bundles with --bundles")

// bundlesOf returns a reader of the bundles of a package, which is in one or more catalogs in
// order of preference.
func (i *impactRun) bundlesOf(images bool, packages ...graph.Package) *packageBundles {
	return &packageBundles{run: i, images: images, packages: packages, read: map[string]*readBundle{}}
}

// get returns a bundle of the package.
func (p *packageBundles) get(ctx context.Context, name string) (*readBundle, error) {
	b := p.read[name]
	if b == nil {
		b = &readBundle{}
		b.err = p.load(ctx, name, b)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.read[name] = b
	}
	if b.err != nil {
		return nil, fmt.Errorf("bundle %s: %w", name, b.err)
	}
	return b, nil
}

// find returns a bundle in the preferred catalog that has it.
func (p *packageBundles) find(name string) (graph.Bundle, bool) {
	for _, pkg := range p.packages {
		if b, ok := pkg.Bundle(name); ok {
			return b, true
		}
	}
	return graph.Bundle{}, false
}

func (p *packageBundles) load(ctx context.Context, name string, b *readBundle) error {
	known, ok := p.find(name)
	if !ok && p.run.tree == "" {
		return errUnknownBundle
	}
	b.dir = name
	m := p.run.manifests
	if ok {
		var err error
		if b.Properties, err = propertiesOf(ctx, known); err != nil {
			return err
		}
		if b.Bundle.Bundle, err = m.fromProperties(ctx, known.Package().Name(), b.Properties); err != nil || b.Bundle.Bundle != nil {
			return err
		}
	}
	if p.run.tree != "" {
		found, err := p.inTree(ctx, name, known)
		if err != nil {
			return err
		}
		if found != nil {
			b.dir, b.Bundle.Bundle = found.dir, found.Bundle.Bundle
			return nil
		}
	}
	if !ok || !p.images || known.Image() == "" {
		return fmt.Errorf("%w; name the directory of its package's bundles with --bundles", errNotAvailable)
	}
	files, err := newLoader(p.run.env).fetchBundle(ctx, reference{text: registryScheme + known.Image()})
	if err != nil {
		return err
	}
	b.Bundle.Bundle, err = registryv1.Read(ctx, files, m.readOptions())
	return err
}

// propertiesOf returns the properties of a bundle, with manifests if the catalog has them.
func propertiesOf(ctx context.Context, b graph.Bundle) ([]property.Property, error) {
	raw, err := b.Raw(ctx)
	if errors.Is(err, fbc.ErrNoSource) { // a compiled index
		var list []property.Property
		for p := range b.Properties() {
			list = append(list, p)
		}
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	var blob struct {
		Properties []property.Property `json:"properties"`
	}
	if err := json.Unmarshal(raw, &blob); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Pos(), err)
	}
	return blob.Properties, nil
}

// inTree returns the bundle of a name below --bundles, or nil. Directories are usually named
// after versions; if that of the bundle is not, all directories of the package are read.
func (p *packageBundles) inTree(ctx context.Context, name string, known graph.Bundle) (*readBundle, error) {
	root := filepath.Join(p.run.tree, p.packages[0].Name())
	if dir := p.directory(known); dir != "" {
		b, err := p.inDir(ctx, dir)
		if err != nil || b != nil && b.CSV().Name == name {
			return b, err
		}
	}
	if p.tree == nil {
		entries, err := os.ReadDir(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		p.tree = map[string]*readBundle{}
		for _, e := range entries {
			b, err := p.inDir(ctx, filepath.Join(root, e.Name()))
			if ctx.Err() != nil {
				return nil, err
			}
			if err == nil && b != nil { // not an invalid bundle, which may be any
				p.tree[b.CSV().Name] = b
			}
		}
	}
	return p.tree[name], nil
}

// inDir reads the bundle in a directory. It returns nil if the directory has no bundle.
func (p *packageBundles) inDir(ctx context.Context, dir string) (*readBundle, error) {
	if !isDir(dir) || !bundle.IsDir(os.DirFS(dir)) {
		return nil, nil
	}
	b, _, err := p.run.bundle(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &readBundle{Bundle: impact.Bundle{Bundle: b}, dir: dir}, nil
}
