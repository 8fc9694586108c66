package fbc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/chain"
	"github.com/olmkit/olmkit/internal/codes"
)

// A line is a channel as an upgrade graph. Entries are numbered from 0 in file order; at
// refers to the first entry with each name.
type line struct {
	*Channel
	at    map[string]int // the number of an entry, by name
	shape chain.Shape
	skip  []constraints.Range // of each entry; zero without one
	facts []*bundleFacts      // of each entry; nil without a bundle

	sorted *versionList // of facts
}

// channel checks a channel and its upgrade graph (A6, A7).
func (v *validator) channel(p *pkg, c *Channel) {
	m := &c.Meta
	v.types(m)
	if len(c.Entries) == 0 {
		if !v.reported(m, "/entries") {
			v.report(codes.Heads, m, "/entries", errors.New("has no entries; a channel needs at least one"))
		}
		return
	}
	l := line{Channel: c, at: make(map[string]int, len(c.Entries)), skip: make([]constraints.Range, len(c.Entries)), facts: make([]*bundleFacts, len(c.Entries))}
	for i, e := range c.Entries {
		if _, ok := l.at[e.Name]; !ok {
			l.at[e.Name] = i
		}
	}
	for i, e := range c.Entries {
		path := fmt.Sprintf("/entries/%d", i)
		if f := p.byName[e.Name]; f != nil {
			l.facts[i] = f
		} else if e.Name != "" {
			v.report(codes.NoBundle, m, path+"/name", fmt.Errorf("entry %q has no %s blob in package %q", e.Name, SchemaBundle, p.name))
		}
		for j, s := range e.Skips {
			if path := fmt.Sprintf("%s/skips/%d", path, j); s == "" && !v.reported(m, path) {
				v.report(codes.Required, m, path, errors.New("is empty; name a bundle or remove the element"))
			}
		}
		if e.SkipRange != "" {
			r, err := constraints.ParseRange(e.SkipRange)
			if err != nil {
				v.report(codes.SkipRange, m, path+"/skipRange", fmt.Errorf("%w; it matches nothing", err))
			}
			l.skip[i] = r
		}
	}
	l.shape = chain.Of(l.links())
	p.lines = append(p.lines, &l)
	v.graph(&l)
	l.sorted = byVersion(l.facts)
	if len(l.shape.Heads) == 1 {
		v.upgrades(p, &l)
	}
	v.ranges(&l)
}

// links returns the edges of each entry, as numbers of other entries.
func (l *line) links() []chain.Entry {
	links := make([]chain.Entry, len(l.Entries))
	for i, e := range l.Entries {
		links[i].Replaces = -1
		if l.at[e.Name] != i {
			// A duplicate entry links to the first entry of its name.
			links[i].Replaces = l.at[e.Name]
			continue
		}
		if to, ok := l.at[e.Replaces]; ok && e.Replaces != "" {
			links[i].Replaces = to
		}
		for _, s := range e.Skips {
			if to, ok := l.at[s]; ok {
				links[i].Skips = append(links[i].Skips, to)
			}
		}
	}
	return links
}

// graph reports faults of the upgrade graph of a channel (A7).
func (v *validator) graph(l *line) {
	m := &l.Meta
	if v.hasDuplicates(l) {
		return // until the entries are merged, there is no graph to judge
	}
	switch heads := l.shape.Heads; {
	case len(heads) == 0:
		v.report(codes.Heads, m, "/entries", errors.New("has no head: every entry is replaced or skipped by another; remove the edges to the newest entry"))
	case len(heads) > 1:
		v.report(codes.Heads, m, "/entries", fmt.Errorf("has %d heads: %s; let the newest replace or skip the others", len(heads), l.names(heads, ", ")))
	}
	for _, circle := range l.shape.Cycles {
		v.report(codes.Cycle, m, fmt.Sprintf("/entries/%d/replaces", circle[0]),
			fmt.Errorf("replaces form a cycle: %s; remove one of these edges", l.names(append(slices.Clone(circle), circle[0]), " -> ")))
	}
	if s := l.shape.Stranded; len(s) > 0 {
		v.report(codes.Stranded, m, "/entries", fmt.Errorf("entries unreachable from the head %s by replaces, without passing through skipped entries: %s; replace or skip them",
			l.Entries[l.shape.Heads[0]].Name, l.names(s, ", ")))
	}
}

func (v *validator) hasDuplicates(l *line) bool { return len(l.at) < len(l.Entries) }

func (l *line) names(list []int, between string) string {
	names := make([]string, len(list))
	for i, k := range list {
		names[i] = l.Entries[k].Name
	}
	return strings.Join(names, between)
}

