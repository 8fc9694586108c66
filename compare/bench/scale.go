package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing/fstest"
	"time"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// A point is the cost at one size of catalog, in milliseconds.
type point struct {
	bundles                 int
	load, open, resolve     float64
	first, readAll          float64 // the first answer after opening the index, and opening it whole
	firstBytes              float64 // on the heap after the first answer
	peerLoad, peerResolve   float64 // 0 if the peer did not run
	indexBytes, memoryBytes float64 // per bundle
}

const perPackage = 100

// subscriptions is the number of subscriptions in the problem. The subscriptions are to the first packages, so that
// resolutions reach the same bundles at every size.
const subscriptions = 10

// scale measures generated catalogs of growing size, up to a million bundles.
func (r *run) scale(ctx context.Context) error {
	for _, bundles := range []int{1_000, 10_000, 100_000, 1_000_000} {
		p, err := r.scaled(ctx, bundles)
		if err != nil {
			return err
		}
		r.points = append(r.points, p)
		size := fmt.Sprintf("%d bundles in %d packages", bundles, bundles/perPackage)
		for _, row := range []Row{
			{Case: "load from JSON", Unit: "ms", Ours: p.load, Theirs: p.peerLoad, Peer: "opm"},
			{Case: "open the index on demand", Unit: "ms", Ours: p.open, Note: fmt.Sprintf("%.0f bytes on disk per bundle", p.indexBytes)},
			{Case: "the first answer over it, of 10", Unit: "ms", Ours: p.first, Note: fmt.Sprintf("%.1f MiB on the heap after it", p.firstBytes/(1<<20))},
			{Case: "open all of the index", Unit: "ms", Ours: p.readAll, Note: fmt.Sprintf("%.0f bytes in memory per bundle", p.memoryBytes)},
			{Case: "resolve 10 over the index", Unit: "ms", Ours: p.resolve, Theirs: p.peerResolve, Peer: "OLM"},
		} {
			row.Group, row.Case = "scale", row.Case+", "+size
			if row.Theirs > 0 {
				row.Ratio = row.Theirs / row.Ours
			} else {
				row.Peer = ""
			}
			r.add(row)
		}
	}
	return nil
}

func (r *run) scaled(ctx context.Context, bundles int) (p point, err error) {
	p.bundles = bundles
	pipe, w := io.Pipe()
	go func() { w.CloseWithError(generate.Scale(w, bundles/perPackage, perPackage)) }()
	text, err := io.ReadAll(pipe)
	if err != nil {
		return p, err
	}
	runtime.GC()
	start := time.Now()
	c, err := graph.LoadReader(ctx, bytes.NewReader(text), "scale.json", nil)
	if err != nil {
		return p, err
	}
	p.load = time.Since(start).Seconds() * 1e3
	name := filepath.Join(r.tmp, "scale.index")
	f, err := os.Create(name)
	if err != nil {
		return p, err
	}
	if err := graph.WriteIndex(ctx, f, c, ""); err != nil {
		return p, err
	}
	if err := f.Close(); err != nil {
		return p, err
	}
	c = nil
	info, err := os.Stat(name)
	if err != nil {
		return p, err
	}
	p.indexBytes = float64(info.Size()) / float64(bundles)
	id := resolver.CatalogID{Name: "scale", Namespace: "olm"}
	problem := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: id.Name, Namespace: id.Namespace}}}
	problem.Options.Semantics = resolver.PerBundle
	for i := range subscriptions {
		problem.Subscriptions = append(problem.Subscriptions, resolver.Subscription{
			Name: fmt.Sprint("s", i), Package: fmt.Sprintf("package-%05d", i), Channel: "stable", Catalog: id.Name, CatalogNamespace: id.Namespace,
		})
	}
	var opens, firsts []float64
	var before float64
	for range 5 {
		problem.Catalogs[0].Graph = nil
		before = heap()
		ms, err := once(func() error {
			problem.Catalogs[0].Graph, err = graph.OpenIndex(name, &graph.Options{OnDemand: true})
			return err
		})
		if err != nil {
			return p, err
		}
		opens = append(opens, ms)
		// The first answer reads the packages that it needs.
		start := time.Now()
		if _, err := resolver.Resolve(ctx, problem); err != nil {
			return p, err
		}
		firsts = append(firsts, time.Since(start).Seconds()*1e3)
	}
	p.open, p.first, p.firstBytes = median(opens), median(firsts), heap()-before
	if p.resolve, err = once(func() error { _, err := resolver.Resolve(ctx, problem); return err }); err != nil {
		return p, err
	}
	problem.Catalogs[0].Graph = nil
	before = heap()
	var all []float64
	for range 5 {
		c = nil
		ms, err := once(func() error { c, err = graph.OpenIndex(name, nil); return err })
		if err != nil {
			return p, err
		}
		all = append(all, ms)
	}
	p.readAll, p.memoryBytes = median(all), (heap()-before)/float64(bundles)
	runtime.KeepAlive(c)
	if bundles > 10_000 {
		return p, nil
	}
	fsys := fstest.MapFS{"scale.json": {Data: bytes.Clone(text)}}
	start = time.Now()
	m, err := peer.Load(ctx, fsys)
	if err != nil {
		return p, err
	}
	p.peerLoad = time.Since(start).Seconds() * 1e3
	snapshot, err := peer.Snapshot(ctx, m, id)
	if err != nil {
		return p, err
	}
	q, err := peer.NewProblem(&problem, []*cache.Snapshot{snapshot})
	if err != nil {
		return p, err
	}
	p.peerResolve, err = once(func() error { _, err := q.Resolve(); return err })
	return p, err
}

