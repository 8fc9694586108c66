package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/platform"
)

// TestLeastNeeds compares plans with all that a person could do, in small generated worlds (G5): the plan of each operator
// costs the least, every step is what happens if a person acts as it states, nothing that blocks is missed, and a plan
// without needs is one in which nobody has to act.
func TestLeastNeeds(t *testing.T) {
	asked, alone, blocked, behind := 0, 0, 0, 0
	for seed := range uint64(700) {
		w := randomWorld(rand.New(rand.NewPCG(seed, 3)))
		got := plan(t, w.Problem)
		execute(t, w, got)
		reached := w.last()
		for i := range w.Installed {
			o := &w.Installed[i]
			single := w.Problem
			single.Installed = []platform.Operator{*o}
			only := plan(t, single)
			best := w.best(o)
			if have := w.price(t, o, only); slices.Compare(have, best) != 0 {
				t.Errorf("the plan of %s costs %v, but %v is possible\n%s", o.Package, have, best, only)
			}
			end := w.level(only.Reached)
			reached = min(reached, end)
			isFatal := func(b platform.Blocker) bool { return b.Fatal && b.Package == o.Package && b.Platform == only.Reached }
			if end < w.last() && !slices.ContainsFunc(got.Blockers, isFatal) {
				t.Errorf("that %s blocks on %s is missing", o.Package, only.Reached)
			}
			for _, b := range only.LeftBehind() {
				if !slices.ContainsFunc(got.Blockers, func(x platform.Blocker) bool {
					return x.Package == b.Package && x.Platform == b.Platform && x.Kind == b.Kind
				}) {
					t.Errorf("that %s is left behind on %s is missing", o.Package, b.Platform)
				}
			}
		}
		if want := w.at(reached).String(); got.Reached != want {
			t.Errorf("the plan reaches %s, but %s is possible", got.Reached, want)
		}
		negative := !got.OK || len(got.Needs) > 0 || len(got.LeftBehind()) > 0
		if want := !w.untouched(t, got); negative != want {
			t.Errorf("the exit code says that something needs a person: %t, want %t", negative, want)
		}
		if t.Failed() {
			text := ""
			for _, c := range w.Catalogs {
				text += c.Platform + "\n" + *c.FBC
			}
			t.Fatalf("seed %d\n%s%+v\n%s", seed, text, w.Installed, got)
		}
		switch {
		case !got.OK:
			blocked++
		case len(got.LeftBehind()) > 0:
			behind++
		case negative:
			asked++
		default:
			alone++
		}
	}
	t.Logf("%d plans need a person, %d nobody, %d are blocked, and %d leave an operator behind", asked, alone, blocked, behind)
}

// A world is a problem whose operators have versions 1.0.0 to 5.0.0.
type world struct {
	platform.Problem
	max, min map[string]int          // minor versions of the platform, by bundle
	fits     map[string]map[int]bool // the minor versions of the platform in lifecycle data, by bundle
	known    map[lookup]*graph.Upgrades
}

const firstMinor = 16

func (w *world) last() int { return len(w.Catalogs) - 1 }
func (w *world) at(k int) property.MinorVersion {
	return property.MinorVersion{Major: 4, Minor: uint64(firstMinor + k)}
}
func (w *world) level(version string) int {
	v, _ := property.ParseMinorVersion(version)
	return int(v.Minor) - firstMinor
}

