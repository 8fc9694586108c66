package subset_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/subset"
)

func parse(t testing.TB, text string) *graph.Catalog {
	t.Helper()
	c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "catalog.json", options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    subset.Request
		want string // package/channel[default]: entries; then warnings
	}{
		{"only the head", subset.Request{Packages: []subset.Want{{Package: "db"}}}, "db/stable*: 1.4.0"},
		{"a range, joined to the head", subset.Request{Packages: []subset.Want{{Package: "db", Versions: "1.3.x"}}}, "db/stable*: 1.3.0 1.4.0"},
		{"a skipped entry stays skipped", subset.Request{Packages: []subset.Want{{Package: "db", Versions: "1.2.0"}}}, "db/stable*: 1.2.0 1.2.1 1.3.0 1.4.0"},
		{"installed: the path to the head", subset.Request{Installed: []subset.Installed{{Package: "db", Name: "db.v1.2.0"}}}, "db/stable*: 1.2.1 1.3.0 1.4.0"},
		{"installed in one step", subset.Request{Installed: []subset.Installed{{Package: "db", Name: "db.v1.0.0", Channel: "fast"}}},
			"cert/stable*: 1.1.0; db/fast*: 2.0.0"},
		{"dependencies left out", subset.Request{NoDependencies: true, Packages: []subset.Want{{Package: "db", Channels: []string{"fast"}}}}, "db/fast*: 2.0.0"},
		{"v1: any channel", subset.Request{Reading: graph.V1, NoDependencies: true, Installed: []subset.Installed{{Package: "db", Name: "db.v1.0.0"}}}, "db/fast*: 2.0.0"},
		{"an unknown version", subset.Request{Installed: []subset.Installed{{Package: "db", Name: "db.v0.1.0", Version: "0.1.0"}}},
			"db/stable*: 1.4.0; package db: db.v0.1.0 has no upgrade path to the head in the catalog"},
		{"an empty range", subset.Request{Packages: []subset.Want{{Package: "db", Versions: "9.x"}}},
			"db/stable*: 1.4.0; package db has no version in range \"9.x\" in the requested channels; only heads are kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			full := parse(t, small)
			s, err := subset.Cut(context.Background(), full, tt.r)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, p := range s.Packages {
				for _, ch := range p.Channels {
					mark := ""
					if ch.Name == p.DefaultChannel {
						mark = "*"
					}
					parts = append(parts, p.Name+"/"+ch.Name+mark+": "+strings.ReplaceAll(strings.Join(ch.Entries, " "), p.Name+".v", ""))
				}
			}
			if got := strings.Join(append(parts, s.Warnings...), "; "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			check(t, full, s, tt.r)
		})
	}
}

