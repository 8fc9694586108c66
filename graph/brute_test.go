package graph_test

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/property"
)

// A brute is a second, slow implementation of the upgrade graph of one channel,
// on blobs instead of the index. It shares no code with package graph.
type brute struct {
	channel  *fbc.Channel
	versions map[string]*semver.Version // by bundle
	dead     map[string]bool            // prohibited or deprecated
	gone     map[string]bool            // deprecated by olm.deprecations
	bad      map[string]bool            // bundles that classic cannot use
	ranges   map[string]semver.Range
}

// edges returns the fields of the entry that allow an upgrade from the
// installed bundle.
func (b *brute) edges(e *fbc.Entry, name string, v *semver.Version) []string {
	var out []string
	if e.Replaces != "" && e.Replaces == name {
		out = append(out, "replaces")
	}
	if slices.Contains(e.Skips, name) {
		out = append(out, "skips")
	}
	if e.SkipRange != "" && v != nil {
		r, ok := b.ranges[e.SkipRange]
		if !ok {
			var err error
			if r, err = semver.ParseRange(e.SkipRange); err != nil {
				r = nil
			}
			b.ranges[e.SkipRange] = r
		}
		if r != nil && r(*v) {
			out = append(out, "skipRange")
		}
	}
	return out
}

func (b *brute) entry(name string) *fbc.Entry {
	for i := range b.channel.Entries {
		if b.channel.Entries[i].Name == name {
			return &b.channel.Entries[i]
		}
	}
	return nil
}

// offered returns the entries that may be chosen, from the head down for
// classic.
func (b *brute) offered(v1 bool) []*fbc.Entry {
	var out []*fbc.Entry
	if v1 {
		for i := range b.channel.Entries {
			if e := &b.channel.Entries[i]; b.versions[e.Name] != nil {
				out = append(out, e)
			}
		}
		return out
	}
	var head *fbc.Entry
	skipped := map[string]bool{}
	for i := range b.channel.Entries {
		e := &b.channel.Entries[i]
		covered := false
		for _, o := range b.channel.Entries {
			if o.Replaces == e.Name || slices.Contains(o.Skips, e.Name) {
				covered = true
			}
			if slices.Contains(o.Skips, e.Name) {
				skipped[e.Name] = true
			}
		}
		if !covered {
			if head != nil {
				return nil
			}
			head = e
		}
	}
	for n := 0; head != nil; n++ {
		if n > len(b.channel.Entries) {
			return nil // a cycle
		}
		if _, ok := b.versions[head.Name]; ok && !skipped[head.Name] && !b.dead[head.Name] && !b.bad[head.Name] {
			out = append(out, head)
		}
		head = b.entry(head.Replaces)
	}
	return out
}