// randomWorld returns two or three versions of the platform and one to three operators.
func randomWorld(r *rand.Rand) *world {
	w := &world{max: map[string]int{}, min: map[string]int{}, fits: map[string]map[int]bool{}, known: map[lookup]*graph.Upgrades{}}
	levels := 2 + r.IntN(2)
	w.From, w.To = "4.16", w.at(levels-1).String()
	if r.IntN(5) == 0 {
		w.Strategy = platform.Minimal
	}
	defer func() {
		if n := len(w.Installed); r.IntN(3) == 0 { // a second operator of the last package
			o := w.Installed[n-1]
			o.Objects = []platform.Object{{Namespace: "two", Name: o.Package}}
			o.Channel = []string{"a", "b", "c"}[r.IntN(3)]
			o.Manual = r.IntN(2) == 0
			o.Reading = []graph.Reading{graph.Classic, graph.V1}[r.IntN(2)]
			w.Installed = append(w.Installed, o)
		}
	}()
	texts := make([]strings.Builder, levels)
	extra := make([]string, levels)
	for _, pkg := range []string{"p", "q", "r"}[:1+r.IntN(3)] {
		o := platform.Operator{Name: pkg + ".v1.0.0", Version: "1.0.0", Package: pkg, Channel: "a", Manual: r.IntN(4) == 0}
		if r.IntN(3) == 0 {
			o.Reading = graph.V1
		}
		w.Installed = append(w.Installed, o)
		props := map[int]string{}
		lives := ""
		hasLives := r.IntN(3) == 0
		for n := 1; n <= 5; n++ {
			name := fmt.Sprintf("%s.v%d.0.0", pkg, n)
			if r.IntN(3) == 0 {
				w.max[name] = firstMinor + r.IntN(3)
				props[n] += fmt.Sprintf(" max=4.%d", w.max[name])
			}
			if n > 1 && r.IntN(8) == 0 {
				w.min[name] = firstMinor + r.IntN(3)
				props[n] += fmt.Sprintf(" kube=1.%d.0", w.min[name]+13)
			}
			if hasLives && r.IntN(4) > 0 {
				w.fits[name] = map[int]bool{}
				var list []string
				for m := firstMinor; m < firstMinor+levels; m++ {
					if r.IntN(3) > 0 {
						w.fits[name][m] = true
						list = append(list, fmt.Sprintf(`"4.%d"`, m))
					}
				}
				if list == nil {
					list, w.fits[name][10] = []string{`"4.10"`}, true
				}
				lives += fmt.Sprintf(`,{"name":"%d.0","phases":[],"platformCompatibility":[{"name":"openshift","versions":[%s]}]}`, n, strings.Join(list, ","))
			}
		}
		for k := range levels {
			if k > 0 && r.IntN(12) == 0 {
				continue // the package is missing
			}
			if lives != "" {
				extra[k] += `{"schema":"io.openshift.operators.lifecycles.v1alpha1","package":"` + pkg + `","versions":[` + lives[1:] + "]}\n"
			}
			any := false
			for _, ch := range []string{"a", "b", "c"} {
				if (k > 0 || ch != "a") && r.IntN(4) == 0 {
					continue
				}
				var entries []string
				last := 0
				for n := 1; n <= 5; n++ {
					if r.IntN(2) == 0 && (n > 1 || k > 0 || ch != "a") {
						continue
					}
					e := fmt.Sprintf("%d.0.0%s", n, props[n])
					switch {
					case last > 0:
						e += fmt.Sprintf(" <%d.0.0", last)
					case n > 1 && r.IntN(2) == 0:
						e += fmt.Sprintf(" <%d.0.0", 1+r.IntN(n-1))
					case n < 5 && r.IntN(8) == 0:
						e += fmt.Sprintf(" <%d.0.0", n+1+r.IntN(5-n)) // a newer one
					}
					last = n
					entries = append(entries, e)
				}
				if entries != nil {
					any = true
					fmt.Fprintf(&texts[k], "%s/%s: %s\n", pkg, ch, strings.Join(entries, ", "))
				}
			}
			if !any {
				fmt.Fprintf(&texts[k], "%s/a: 1.0.0%s\n", pkg, props[1])
			}
		}
	}
	for k := range levels {
		text := *catalog(texts[k].String()) + extra[k]
		w.Catalogs = append(w.Catalogs, platform.Catalog{Platform: w.at(k).String(), FBC: &text})
	}
	return w
}