func TestWrite(t *testing.T) {
	// Blobs are kept whole, but entries and deprecations of bundles that are not kept are removed.
	s, err := subset.Cut(context.Background(), parse(t, small), subset.Request{Packages: []subset.Want{{Package: "db", Channels: []string{"fast"}}}, NoDependencies: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(context.Background(), &b, &fbc.WriteOptions{Syntax: fbc.JSON}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "fast.json", b.String())
}
func TestRequestErrors(t *testing.T) {
	c := parse(t, small)
	for _, tt := range []struct {
		r    subset.Request
		want string
	}{
		{subset.Request{Packages: []subset.Want{{Package: "bd"}}}, `problem: /packages/0/package: the catalog has no package "bd"`},
		{subset.Request{Packages: []subset.Want{{Package: "db", Channels: []string{"beta"}}}}, `problem: /packages/0/channels: package "db" has no channel "beta", only fast, stable`},
		{subset.Request{Packages: []subset.Want{{Package: "db", Versions: "==1"}}}, `problem: /packages/0/versions: invalid version range "==1": use a single = for equality: write "=1"`},
		{subset.Request{Installed: []subset.Installed{{Package: "db", Name: "x", Version: "1"}}}, `problem: /installed/0/version: "1" is not a semantic version: want three numbers, such as 1.2.3 or 1.2.3-rc.1`},
	} {
		if _, err := subset.Cut(context.Background(), c, tt.r); err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// check loads a part again and compares it with the whole catalog. The part must be valid, every kept version must
// have the same upgrades, and every requirement that the whole catalog satisfies must be satisfied.
func check(t *testing.T, full *graph.Catalog, s *subset.Subset, r subset.Request) {
	t.Helper()
	ctx := context.Background()
	var b bytes.Buffer
	if err := s.Write(ctx, &b, nil); err != nil {
		t.Fatal(err)
	}
	part := parse(t, b.String())
	if len(full.Findings()) == 0 && len(part.Findings()) > 0 {
		t.Errorf("the part has problems: %v", part.Findings())
	}
	for p := range part.Packages() {
		whole, _ := full.Package(p.Name())
		if _, ok := p.DefaultChannel(); !ok {
			t.Errorf("package %s has no default channel", p.Name())
		}
		for ch := range p.Channels() {
			o := &graph.UpgradeOptions{Channels: []string{ch.Name()}}
			was, _ := whole.Channel(ch.Name())
			if was.Err() == nil && ch.Err() != nil {
				t.Errorf("package %s: channel %s is invalid: %v", p.Name(), ch.Name(), ch.Err())
			}
			u, v := whole.Upgrades(r.Reading, o), p.Upgrades(r.Reading, o)
			for n := range v.Nodes() {
				if v.IsVirtual(n) {
					continue
				}
				if a, b := ways(u, n), ways(v, n); a != b {
					t.Errorf("package %s channel %s: got %s\nwant %s", p.Name(), ch.Name(), b, a)
				}
			}
		}
		for x := range p.Bundles() {
			if len(slices.Collect(x.Requirements())) == 0 || r.NoDependencies {
				continue
			}
			before, _ := whole.Bundle(x.Name())
			if a, b := closure(t, full, before), closure(t, part, x); a != b {
				t.Errorf("package %s: %s has requirements %s in the part, %s in the whole", p.Name(), x.Name(), b, a)
			}
		}
	}
	for _, x := range r.Installed {
		p, ok := part.Package(x.Package)
		if !ok {
			t.Errorf("no package %s", x.Package)
			continue
		}
		whole, _ := full.Package(x.Package)
		n := graph.Node{Name: x.Name, Version: x.Version}
		if b, ok := whole.Bundle(x.Name); ok {
			n = b.Node()
		}
		o := &graph.UpgradeOptions{Installed: []graph.Node{n}}
		if x.Channel != "" {
			o.Channels = []string{x.Channel}
		} else if r.Reading == graph.Classic {
			o.Channels = []string{whole.DefaultChannelName()}
		}
		if _, has := whole.Bundle(x.Name); has && r.KeepInstalled {
			if _, kept := p.Bundle(x.Name); !kept {
				t.Errorf("package %s: the installed %s is not kept", x.Package, x.Name)
			}
		}
		if a, b := ways(whole.Upgrades(r.Reading, o), n), ways(p.Upgrades(r.Reading, o), n); a != b {
			t.Errorf("package %s: installed: got %s\nwant %s", x.Package, b, a)
		}
	}
}

func ways(u *graph.Upgrades, n graph.Node) string {
	s := n.Name
	for _, x := range u.Walk(n).Steps {
		s += " -> " + x.To.Name
	}
	return s
}

func closure(t *testing.T, c *graph.Catalog, b graph.Bundle) string {
	got, err := resolver.CheckDependencies(context.Background(), b, nil, []resolver.Catalog{{Name: "catalog", Graph: c}})
	if err != nil {
		t.Fatal(err)
	}
	s := fmt.Sprint(got.Conflict == nil)
	for _, x := range got.Install {
		s += " " + x.Name
	}
	return s
}

// TestReal cuts parts for installed operators from real catalogs and checks each.
func TestReal(t *testing.T) {
	for _, name := range []string{"community", "openshift-v4.19"} {
		t.Run(name, func(t *testing.T) {
			full := realcat.Graph(t, name)
			kept, of, cuts := 0, 0, 0
			for p := range full.Packages() {
				ch, ok := p.DefaultChannel()
				if !ok {
					continue
				}
				entries := slices.Collect(ch.Entries())
				for _, reading := range []graph.Reading{graph.Classic, graph.V1} {
					r := subset.Request{Reading: reading, Installed: []subset.Installed{{Package: p.Name(), Name: entries[len(entries)/2].Name()}}}
					r.KeepInstalled = cuts%3 == 0
					if cuts%5 == 0 {
						if h, ok := ch.Head(); ok {
							if b, ok := h.Bundle(); ok {
								r.Packages = []subset.Want{{Package: p.Name(), Versions: fmt.Sprintf("~%d.%d", b.Version().Major, b.Version().Minor)}}
							}
						}
					}
					s, err := subset.Cut(context.Background(), full, r)
					if err != nil {
						t.Fatal(err)
					}
					check(t, full, s, r)
					kept, of, cuts = kept+s.Bundles, of+p.NumBundles(), cuts+1
				}
			}
			t.Logf("%d cuts, %d of %d bundles of their packages kept", cuts, kept, of)
		})
	}
}