// names returns the names of everything that may be installed.
func (b *brute) names() []string {
	seen := map[string]bool{}
	for _, e := range b.channel.Entries {
		seen[e.Name] = true
		if e.Replaces != "" {
			seen[e.Replaces] = true
		}
		for _, s := range e.Skips {
			seen[s] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// head returns the entry that upgrades lead to.
func (b *brute) head(v1 bool) string {
	list := b.offered(v1)
	if len(list) == 0 {
		return ""
	}
	if !v1 {
		return list[0].Name
	}
	return slices.MinFunc(list, func(x, y *fbc.Entry) int {
		if b.gone[x.Name] != b.gone[y.Name] {
			if b.gone[y.Name] {
				return -1
			}
			return 1
		}
		vx, vy := graph.ReadRelease(*b.versions[x.Name]), graph.ReadRelease(*b.versions[y.Name])
		return cmp.Or(-vx.Compare(vy), strings.Compare(x.Name, y.Name))
	}).Name
}

// reaches reports by depth-first search whether the head can be reached, and
// visits every edge on the way.
func (b *brute) reaches(from, to string, offered []*fbc.Entry, v1 bool, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, e := range offered {
		if seen[e.Name] {
			continue
		}
		if len(b.edges(e, from, b.versions[from])) == 0 && !(v1 && b.same(e.Name, from)) {
			continue
		}
		if b.reaches(e.Name, to, offered, v1, seen) {
			return true
		}
	}
	return false
}

func (b *brute) same(x, y string) bool {
	vx, vy := b.versions[x], b.versions[y]
	return vx != nil && vy != nil && graph.ReadRelease(*vx).Compare(graph.ReadRelease(*vy)) == 0
}

// bruteOf reads the channels of a catalog from its blobs.
func bruteOf(blobs *fbc.Catalog) []*brute {
	type pkg struct {
		versions        map[string]*semver.Version
		dead, gone, bad map[string]bool
	}
	pkgs := map[string]*pkg{}
	of := func(name string) *pkg {
		if pkgs[name] == nil {
			pkgs[name] = &pkg{map[string]*semver.Version{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
		}
		return pkgs[name]
	}
	for _, x := range blobs.Bundles {
		p := of(x.Package)
		p.versions[x.Name] = nil
		for _, q := range x.Properties {
			if q.Type == property.TypeDeprecated {
				p.dead[x.Name] = true
			}
			if q.Type != property.TypePackage {
				continue
			}
			if v, err := property.Parse[property.Package](q); err == nil {
				if v, err := semver.Parse(v.Version); err == nil {
					p.versions[x.Name] = &v
				}
			}
		}
	}
	for _, d := range blobs.Deprecations {
		for _, e := range d.Entries {
			if e.Schema == fbc.SchemaBundle {
				of(d.Package).gone[e.Name] = true
			}
		}
	}
	ranges := map[string]semver.Range{}
	var out []*brute
	for _, ch := range blobs.Channels {
		p := of(ch.Package)
		out = append(out, &brute{ch, p.versions, p.dead, p.gone, p.bad, ranges})
	}
	return out
}

// figures holds the counts of a comparison.
type figures struct {
	channels, nodes, steps, paths, hops, longest, differ int
	stranded, virtual                                    map[graph.Reading]int
}

// compareBrute compares the stranded nodes, the heads, every step and every
// path of each channel with brute force.
func compareBrute(t *testing.T, c *graph.Catalog, blobs *fbc.Catalog) figures {
	f := figures{stranded: map[graph.Reading]int{}, virtual: map[graph.Reading]int{}}
	for _, b := range bruteOf(blobs) {
		f.channels++
		p, _ := c.Package(b.channel.Package)
		for x := range p.Bundles() {
			b.bad[x.Name()] = x.Err() != nil
		}
		opts := &graph.UpgradeOptions{Channels: []string{b.channel.Name}}
		f.differ += len(p.Disagreements(opts))
		for _, r := range []graph.Reading{graph.Classic, graph.V1} {
			where := fmt.Sprintf("package %s channel %s %v", p.Name(), b.channel.Name, r)
			v1 := r == graph.V1
			u := p.Upgrades(r, opts)
			offered, head := b.offered(v1), b.head(v1)
			var heads []string
			for _, h := range u.Heads() {
				heads = append(heads, h.Name)
			}
			if want := []string{head}; head != "" && !slices.Equal(heads, want) || head == "" && heads != nil {
				t.Errorf("%s: heads are %v, brute force has %v", where, heads, want)
			}
			var want []string
			for _, name := range b.names() {
				if head == "" || !b.reaches(name, head, offered, v1, map[string]bool{}) {
					want = append(want, name)
				}
			}
			var got []string
			for n := range u.Stranded() {
				got = append(got, n.Name)
				if u.IsVirtual(n) {
					f.virtual[r]++
				} else {
					f.stranded[r]++
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: stranded are %v, brute force has %v", where, got, want)
			}
			compareSteps(t, where, b, u, offered, v1, &f)
			comparePaths(t, where, b, u, v1, &f)
		}
	}
	return f
}

// compareSteps checks that the steps from each node, and their reasons, are
// those that the blobs allow.
func compareSteps(t *testing.T, where string, b *brute, u *graph.Upgrades, offered []*fbc.Entry, v1 bool, f *figures) {
	for n := range u.Nodes() {
		f.nodes++
		want := map[string]string{}
		for _, e := range offered {
			if v1 && e.Name == n.Name {
				continue
			}
			kinds := b.edges(e, n.Name, b.versions[n.Name])
			if v1 && b.same(e.Name, n.Name) {
				kinds = append(kinds, "version")
			}
			if kinds != nil {
				slices.Sort(kinds)
				want[e.Name] = strings.Join(kinds, " ")
			}
		}
		got := map[string]string{}
		for s := range u.Steps(n) {
			f.steps++
			var kinds []string
			for _, r := range s.Reasons {
				kinds = append(kinds, r.Edge.String())
			}
			slices.Sort(kinds)
			got[s.To.Name] = strings.Join(kinds, " ")
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: steps from %v are %v, brute force has %v", where, n, got, want)
		}
	}
}

// comparePaths checks that every path has the right ends, and that each step is
// allowed by the edge that it names.
func comparePaths(t *testing.T, where string, b *brute, u *graph.Upgrades, v1 bool, f *figures) {
	for from := range u.Nodes() {
		reached := map[graph.Node]bool{}
		for n := range u.Reachable(from) {
			reached[n] = true
		}
		paths := u.Paths(from)
		for to := range u.Nodes() {
			path, ok := paths.Path(to)
			if ok != (reached[to] || from == to) {
				t.Fatalf("%s: path from %v to %v: %v, reachable: %v", where, from, to, ok, reached[to])
			}
			if !ok {
				continue
			}
			f.paths++
			f.hops += len(path)
			f.longest = max(f.longest, len(path))
			at := from.Name
			for _, s := range path {
				e := b.entry(s.To.Name)
				if s.From.Name != at || len(s.Reasons) == 0 || e == nil {
					t.Fatalf("%s: bad step %v in the path from %v to %v", where, s, from, to)
				}
				admits := b.edges(e, at, b.versions[at])
				if v1 && b.same(e.Name, at) {
					admits = append(admits, "version")
				}
				for _, r := range s.Reasons {
					if !slices.Contains(admits, r.Edge.String()) {
						t.Fatalf("%s: no %v leads from %s to %v", where, r.Edge, at, s.To)
					}
				}
				at = s.To.Name
			}
			if at != to.Name {
				t.Fatalf("%s: the path from %v to %v ends at %s", where, from, to, at)
			}
		}
	}
}

// TestGenerated compares random catalogs, valid and invalid, with brute force.
func TestGenerated(t *testing.T) {
	for seed := range uint64(300) {
		text := generate(rand.New(rand.NewPCG(seed, 5)))
		p := parse(t, text)
		blobs, err := fbc.LoadReader(context.Background(), strings.NewReader(lastText), "test.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		compareBrute(t, p.Catalog(), blobs)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
}

// generate returns a random package in the language of parse.
func generate(r *rand.Rand) string {
	var versions []string
	for range 2 + r.IntN(8) {
		v := fmt.Sprintf("%d.%d.%d", r.IntN(3), r.IntN(3), r.IntN(3))
		if r.IntN(6) == 0 {
			v += []string{"-rc.1", "+1", "+2"}[r.IntN(3)]
		}
		if !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	pick := func() string { return versions[r.IntN(len(versions))] }
	text := ""
	for c := range 1 + r.IntN(2) {
		text += fmt.Sprintf("c%d: ", c)
		for i, v := range versions {
			if r.IntN(8) == 0 {
				continue
			}
			if r.IntN(12) == 0 && i > 0 {
				text += "?9." // a name that has no bundle
			}
			text += v
			switch {
			case i > 0 && r.IntN(8) > 0:
				text += " <" + versions[i-1]
			case r.IntN(3) == 0:
				text += " <" + pick()
			}
			for r.IntN(4) == 0 {
				text += " -" + pick()
			}
			switch r.IntN(8) {
			case 0:
				text += " [>=0.1.0 <" + strings.SplitN(v, "+", 2)[0] + "]"
			case 1:
				text += " [<2.0.0]"
			case 2:
				text += " [>=1 <]"
			}
			text += ", "
		}
		text += "\n"
	}
	if r.IntN(3) == 0 {
		text += "deprecated: "
		for _, v := range versions {
			if strings.Contains(text, " "+v+" ") && r.IntN(3) == 0 && !strings.Contains(text, "?") {
				text += v + " "
			}
		}
		text += "\n"
	}
	return text
}

// TestRealCatalogs compares every channel of every real catalog with brute force
// and logs the figures.
func TestRealCatalogs(t *testing.T) {
	if testsize.Of(true, false, false) {
		t.Skip("make test runs it")
	}
	for _, name := range realcat.Names {
		if name == "community-full" {
			continue // the same graph as community
		}
		t.Run(name, func(t *testing.T) {
			var fsys fs.FS = realcat.FS(t, name)
			blobs, err := fbc.Load(context.Background(), fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			c, err := graph.Build(context.Background(), blobs, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := compareBrute(t, c, blobs)
			t.Logf("%d channels, %d nodes and %d steps in both readings, %d paths of %d steps (longest %d), every one checked",
				f.channels, f.nodes, f.steps, f.paths, f.hops, f.longest)
			t.Logf("stranded: classic %d (and %d virtual), v1 %d (and %d virtual); readings disagree on %d nodes",
				f.stranded[graph.Classic], f.virtual[graph.Classic], f.stranded[graph.V1], f.virtual[graph.V1], f.differ)
		})
	}
}
