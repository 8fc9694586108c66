package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	fbcreport "github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/property"
)

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
	switch {
	case *i.format == format(fbcreport.SARIF) && catalog == stdinPath:
		return usagef("-o sarif needs a catalog that can be read again; name files instead of standard input")
	case i.path:
		return usagef("--path needs CATALOG PACKAGE OLD NEW")
	case isBundleDir(catalog):
		return usagef("directory %s has one bundle; name the bundles before and after an upgrade, or a catalog", display(catalog))
	}
	index, err := newLoader(i.env).wholeIndex(ctx, catalog)
	if err != nil {
		return err
	}
	names := namesOf([]*graph.Catalog{index})
	if len(i.only) > 0 {
		for _, name := range i.only {
			if !slices.Contains(names, name) {
				return noPackage(catalog, name, names)
			}
		}
		names = slices.Compact(slices.Sorted(slices.Values(i.only)))
	}
	if i.store, err = i.verdictStore(); err != nil {
		return err
	}
	t := &impactTable{OLM: i.system, named: len(i.only) > 0}
	if t.Packages, err = i.judgeAll(ctx, index, names); err != nil {
		return err
	}
	all, missing := t.counts()
	for _, r := range t.Packages {
		for _, edge := range r.Edges {
			if edge.Verdict.AtLeast(i.verdict) {
				i.verdict = edge.Verdict
			}
		}
	}
	switch *i.format {
	case formatMarkdown:
		err = t.markdown(i.stdout)
	case format(fbcreport.SARIF):
		err = i.findings(ctx, catalog, t)
	default:
		err = (&printer{w: i.stdout, format: *i.format}).print(t)
	}
	if err != nil {
		return err
	}
	if missing > 0 && missing == all && i.failOn != "never" {
		return errors.New("--fail-on checked nothing, because no upgrade was compared (-o json has the reasons); name the directory of the bundles with --bundles, or add --pull to read images")
	}
	return i.end(ctx)
}

// judgeAll judges all upgrades of packages, in parallel.
func (i *impactRun) judgeAll(ctx context.Context, index *graph.Catalog, names []string) ([]packageImpact, error) {
	rows := make([]packageImpact, len(names))
	return rows, i.eachPackage(ctx, "judging upgrades of packages", names, func(ctx context.Context, n int, name string) error {
		p, ok := index.Package(name)
		if !ok {
			return nil
		}
		r, err := i.judge(ctx, p, i.bundlesOf(i.pull, p))
		if err == nil {
			rows[n] = *r
		}
		return err
	})
}

