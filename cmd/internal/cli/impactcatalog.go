package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	fbcreport "github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/property"
)

// A bundleStore reads the bundles of a catalog.
type bundleStore struct {
	run   *impactRun
	index *graph.Catalog
	blobs map[string]map[string]*fbc.Bundle // by package and name
}

// open reads a catalog with the properties of its bundles.
func (i *impactRun) open(ctx context.Context, catalog string) (*bundleStore, error) {
	blobs, err := newLoader(i.env).keep(ctx, catalog)
	if err != nil {
		return nil, notLoaded(ctx, catalog, err)
	}
	s := &bundleStore{run: i, blobs: map[string]map[string]*fbc.Bundle{}}
	if s.index, err = graph.Build(ctx, blobs, i.limits.graph()); err != nil {
		return nil, notLoaded(ctx, catalog, err)
	}
	for _, b := range blobs.Bundles {
		if s.blobs[b.Package] == nil {
			s.blobs[b.Package] = map[string]*fbc.Bundle{}
		}
		s.blobs[b.Package][b.Name] = b
	}
	return s, nil
}

// A packageBundles reads the bundles of one package, each once. It is not safe for concurrent
// use.
type packageBundles struct {
	store  *bundleStore
	pkg    string
	images bool // whether images are read
	dirs   map[string]string
	read   map[string]*readBundle
}

// A readBundle is a bundle that was read, or why it could not be.
type readBundle struct {
	impact.Bundle
	dir string
	err error
}

// errNotAvailable is the error for a bundle whose manifests were not found.
var errNotAvailable = errors.New("its manifests are not in the catalog")

func (s *bundleStore) of(pkg string) *packageBundles {
	return &packageBundles{store: s, pkg: pkg, read: map[string]*readBundle{}}
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

func (p *packageBundles) load(ctx context.Context, name string, b *readBundle) error {
	blob := p.store.blobs[p.pkg][name]
	if blob == nil {
		return errors.New("the catalog has no such bundle")
	}
	b.dir = name
	m := p.store.run.manifests
	for _, x := range blob.Properties {
		b.Properties = append(b.Properties, property.Property{Type: x.Type, Value: x.Value})
	}
	var err error
	if slices.ContainsFunc(blob.Properties, func(x property.Property) bool { return x.Type == property.TypeBundleObject }) {
		b.Bundle.Bundle, err = m.fromBlob(ctx, blob)
		return err
	}
	if p.store.run.tree != "" {
		if p.dirs == nil {
			if p.dirs, err = p.inTree(ctx); err != nil {
				return err
			}
		}
		if dir, ok := p.dirs[name]; ok {
			b.dir = dir
			b.Bundle.Bundle, _, err = m.bundle(ctx, dir)
			return err
		}
	}
	if !p.images || blob.Image == "" {
		return fmt.Errorf("%w; name the directory of its package's bundles with --bundles", errNotAvailable)
	}
	files, err := newLoader(p.store.run.env).fetchBundle(ctx, reference{text: registryScheme + blob.Image})
	if err != nil {
		return err
	}
	b.Bundle.Bundle, err = registryv1.Read(ctx, files, m.readOptions())
	return err
}

// inTree returns the directories of the package's bundles below --bundles, by the name of the
// bundle. Directories that are not valid bundles are left out.
func (p *packageBundles) inTree(ctx context.Context) (map[string]string, error) {
	root := filepath.Join(p.store.run.tree, p.pkg)
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]string{}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if !isDir(dir) || !bundle.IsDir(os.DirFS(dir)) {
			continue
		}
		b, _, err := p.store.run.bundle(ctx, dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			out[b.CSV().Name] = dir
			p.read[b.CSV().Name] = nil
		}
	}
	return out, nil
}

// properties returns the properties that a catalog gets from a bundle directory. It returns
// none if the metadata of the bundle is invalid.
func (i *impactRun) properties(ctx context.Context, files fs.FS) ([]property.Property, error) {
	dir, err := bundle.Load(ctx, files, &bundle.Options{Limits: i.limits.fbc()})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil || dir.Bundle == nil {
		return nil, nil
	}
	return dir.Bundle.Properties, nil
}

