package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
)

// A diffData is the difference between a catalog and an older one.
type diffData struct {
	Old             string   `json:"old"`
	New             string   `json:"new"`
	PackagesAdded   []string `json:"packagesAdded,omitempty"`
	PackagesRemoved []string `json:"packagesRemoved,omitempty"`
	APIsRemoved     []string `json:"apisRemoved,omitempty"`
	// Packages are those in both catalogs that differ.
	Packages []diffPkg `json:"packages"`
	// LostClassic and LostV1 count the versions that lost their path to a head.
	LostClassic int `json:"lostClassic"`
	LostV1      int `json:"lostV1"`
}

// A diffPkg is the difference of a package: in all readings, and in each one.
type diffPkg struct {
	Name    string     `json:"name"`
	Facts   []diffFact `json:"facts,omitempty"`
	Classic []diffFact `json:"classic,omitempty"`
	V1      []diffFact `json:"v1,omitempty"`
}

// A diffFact is a kind of change, with the affected names.
type diffFact struct {
	// Kind is "breaks", "changes" or "adds".
	Kind  string   `json:"kind"`
	Title string   `json:"title"`
	Items []string `json:"items,omitempty"`
}

const (
	factBreaks  = "breaks"
	factChanges = "changes"
	factAdds    = "adds"
)

// newDiff compares two catalogs in both readings.
func newDiff(ctx context.Context, old, now Catalog) (*diffData, error) {
	classic, err := graph.Compare(ctx, old.Graph, now.Graph, graph.Classic)
	if err != nil {
		return nil, err
	}
	v1, err := graph.Compare(ctx, old.Graph, now.Graph, graph.V1)
	if err != nil {
		return nil, err
	}
	d := &diffData{
		Old: old.Name, New: now.Name, PackagesAdded: classic.PackagesAdded, PackagesRemoved: classic.PackagesRemoved,
		APIsRemoved: texts(classic.APIsRemoved), Packages: []diffPkg{}, LostClassic: classic.Lost, LostV1: v1.Lost,
	}
	for _, p := range classic.Packages {
		d.Packages = append(d.Packages, diffPkg{Name: p.Name, Facts: facts(&p), Classic: rerouted(&p, graph.Classic)})
	}
	for _, p := range v1.Packages {
		at := slices.IndexFunc(d.Packages, func(x diffPkg) bool { return x.Name == p.Name })
		if at < 0 {
			at = len(d.Packages)
			d.Packages = append(d.Packages, diffPkg{Name: p.Name, Facts: facts(&p)})
		}
		d.Packages[at].V1 = rerouted(&p, graph.V1)
	}
	// Report a removed package once, by its name.
	d.Packages = slices.DeleteFunc(d.Packages, func(p diffPkg) bool { return slices.Contains(d.PackagesRemoved, p.Name) })
	slices.SortStableFunc(d.Packages, func(a, b diffPkg) int { return cmp.Compare(a.Name, b.Name) })
	return d, nil
}

// facts returns the changes to a package that do not depend on the reading, breaking ones first.
func facts(p *graph.PackageDiff) []diffFact {
	var out []diffFact
	add := func(kind, title string, items []string) {
		if len(items) > 0 {
			out = append(out, diffFact{kind, title, items})
		}
	}
	add(factBreaks, "channels removed", p.ChannelsRemoved)
	add(factBreaks, "bundles removed", texts(p.BundlesRemoved))
	add(factBreaks, "APIs removed", texts(p.APIsRemoved))
	var changed []string
	for _, c := range p.BundlesChanged {
		changed = append(changed, c.Name+": "+c.String())
	}
	add(factBreaks, "bundles changed under the same name", changed)
	if c := p.DefaultChannel; c != nil {
		add(factChanges, "default channel", []string{c.New + ", was " + c.Old})
	}
	var deprecations []string
	for _, c := range p.Deprecations {
		what := strings.TrimSpace(c.Scope + " " + c.Name)
		if c.New == "" {
			deprecations = append(deprecations, what+": no longer deprecated")
		} else {
			deprecations = append(deprecations, what+": deprecated: "+c.New)
		}
	}
	add(factChanges, "deprecations", deprecations)
	add(factAdds, "channels added", p.ChannelsAdded)
	add(factAdds, "bundles added", texts(p.BundlesAdded))
	return out
}

// rerouted returns the changes for installed versions of the channels of a package, and what to do for those that lose
// their path.
func rerouted(p *graph.PackageDiff, reading graph.Reading) []diffFact {
	var out []diffFact
	var advice []string
	for _, x := range p.Precautions {
		advice = append(advice, fmt.Sprintf("%s in channel %s: %s", x.From, x.Channel, prose.Precaution(&x, reading)))
	}
	if len(advice) > 0 {
		out = append(out, diffFact{factBreaks, "what to do for versions that lose their path", advice})
	}
	for _, c := range p.Channels {
		add := func(kind, title string, items []string) {
			if len(items) > 0 {
				out = append(out, diffFact{kind, "channel " + c.Name + ": " + title, items})
			}
		}
		add(factBreaks, "stranded now, with no path to the head", texts(c.Lost))
		add(factBreaks, "newest patch release no longer one step away", texts(c.Behind))
		if h := c.Head; h != nil {
			add(factChanges, "head", []string{cmp.Or(h.New, "none") + ", was " + cmp.Or(h.Old, "none")})
		}
		var moved []string
		for _, r := range c.Changed {
			moved = append(moved, fmt.Sprintf("%s upgrades to %s, was %s", r.From, cmp.Or(r.New.String(), "none"), r.Old))
		}
		add(factChanges, "different next step", moved)
		var ranges []string
		for _, r := range c.Ranges {
			ranges = append(ranges, fmt.Sprintf("%s covers %s instead of %s", r.Name, cmp.Or(r.New, "none"), cmp.Or(r.Old, "none")))
		}
		add(factChanges, "skipRange", ranges)
		add(factAdds, "has a path to the head now", texts(c.Gained))
	}
	return out
}

func texts[T fmt.Stringer](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x.String()
	}
	return out
}

// addedBundles returns the names of bundles that are only in the newer catalog, by package.
func addedBundles(old, now *graph.Catalog) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for p := range now.Packages() {
		names := map[string]bool{}
		before, _ := old.Package(p.Name())
		for x := range p.Bundles() {
			had := false
			if before != (graph.Package{}) {
				_, had = before.Bundle(x.Name())
			}
			if !had {
				names[x.Name()] = true
			}
		}
		out[p.Name()] = names
	}
	return out
}
