package subset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// A Subset is a part of a catalog.
type Subset struct {
	// Packages are the packages of the part, sorted by name.
	Packages []Package `json:"packages"`
	// Warnings are problems of the catalog that also affect the part.
	Warnings []string `json:"warnings,omitempty"`
	// Bundles is the number of bundles kept, and Of the number in the catalog.
	Bundles int `json:"bundles"`
	Of      int `json:"of"`

	catalog *graph.Catalog
}

// MarshalJSON returns the part as an object. Its required lists are never null.
func (s Subset) MarshalJSON() ([]byte, error) {
	type plain Subset
	return json.Marshal(plain(s), json.Deterministic(true))
}

// A Package is the kept part of a package.
type Package struct {
	Name string `json:"name"`
	// DefaultChannel is the package's default channel if that is kept, and otherwise the first kept channel by name.
	DefaultChannel string `json:"defaultChannel"`
	// Channels are the kept channels, sorted by name, with the names of their kept entries.
	Channels []Channel `json:"channels,omitzero"`
	// Bundles are the kept bundles, sorted by version, then name.
	Bundles []Bundle `json:"bundles,omitzero"`
}

// A Channel is the kept part of a channel.
type Channel struct {
	Name    string   `json:"name"`
	Entries []string `json:"entries,omitzero"`
}

// A Bundle is a kept bundle, with the first reason for which it is kept.
type Bundle struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Image   string `json:"image,omitempty"`
	Why     string `json:"why"`

	handle graph.Bundle
}

// Cut returns the smallest part of a catalog that serves a request without rewriting an edge. The error is a
// [*document.Error], the context's, a [graph.Upgrades.Err], or a [*graph.IndexError] if part of the catalog cannot be
// read.
func Cut(ctx context.Context, catalog *graph.Catalog, r Request) (*Subset, error) { // G9
	s, err := cutFrom(ctx, catalog, r)
	if catalog.Err() != nil {
		return nil, catalog.Err()
	}
	return s, err
}

func cutFrom(ctx context.Context, catalog *graph.Catalog, r Request) (*Subset, error) {
	c := &cut{
		catalog: catalog, reading: r.Reading, keepInstalled: r.KeepInstalled, kept: map[graph.Entry]bool{}, why: map[graph.Bundle]string{},
		chains: map[graph.Channel]*chain{}, warned: map[string]bool{},
	}
	if err := c.wanted(&r); err != nil {
		return nil, err
	}
	checked := map[graph.Bundle]bool{}
	for len(c.queue) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e := c.queue[0]
		c.queue = c.queue[1:]
		if c.close(e); c.err != nil {
			return nil, c.err
		}
		if b, ok := e.Bundle(); ok && !r.NoDependencies && !checked[b] {
			checked[b] = true
			if err := c.dependencies(ctx, b); err != nil {
				return nil, err
			}
		}
	}
	return c.subset(), nil
}

// A cut is a part of a catalog that is being collected.
type cut struct {
	catalog *graph.Catalog
	reading graph.Reading
	// keepInstalled is the option of the request.
	keepInstalled bool
	kept          map[graph.Entry]bool
	queue         []graph.Entry // kept entries whose dependencies and paths are not kept yet
	why           map[graph.Bundle]string
	chains        map[graph.Channel]*chain
	warned        map[string]bool
	warnings      []string
	err           error
}

func (c *cut) warnf(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !c.warned[s] {
		c.warned[s] = true
		c.warnings = append(c.warnings, s)
	}
}

func (c *cut) keep(e graph.Entry, why string) {
	if b, ok := e.Bundle(); ok && c.why[b] == "" {
		c.why[b] = why
	}
	if !c.kept[e] {
		c.kept[e] = true
		c.queue = append(c.queue, e)
	}
}

// head keeps the head of a channel, or all entries of a channel that is invalid.
func (c *cut) head(ch graph.Channel) {
	if h, ok := ch.Head(); ok && ch.Err() == nil {
		c.keep(h, "is the head of "+ch.Name())
		return
	}
	c.warnf("package %s: channel %s is invalid and is kept whole: %v", ch.Package().Name(), ch.Name(), errors.Unwrap(ch.Err()))
	for e := range ch.Entries() {
		c.keep(e, "channel "+ch.Name()+" is kept whole")
	}
}

// A chain is the structure of a channel that must be preserved.
type chain struct {
	list []graph.Entry       // from the head along replaces
	at   map[graph.Entry]int // place in list
	// The entries that skip or replace each name, sorted from the head.
	skippers, replacers map[string][]graph.Entry
	u                   *graph.Upgrades
	joined              int // how many entries of list are kept, counted from the head
}