// eachPackage calls do for each package, in parallel, and shows the progress. Do gets the
// index of the name.
func (i *impactRun) eachPackage(ctx context.Context, label string, names []string, do func(ctx context.Context, n int, name string) error) error {
	done := func() {}
	if bar := newProgress(i.stderr, label); bar != nil {
		defer bar.done()
		var mu sync.Mutex
		n := 0
		done = func() {
			mu.Lock()
			defer mu.Unlock()
			n++
			bar.update(fbc.Progress{Bytes: int64(n), BytesTotal: int64(len(names))})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, name := range names {
		group.Go(func() error {
			err := do(ctx, n, name)
			done()
			return err
		})
	}
	return group.Wait()
}

// An impactTable has the verdicts on the upgrades of a catalog.
type impactTable struct {
	// OLM is the system that installs the bundles: v1 or classic.
	OLM string `json:"olm"`
	// Packages are sorted by name.
	Packages []packageImpact `json:"packages"`

	named bool // the packages were named, so the text lists all upgrades that are not safe
}

// A packageImpact has the verdicts on the upgrades of a package.
type packageImpact struct {
	Package string `json:"package"`
	Safe    int    `json:"safe"`
	Look    int    `json:"look"`
	Breaks  int    `json:"breaks"`
	// Unavailable is the number of upgrades that were not compared, because the manifests of
	// a bundle could not be read.
	Unavailable int `json:"unavailable"`
	// Edges are all upgrades of the package.
	Edges []edgeImpact `json:"edges"`

	steps []graph.Step // of Edges
}

// judge compares the bundles of all upgrades of a package.
func (i *impactRun) judge(ctx context.Context, p graph.Package, bundles *packageBundles) (*packageImpact, error) {
	reading := graph.V1
	if i.opts.Classic {
		reading = graph.Classic
	}
	out := &packageImpact{Package: p.Name(), Edges: []edgeImpact{}}
	u := p.Upgrades(reading, nil)
	if u.Err() != nil {
		return nil, u.Err()
	}
	steps := slices.Collect(u.AllSteps())
	out.steps = steps
	last := map[string]int{} // the last step of a bundle
	for n, step := range steps {
		last[step.From.Name], last[step.To.Name] = n, n
	}
	judge := i.judgeOf(bundles)
	judge.stored = i.store.of(p.Name())
	complete := false
	defer func() { judge.stored.write(complete) }()
	for n, step := range steps {
		edge, err := judge.of(ctx, step.From.Name, step.To.Name)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{step.From.Name, step.To.Name} {
			if !i.keep && last[name] == n {
				delete(bundles.read, name)
			}
		}
		switch {
		case edge.Error != "":
			out.Unavailable++
		case edge.Verdict == impact.Breaks:
			out.Breaks++
		case edge.Verdict == impact.Look:
			out.Look++
		default:
			out.Safe++
		}
		out.Edges = append(out.Edges, *edge)
	}
	complete = true
	return out, nil
}

func (t *impactTable) text(w io.Writer) error {
	visible.Fprintf(w, "Upgrades with %s:\n\n", olmTitle(t.OLM))
	out := &table{header: []string{"PACKAGE", "UPGRADES", "SAFE", "LOOK", "BREAKS", "NOT COMPARED"}}
	for _, p := range t.Packages {
		n := []string{p.Package}
		for _, count := range []int{len(p.Edges), p.Safe, p.Look, p.Breaks, p.Unavailable} {
			n = append(n, strconv.Itoa(count))
		}
		out.add(n...)
	}
	if err := out.text(w); err != nil {
		return err
	}
	return t.unsafe(w)
}

// mostUnsafe is the number of upgrades that the text for a whole catalog lists.
const mostUnsafe = 30

// unsafe prints the upgrades that break something and, for named packages, those to read before.
func (t *impactTable) unsafe(w io.Writer) error {
	out := &table{header: []string{"PACKAGE", "FROM", "TO", "WHY"}}
	more, look := 0, 0
	var used []fbc.Code
	for _, verdict := range []impact.Verdict{impact.Breaks, impact.Look} {
		for _, p := range t.Packages {
			for _, e := range p.Edges {
				switch {
				case e.Error != "" || e.Verdict != verdict:
				case verdict == impact.Look && !t.named:
					look++
				case len(out.rows) == mostUnsafe && !t.named:
					more++
				default:
					out.add(p.Package, e.From, e.To, e.verdictText())
					used = append(used, e.coded()...)
				}
			}
		}
	}
	if len(out.rows) > 0 {
		visible.Fprintf(w, "\n")
		if err := out.text(w); err != nil {
			return err
		}
	}
	if more > 0 {
		visible.Fprintf(w, "and %s that break something; --package PACKAGE lists those of a package, -o json all\n", phrase.Count(more, "more upgrade"))
	}
	if len(out.rows) > 0 {
		slices.Sort(used)
		titles := codeTitles()
		visible.Fprintf(w, "\n")
		for _, code := range slices.Compact(used) {
			visible.Fprintf(w, "%s: %s\n", code, titles[code])
		}
		visible.Fprintf(w, "\nTo see what an upgrade changes: olmkit impact CATALOG PACKAGE FROM TO\n")
	}
	if look > 0 {
		visible.Fprintf(w, "\nTo see %s with the verdict look, add --package PACKAGE.\n", phrase.Count(look, "upgrade"))
	}
	if _, missing := t.counts(); missing > 0 {
		visible.Fprintf(w, "\n%s not compared; -o json has the reasons. --bundles DIR and --pull read manifests that the catalog lacks.\n", phrase.Count(missing, "upgrade"))
	}
	return nil
}