// upgrades warns of entries that leave users stuck, in a channel with one head.
func (v *validator) upgrades(p *pkg, l *line) {
	m, head := &l.Meta, l.shape.Heads[0]
	if f := l.facts[head]; f != nil {
		deprecated := p.deprecated[Deprecation{Schema: SchemaBundle, Name: f.Name}]
		whole := p.deprecated[Deprecation{Schema: SchemaPackage}] || p.deprecated[Deprecation{Schema: SchemaChannel, Name: l.Name}]
		if f.prohibited() {
			v.report(codes.DeprecatedHead, m, fmt.Sprintf("/entries/%d", head), fmt.Errorf("the head %q has the property olm.deprecated, so OLM does not install it; publish a new head", f.Name))
		} else if deprecated && !whole {
			v.report(codes.DeprecatedHead, m, fmt.Sprintf("/entries/%d", head), fmt.Errorf("the head %q is deprecated, but the channel is not; publish a new head, or deprecate the channel", f.Name))
		}
	}
	out := l.waysOut()
	for i, e := range l.Entries {
		if v.ctx.Err() != nil {
			return
		}
		path := fmt.Sprintf("/entries/%d", i)
		f := l.facts[i]
		if to, ok := l.at[e.Replaces]; e.Replaces != "" && ok {
			if t := l.facts[to]; f != nil && t != nil && f.version != nil && t.version != nil && t.version.GT(*f.version) {
				v.report(codes.ReplacesNewer, m, path+"/replaces", fmt.Errorf("%s (%s) replaces the newer %s (%s); users are downgraded", e.Name, f.version, t.Name, t.version))
			}
		} else if e.Replaces != "" {
			if older := l.olderThan(i); len(older) > 0 {
				v.report(codes.DanglingReplaces, m, path+"/replaces", fmt.Errorf("%q is not an entry of the channel, and the upgrade chain ends here although the channel has older entries: %s", e.Replaces, l.names(older, ", ")))
			}
		}
		if i != head && !out[i] {
			v.report(codes.Stuck, m, path, fmt.Errorf("users of %q are stuck: only skipped entries replace or skip it; let an entry that is offered skip it", e.Name))
		}
	}
}

// prohibited reports whether the bundle has the property olm.deprecated (D12).
func (f *bundleFacts) prohibited() bool {
	return slices.ContainsFunc(f.Properties, func(p prop) bool { return p.Type == "olm.deprecated" })
}

// olderThan returns the entries that are older than entry i and not in the chain from the
// head. It returns none unless entry i is the end of that chain.
func (l *line) olderThan(i int) []int {
	f := l.facts[i]
	if f == nil || f.version == nil || l.shape.Chain[len(l.shape.Chain)-1] != i {
		return nil
	}
	reached := make([]bool, len(l.Entries))
	for _, k := range l.shape.Chain {
		reached[k] = true
	}
	var out []int
	for k, t := range l.facts {
		if t != nil && t.version != nil && t.version.LT(*f.version) && !reached[k] {
			out = append(out, k)
		}
	}
	return out
}

// waysOut returns for each entry whether an entry that OLM offers upgrades it (B2, H3).
func (l *line) waysOut() []bool {
	names := map[string]bool{}
	ranges := map[string]constraints.Range{} // by text
	for k, e := range l.Entries {
		if l.shape.Skipped[k] {
			continue
		}
		if e.Replaces != e.Name {
			names[e.Replaces] = true
		}
		for _, s := range e.Skips {
			names[s] = true
		}
		if !l.skip[k].IsZero() {
			ranges[e.SkipRange] = l.skip[k]
		}
	}
	// held becomes the number of ranges that contain each version. At first it has the
	// difference from the previous version.
	held := make([]int, len(l.sorted.versions)+1)
	for _, r := range ranges {
		for _, s := range r.Spans(l.sorted.versions) {
			held[s.From]++
			held[s.To]--
		}
	}
	for i := range l.sorted.versions {
		held[i+1] += held[i]
	}
	out := make([]bool, len(l.Entries))
	for i, e := range l.Entries {
		f := l.facts[i]
		if out[i] = names[e.Name]; out[i] || f == nil || f.version == nil {
			continue
		}
		n := held[l.sorted.after(f.version)-1]
		if own, ok := ranges[e.SkipRange]; ok && own.Contains(*f.version) {
			n--
		}
		out[i] = n > 0
	}
	return out
}

// ranges warns of skipRanges that are too wide (H2).
func (v *validator) ranges(l *line) {
	for i, r := range l.skip {
		if v.ctx.Err() != nil {
			return
		}
		f := l.facts[i]
		if r.IsZero() || f == nil || f.version == nil {
			continue
		}
		path := fmt.Sprintf("/entries/%d/skipRange", i)
		if r.Contains(*f.version) {
			v.report(codes.SkipRangeSelf, &l.Meta, path, fmt.Errorf("%q includes the entry's own version %s; end the range before it", r, f.version))
		}
		var newer []string
		total, after := 0, l.sorted.after(f.version)
		for _, s := range r.Spans(l.sorted.versions) {
			s.From = max(s.From, after)
			total += max(s.To-s.From, 0)
			for ; s.From < s.To && len(newer) < mostNames; s.From++ {
				newer = append(newer, l.sorted.facts[s.From].Name)
			}
		}
		if total > 0 {
			v.report(codes.SkipRangeDowngrade, &l.Meta, path, fmt.Errorf("%q includes versions newer than %s: %s; their users are downgraded; end the range earlier", r, f.version, some(newer, total)))
		}
	}
}

// channelsTogether warns if users who choose no channel miss the newest version.
func (v *validator) channelsTogether(p *pkg) {
	if p.blob == nil {
		return
	}
	def := p.channel(p.blob.DefaultChannel)
	if def == nil {
		return
	}
	var newest, here *bundleFacts
	newer := func(f, than *bundleFacts) bool { return than == nil || f.version.GT(*than.version) }
	for _, c := range p.channels {
		for _, e := range c.Entries {
			f := p.byName[e.Name]
			if f == nil || f.version == nil || len(f.version.Pre) > 0 {
				continue
			}
			if newer(f, newest) {
				newest = f
			}
			if c == def && newer(f, here) {
				here = f
			}
		}
	}
	if newest != nil && here != nil && newest.version.GT(*here.version) {
		v.report(codes.DefaultBehind, &p.blob.Meta, "/defaultChannel", fmt.Errorf("the default channel %q ends at version %s, but the package has version %s (%s)", def.Name, here.version, newest.version, newest.Name))
	}
}
