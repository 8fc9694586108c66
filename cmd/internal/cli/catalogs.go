package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/sample"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

// Paths with a special meaning.
const (
	stdinPath  = "-"
	samplePath = "sample:" // the catalog that is part of the binary
)

// A source is a catalog on the command line.
type source struct {
	name, namespace, path string
	priority              int
	hasPriority           bool // whether the command line sets priority
	hasNamespace          bool // whether the command line sets namespace
	labels                map[string]string
	// served is set for a catalog that a cluster serves. If it cannot be read, this is reported as
	// a note, not as an error.
	served bool
	// files is the directory that the index at path was made from.
	files string
	// If root is set, the files are below it, and path is used only in messages. Documents
	// may refer only to files below a root.
	root   *disk.Root
	inRoot string
}

// place returns the root and the path of the source. The root is nil if the path is not
// relative to a root.
func (s *source) place() (*disk.Root, string) {
	if s.root != nil {
		return s.root, s.inRoot
	}
	return nil, s.path
}

// addSample adds --sample, which can replace a catalog directory.
func addSample(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("sample", false, "use the small catalog that is part of olmkit")
}

// sources returns the catalogs of directories, --catalog flags and --sample, in
// this order, in the global namespace unless they name another. Their names
// differ.
func sources(paths, flags []string, sample bool, global string) ([]source, error) {
	var list []source
	for _, p := range paths {
		list = append(list, source{name: baseName(p), namespace: global, path: p})
	}
	for _, f := range flags {
		s, err := parseSource(f, global)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if sample {
		list = append(list, source{name: "sample", namespace: global, path: samplePath})
	}
	return list, distinct(list)
}

// distinct returns an error if two catalogs in a namespace have the same name.
func distinct(list []source) error {
	seen := map[[2]string]string{}
	for _, s := range list {
		key := [2]string{s.namespace, s.name}
		if _, ok := seen[key]; ok && s.path == stdinPath {
			return usagef("two catalogs are read from standard input; remove one")
		}
		if first, ok := seen[key]; ok {
			return usagef("%s and %s are both named %q; rename one: --catalog NAME=%s", first, s.path, s.name, s.path)
		}
		seen[key] = s.path
	}
	return nil
}

// baseName derives the name of a catalog from its path.
func baseName(path string) string {
	if path == stdinPath {
		return "stdin"
	}
	if ref, ok := referenceOf(path); ok {
		return ref.base()
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := filepath.Base(path)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// sourceForm is the form of a --catalog argument.
const sourceForm = "[NAME=]PATH[,priority=N][,namespace=NS][,label=KEY=VALUE][,source=DIR]"

// addCatalogs adds --catalog to a command that reads several catalogs.
func addCatalogs(cmd *cobra.Command, list *[]string, what string) {
	addList(cmd.Flags(), list, "catalog", "", what+", as `[NAME=]PATH[,OPTION...]`; \"olmkit help catalogs\" lists the options (repeatable)")
	completeCatalogFlag(cmd)
}

// addGlobalNamespace adds the flag for the namespace of catalogs without one.
func addGlobalNamespace(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "global-namespace", resolver.DefaultGlobalNamespace, "the `NAMESPACE` of the catalogs that every namespace sees")
}

// parseSource parses a --catalog argument, which has the form sourceForm. A path after a name may contain commas and
// equals signs.
func parseSource(text, global string) (source, error) {
	s := source{namespace: global}
	name, rest, ok := strings.Cut(text, "=")
	if !ok || strings.ContainsAny(name, `/\,`) {
		name, rest = "", text
	} else if name == "" {
		return source{}, usagef("--catalog %q has no name before the equals sign; write %s", text, sourceForm)
	}
	for {
		at := strings.LastIndexByte(rest, ',')
		if at < 0 {
			break
		}
		option := rest[at+1:]
		if n, ok := strings.CutPrefix(option, "priority="); ok {
			p, err := strconv.Atoi(n)
			if err != nil {
				return source{}, usagef("--catalog %q: priority %q is not a whole number", text, n)
			}
			s.priority, s.hasPriority = p, true
		} else if ns, ok := strings.CutPrefix(option, "namespace="); ok && ns != "" {
			s.namespace, s.hasNamespace = ns, true
		} else if label, ok := strings.CutPrefix(option, "label="); ok && label != "" {
			key, value, _ := strings.Cut(label, "=")
			if s.labels == nil {
				s.labels = map[string]string{}
			}
			s.labels[key] = value
		} else if dir, ok := strings.CutPrefix(option, "source="); ok && dir != "" {
			s.files = dir
		} else {
			break
		}
		rest = rest[:at]
	}
	if s.path = rest; rest == "" {
		return source{}, usagef("--catalog %q has no path; write %s", text, sourceForm)
	}
	if s.name = name; name == "" {
		s.name = baseName(rest)
	}
	return s, nil
}

// display returns a path for messages, on one line.
func display(path string) string {
	switch path {
	case samplePath:
		return "sample"
	case stdinPath:
		return "standard input"
	}
	return visible.Line(path)
}

// A loader loads catalogs, each once.
type loader struct {
	*env
	cache map[string]loaded
	// whole keeps all data of a catalog that cannot be read again, for commands that need
	// more than an index.
	whole bool
	// forIndex is set for a command that writes an index of what it loads.
	forIndex bool
	// strict refuses catalogs with templates, for commands that write what they
	// load. Other commands warn of each (A18).
	strict bool
	silent bool // suppresses these warnings, for completion
	// onDemand reads the packages of compiled indexes when they are needed, for commands that
	// need few.
	onDemand bool
}

// A lazyIndex is a compiled index whose packages are read when they are needed.
type lazyIndex struct {
	path string
	*graph.Catalog
	file io.Closer
}

// closeIndexes closes the indexes that were opened on demand. If part of one could not be
// read, what the command did with it counts for nothing, and this is the error.
func (e *env) closeIndexes(err error) error {
	for _, x := range e.lazy {
		x.file.Close()
		if bad := x.Err(); bad != nil {
			err = &catalogError{x.path, indexNamed(x.path, bad)}
		}
	}
	e.lazy = nil
	return err
}

type loaded struct {
	catalog *graph.Catalog
	err     error
}

func newLoader(e *env) *loader { return &loader{env: e, cache: map[string]loaded{}} }

// index returns the index of the catalog at a path: a directory, a file, which may be a
// compiled index, "-" for standard input or samplePath. Calls with the same path return the
// same index or error.
func (l *loader) index(ctx context.Context, path string) (*graph.Catalog, error) {
	return l.indexOf(ctx, source{path: path})
}

// indexOf is like index for a source, which may name the files that a compiled index was made
// from.
func (l *loader) indexOf(ctx context.Context, s source) (*graph.Catalog, error) {
	if s.path != stdinPath && s.path != samplePath && (s.root != nil || !isReference(s.path)) {
		s.path = filepath.Clean(s.path)
	}
	path := s.path
	key := fmt.Sprintf("%s\x00%s\x00%t", path, s.files, s.root != nil)
	if got, ok := l.cache[key]; ok {
		return got.catalog, got.err
	}
	var got loaded
	var err error
	switch {
	case path != stdinPath && path != samplePath && isIndex(s.place()):
		got.catalog, err = l.openIndex(ctx, s)
	case s.files != "":
		err = errors.New("source= applies only to a compiled index; remove it")
	default:
		got.catalog, err = l.load(ctx, s)
	}
	if err != nil && ctx.Err() != nil {
		return nil, err // not cached: the next call may have more time
	}
	if own := (*catalogError)(nil); err != nil && !errors.As(err, &own) {
		err = &catalogError{path, err}
	}
	if err == nil {
		l.noteTemplates(path, got.catalog)
	}
	got.err = err
	l.cache[key] = got
	return got.catalog, got.err
}

// load reads the catalog of a source that is not a compiled index.
func (l *loader) load(ctx context.Context, s source) (c *graph.Catalog, err error) {
	ref, isRef := referenceOf(s.path)
	isRef = isRef && s.root == nil
	load := func() (*graph.Catalog, error) {
		err = l.open(ctx, s, func(fsys fs.FS, r io.Reader, name string, opts *fbc.LoadOptions) (err error) {
			o := l.limits.graph()
			o.Load, o.InstallModes = opts, isRef || l.forIndex
			opts.KeepAll, opts.RefuseTemplates = l.keepsAll(s.path), l.strict
			if fsys != nil {
				c, err = graph.Load(ctx, fsys, o)
			} else {
				c, err = graph.LoadReader(ctx, r, name, o)
			}
			return err
		})
		return c, err
	}
	if isRef {
		files, err := l.fetch(ctx, ref)
		if err != nil {
			return nil, err
		}
		return l.compiled(ctx, files, load)
	}
	return load()
}

// wholeIndex is like index, but the blobs of the catalog can be read later. It refuses a
// compiled index, which does not hold them.
func (l *loader) wholeIndex(ctx context.Context, path string) (*graph.Catalog, error) {
	if path != stdinPath && isIndex(nil, path) {
		return nil, &catalogError{path, errIndex}
	}
	l.whole = true
	return l.index(ctx, path)
}

// openIndex opens a compiled index, with the directory that it was compiled from if the
// source names one.
func (l *loader) openIndex(ctx context.Context, s source) (*graph.Catalog, error) {
	opts := l.limits.graph()
	if s.files != "" {
		root, err := disk.OpenRoot(s.files)
		if err != nil {
			return nil, &catalogError{s.files, err}
		}
		opts.Source = root.FS()
	}
	root, name := s.place()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	opts.OnDemand = l.onDemand
	c, err := graph.ReadIndex(f, info.Size(), opts)
	if err != nil || !l.onDemand {
		f.Close()
	} else {
		l.lazy = append(l.lazy, lazyIndex{s.path, c, f})
	}
	if err != nil || s.files == "" {
		return c, indexNamed(s.path, err)
	}
	// The files must be those of the index: others may have different data for the same bundles.
	hash, err := graph.HashSource(ctx, opts.Source)
	if err != nil {
		return nil, &catalogError{s.files, err}
	}
	if hash != c.SourceHash() {
		return nil, fmt.Errorf("is stale or was built from files other than those in %s; rebuild it: olmkit index %s -o %s", s.files, s.files, s.path)
	}
	return c, nil
}

// keepsAll reports whether to keep the whole catalog at a path in memory, because it cannot be
// read again.
func (l *loader) keepsAll(path string) bool {
	if !l.whole || path == samplePath {
		return false
	}
	info, err := os.Stat(path)
	return path == stdinPath || err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// note prints a note if a catalog has problems, because the answer may be incomplete.
func (l *loader) note(path string, c *graph.Catalog) {
	if n := len(c.Findings().Errors()); n > 0 {
		visible.Fprintf(l.stderr, "note: catalog %s has %s; \"olmkit validate\" shows details\n", visible.Block(display(path)), phrase.Count(n, "problem"))
	}
}

// noteTemplates warns about templates in a catalog, whose packages and bundles are missing
// in the answer.
func (l *loader) noteTemplates(path string, c *graph.Catalog) {
	n := 0
	for _, d := range c.Findings() {
		if d.Code != codes.Template || l.silent {
			continue
		}
		if n++; n <= maxFindings {
			visible.Fprintf(l.stderr, "warning: catalog %s: %v\n", visible.Block(display(path)), d)
		}
	}
	if n > maxFindings {
		visible.Fprintf(l.stderr, "warning: catalog %s: %d more templates; \"olmkit validate\" lists them all\n", visible.Block(display(path)), n-maxFindings)
	}
}

// noteUnseen prints a note if the namespace of a problem does not see a catalog.
func (l *loader) noteUnseen(p *resolver.Problem, s source) {
	if why := p.WhyUnseen(resolver.CatalogID{Name: s.name, Namespace: s.namespace}); why != "" {
		visible.Fprintf(l.stderr, "note: %s\n", why)
	}
}

// keep loads the blobs of the catalog at a path for a command that writes them. Links
// within a directory do not leave it.
func (l *loader) keep(ctx context.Context, path string) (c *fbc.Catalog, err error) {
	err = l.open(ctx, source{path: path}, func(fsys fs.FS, r io.Reader, name string, opts *fbc.LoadOptions) error {
		opts.KeepAll, opts.RefuseTemplates = true, true
		if fsys != nil {
			c, err = fbc.Load(ctx, fsys, opts)
		} else {
			c, err = fbc.LoadReader(ctx, r, name, opts)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, d := range c.Findings {
		if d.Code == codes.Leftover { // the output may be incomplete
			visible.Fprintf(l.stderr, "warning: %s: %v\n", visible.Line(filepath.Join(rootOf(path), d.Pos.File)), d.Err)
		}
	}
	return c, nil
}

// check loads and validates the catalog at a path. The returned files are nil if the catalog
// comes from a stream, which cannot be read again.
func (l *loader) check(ctx context.Context, path string, keepAll bool) (c *fbc.Catalog, found fbc.Diagnostics, files fs.FS, err error) {
	err = l.open(ctx, source{path: path}, func(fsys fs.FS, r io.Reader, name string, opts *fbc.LoadOptions) error {
		files = fsys
		opts.KeepAll = keepAll
		if fsys != nil {
			c, found, err = fbc.Check(ctx, fsys, opts, nil)
		} else {
			c, found, err = fbc.CheckReader(ctx, r, name, opts, nil)
		}
		return err
	})
	return c, found, files, err
}

// open calls use with the content of a source: a file system, or a stream and its name.
// Links within a directory do not leave it, and streams end with the context.
func (l *loader) open(ctx context.Context, s source, use func(fs.FS, io.Reader, string, *fbc.LoadOptions) error) error {
	opts := &fbc.LoadOptions{Limits: l.limits.fbc()}
	if p := newProgress(l.stderr, "loading "+display(s.path)); p != nil {
		opts.Progress = p.update
		defer p.done()
	}
	switch s.path {
	case stdinPath:
		in := bufio.NewReader(disk.NewStream(ctx, l.stdin))
		head, err := in.Peek(8)
		if len(head) == 0 && err == io.EOF {
			return errNoInput
		}
		if graph.IsIndex(head) {
			return errIndex
		}
		return use(nil, in, "stdin", opts)
	case samplePath:
		return use(sample.Catalog(), nil, "", opts)
	}
	if s.root == nil {
		if ref, ok := referenceOf(s.path); ok {
			files, err := l.fetch(ctx, ref)
			if err != nil {
				return err
			}
			return use(files.files, nil, "", opts)
		}
		l.noteReference(s.path)
	}
	root, name := s.place()
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		dir, err := root.Sub(name)
		if err != nil {
			return err
		}
		return use(dir.FS(), nil, "", opts)
	case isIndex(root, name):
		return errIndex
	case l.isTarFile(root, name):
		return errTar
	case info.Mode().IsRegular() || root != nil: // opening it fails if it is not a file
		return use(oneFile{filepath.Base(name), root, name}, nil, "", opts)
	}
	in, err := disk.OpenStream(ctx, name) // a pipe, say
	if err != nil {
		return err
	}
	defer in.Close()
	return use(nil, in, filepath.Base(name), opts)
}

// errNoInput is the error for an empty standard input. An empty file is a catalog without
// blobs, but an empty pipe means that the command before it failed.
var errNoInput = errors.New("no input; pipe a catalog in, or name its directory")