// catalog judges all upgrades of a catalog.
func (i *impactRun) catalog(ctx context.Context, catalog string) error {
	if *i.format == formatMarkdown || *i.format == format(fbcreport.SARIF) {
		return usagef("-o %s is for one upgrade; use text, json or yaml for a catalog", *i.format)
	}
	if i.path {
		return usagef("--path needs CATALOG PACKAGE OLD NEW")
	}
	s, err := i.open(ctx, catalog)
	if err != nil {
		return err
	}
	names := namesOf([]*graph.Catalog{s.index})
	if len(i.only) > 0 {
		for _, name := range i.only {
			if !slices.Contains(names, name) {
				return noPackage(catalog, name, names)
			}
		}
		names = slices.Compact(slices.Sorted(slices.Values(i.only)))
	}
	rows := make([]*packageImpact, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, name := range names {
		group.Go(func() error {
			p, ok := s.index.Package(name)
			if !ok {
				return nil
			}
			var err error
			rows[n], err = i.judge(ctx, s, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	t := &impactTable{}
	for _, r := range rows {
		for _, edge := range r.Edges {
			if edge.Verdict.AtLeast(i.verdict) {
				i.verdict = edge.Verdict
			}
		}
		t.Packages = append(t.Packages, *r)
	}
	if err := (&printer{w: i.stdout, format: *i.format}).print(t); err != nil {
		return err
	}
	return i.end(ctx)
}

// An impactTable has the verdicts on the upgrades of a catalog.
type impactTable struct {
	// Packages are sorted by name.
	Packages []packageImpact `json:"packages"`
}

// A packageImpact has the verdicts on the upgrades of a package.
type packageImpact struct {
	Package string `json:"package"`
	Safe    int    `json:"safe"`
	Look    int    `json:"look"`
	Breaks  int    `json:"breaks"`
	// Unavailable is the number of upgrades that were not compared, because the manifests of
	// a bundle could not be read.
	Unavailable int          `json:"unavailable"`
	Edges       []edgeImpact `json:"edges,omitempty"`
}

// An edgeImpact is the verdict on one upgrade.
type edgeImpact struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Verdict is empty if the upgrade was not compared. Error then has the reason.
	Verdict impact.Verdict `json:"verdict,omitempty"`
	Error   string         `json:"error,omitempty"`
	// Codes are the codes of all changes, sorted.
	Codes []fbc.Code `json:"codes,omitempty"`
}

// judge compares the bundles of all upgrades of a package.
func (i *impactRun) judge(ctx context.Context, s *bundleStore, p graph.Package) (*packageImpact, error) {
	reading := graph.V1
	if i.opts.Classic {
		reading = graph.Classic
	}
	out := &packageImpact{Package: p.Name()}
	u := p.Upgrades(reading, nil)
	if u.Err() != nil {
		return nil, u.Err()
	}
	bundles := s.of(p.Name())
	bundles.images = i.pull
	for step := range u.AllSteps() {
		edge := edgeImpact{From: step.From.Name, To: step.To.Name}
		old, err := bundles.get(ctx, step.From.Name)
		var created *readBundle
		if err == nil {
			created, err = bundles.get(ctx, step.To.Name)
		}
		var r *impact.Report
		if err == nil {
			r, err = impact.Compare(ctx, old.Bundle, created.Bundle, &i.opts)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			edge.Error = readErrorText(err)
			out.Unavailable++
			out.Edges = append(out.Edges, edge)
			continue
		}
		edge.Verdict = r.Verdict
		switch r.Verdict {
		case impact.Breaks:
			out.Breaks++
		case impact.Look:
			out.Look++
		default:
			out.Safe++
		}
		for _, d := range r.Findings() {
			edge.Codes = append(edge.Codes, d.Code)
		}
		slices.Sort(edge.Codes)
		edge.Codes = slices.Compact(edge.Codes)
		out.Edges = append(out.Edges, edge)
	}
	return out, nil
}

func (t *impactTable) text(w io.Writer) error {
	out := &table{header: []string{"PACKAGE", "UPGRADES", "SAFE", "LOOK", "BREAKS", "NOT COMPARED"}}
	for _, p := range t.Packages {
		n := []string{p.Package}
		for _, count := range []int{len(p.Edges), p.Safe, p.Look, p.Breaks, p.Unavailable} {
			n = append(n, strconv.Itoa(count))
		}
		out.add(n...)
	}
	return out.text(w)
}