func (c *cut) chain(ch graph.Channel) *chain {
	if x := c.chains[ch]; x != nil {
		return x
	}
	x := &chain{at: map[graph.Entry]int{}, skippers: map[string][]graph.Entry{}, replacers: map[string][]graph.Entry{}}
	c.chains[ch] = x
	if h, ok := ch.Head(); ok && ch.Err() == nil {
		for e, ok := h, true; ok; e, ok = ch.Entry(e.Replaces()) {
			if _, seen := x.at[e]; seen {
				break
			}
			x.at[e] = len(x.list)
			x.list = append(x.list, e)
		}
	}
	note := func(e graph.Entry) {
		for s := range e.Skips() {
			x.skippers[s] = append(x.skippers[s], e)
		}
		if e.Replaces() != "" {
			x.replacers[e.Replaces()] = append(x.replacers[e.Replaces()], e)
		}
	}
	for _, e := range x.list {
		note(e)
	}
	for e := range ch.Entries() {
		if _, ok := x.at[e]; !ok {
			note(e)
		}
	}
	x.u = ch.Package().Upgrades(c.reading, &graph.UpgradeOptions{Channels: []string{ch.Name()}})
	c.err = cmp.Or(c.err, x.u.Err())
	return x
}

// close keeps the entries that a kept entry needs: those that connect it to the head of its
// channel, one that skips it, and its upgrade.
func (c *cut) close(e graph.Entry) {
	ch := e.Channel()
	c.head(ch)
	x := c.chain(ch)
	if at, ok := x.at[e]; ok {
		for ; x.joined < at; x.joined++ {
			c.keep(x.list[x.joined], fmt.Sprintf("connects %s to the head of %s", e.Name(), ch.Name()))
		}
	} else if len(x.skippers[e.Name()]) == 0 && len(x.replacers[e.Name()]) > 0 {
		c.keep(x.replacers[e.Name()][0], "replaces "+e.Name())
	}
	if list := x.skippers[e.Name()]; len(list) > 0 && !slices.ContainsFunc(list, func(s graph.Entry) bool { return c.kept[s] }) {
		c.keep(list[0], "skips "+e.Name())
	}
	if n, ok := x.u.Named(e.Name()); ok {
		if s, ok := x.u.Next(n); ok {
			c.keepStep(ch.Package(), s, "follows "+e.Name())
		}
	}
}

// dependencies keeps bundles that satisfy the requirements of a bundle.
func (c *cut) dependencies(ctx context.Context, b graph.Bundle) error {
	if len(slices.Collect(b.Requirements())) == 0 {
		return nil
	}
	got, err := resolver.CheckDependencies(ctx, b, nil, []resolver.Catalog{{Name: "catalog", Graph: c.catalog}})
	if err != nil {
		return err
	}
	if got.Conflict != nil {
		alone := false
		var all []string
		for _, u := range got.Unmet {
			all = append(all, u.Requires)
			if u.Reason != "" {
				alone = true
				c.warnf("package %s: %s requires %s, which the catalog cannot satisfy: %s", b.Package().Name(), b.Name(), u.Requires, u.Reason)
			}
		}
		if !alone {
			c.warnf("package %s: the catalog cannot satisfy all requirements of %s together: %s", b.Package().Name(), b.Name(), strings.Join(all, " and "))
		}
	}
	for _, x := range got.Install {
		p, _ := c.catalog.Package(x.Package)
		ch, _ := p.Channel(x.Channel)
		if e, ok := ch.Entry(x.Name); ok {
			c.keep(e, "is required by "+b.Name())
		}
	}
	return nil
}

// subset returns the part.
func (c *cut) subset() *Subset {
	s := &Subset{Packages: []Package{}, Warnings: c.warnings, Of: c.catalog.Size().Bundles, catalog: c.catalog}
	for p := range c.catalog.Packages() {
		x := Package{Name: p.Name(), Bundles: []Bundle{}}
		for ch := range p.Channels() {
			y := Channel{Name: ch.Name()}
			for e := range ch.Entries() {
				if c.kept[e] {
					y.Entries = append(y.Entries, e.Name())
				}
			}
			if y.Entries == nil {
				continue
			}
			x.Channels = append(x.Channels, y)
			if ch.IsDefault() {
				x.DefaultChannel = ch.Name()
			}
		}
		if x.Channels == nil {
			continue
		}
		if x.DefaultChannel == "" {
			x.DefaultChannel = x.Channels[0].Name
		}
		for b := range p.Bundles() {
			if why := c.why[b]; why != "" {
				x.Bundles = append(x.Bundles, Bundle{b.Name(), b.Node().Version, b.Image(), why, b})
			}
		}
		slices.SortStableFunc(x.Bundles, func(a, b Bundle) int {
			v, _ := a.handle.VersionRelease()
			w, _ := b.handle.VersionRelease()
			return v.Compare(w)
		})
		s.Bundles += len(x.Bundles)
		s.Packages = append(s.Packages, x)
	}
	return s
}