// heap returns the number of bytes in use on the heap.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// index compares opening a compiled index with loading its catalog.
func (r *run) index(ctx context.Context) error {
	for _, name := range []string{"community", "community-full", "openshift-v4.19"} {
		dir, err := r.catalog(name)
		if err != nil {
			return r.absent("index", err)
		}
		c, err := graph.Load(ctx, os.DirFS(dir), nil)
		if err != nil {
			return err
		}
		file := filepath.Join(r.tmp, name+".index")
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		if err := graph.WriteIndex(ctx, f, c, ""); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		opening := func() error {
			f, err := os.Open(file)
			if err != nil {
				return err
			}
			return f.Close()
		}
		reading := func() error { _, err := os.ReadFile(file); return err }
		for _, x := range []struct {
			what, bound string
			do          job
			opts        graph.Options
		}{{"open the index of ", "opening the file", opening, graph.Options{OnDemand: true}}, {"open all of the index of ", "reading the file", reading, graph.Options{}}} {
			row := Row{Group: "index", Case: x.what + name, Peer: "opm loading", Note: fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), Bound: x.bound, bound: x.do}
			err = r.pair(ctx, row,
				func() error { _, err := graph.OpenIndex(file, &x.opts); return err },
				func() error { _, err := peer.Load(ctx, os.DirFS(dir)); return err })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// batch resolves ten thousand namespaces of ten subscriptions, on all cores and on one.
func (r *run) batch(ctx context.Context) error {
	dir, err := r.catalog("community")
	if err != nil {
		return r.absent("batch", err)
	}
	c, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	requests, err := generate.NewRequests(ctx, resolver.Catalog{Name: "community", Namespace: "olm", Graph: c})
	if err != nil {
		return err
	}
	const namespaces = 10_000
	solved := 0
	all := func() error {
		solved = 0
		problems := func(yield func(resolver.Problem) bool) {
			for seed := range uint64(namespaces) {
				if !yield(requests.Able(seed, subscriptions)) {
					return
				}
			}
		}
		for x := range resolver.ResolveAll(ctx, problems, nil) {
			if x.Err == nil {
				solved++
			}
		}
		return nil
	}
	if err := all(); err != nil {
		return err
	}
	row := Row{Group: "batch", Case: "10,000 namespaces of 10 subscriptions, community, on all cores", Peer: "the same on one core",
		Note: fmt.Sprintf("%d have a solution; the others get an explanation", solved)}
	return r.pair(ctx, row, all, func() error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		return all()
	})
}
