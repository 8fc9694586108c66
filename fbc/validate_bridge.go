package fbc

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/olmkit/olmkit/internal/codes"
)

// bridges warns of a channel that continues an earlier channel from a version before its
// end (B9). The first entry that only the later channel has upgrades this version, but not
// the newer versions of the earlier channel, whose users cannot upgrade past its end.
func (v *validator) bridges(p *pkg) {
	var furthest map[string]*semver.Version
	for _, l := range p.lines {
		found := map[*bundleFacts]*gap{} // by first entry
		for _, d := range p.lines {
			if v.ctx.Err() != nil {
				return
			}
			first, from := l.bridge(d, p)
			if from == nil {
				continue
			}
			if furthest == nil {
				furthest = v.furthest(p)
			}
			behind := d.behind(l, from, first, furthest)
			if len(behind) == 0 {
				continue
			}
			g := found[first]
			if g == nil {
				g = &gap{first: first, from: from}
				found[first] = g
			}
			if from.version.GT(*g.from.version) {
				g.from = from
			}
			g.ended, g.left = append(g.ended, d), append(g.left, behind...)
		}
		for _, i := range slices.Backward(l.shape.Chain) {
			if g := found[l.facts[i]]; g != nil {
				v.report(codes.Bridge, &l.Meta, fmt.Sprintf("/entries/%d", i), g.err(l, furthest))
			}
		}
	}
}

// A gap is an entry of a channel that continues other channels, and their versions that
// cannot be upgraded to the version of the entry or a newer one.
type gap struct {
	first, from *bundleFacts   // the entry, and the newest bundle of the other channels that it upgrades
	ended       []*line        // the other channels
	left        []*bundleFacts // their versions that are left behind
}

func (g *gap) err(l *line, furthest map[string]*semver.Version) error {
	slices.SortFunc(g.left, func(a, b *bundleFacts) int {
		return cmp.Or(a.version.Compare(*b.version), cmp.Compare(a.Name, b.Name))
	})
	g.left = slices.Compact(g.left)
	var names, ended []string
	for _, f := range g.left {
		names = append(names, f.Name)
	}
	for _, d := range g.ended {
		ended = append(ended, d.Name)
	}
	slices.Sort(ended)
	e := l.Entries[l.at[g.first.Name]]
	skip := fmt.Sprintf(">=%s <%s", g.left[0].version, g.first.version)
	if !l.skip[l.at[g.first.Name]].IsZero() {
		skip = e.SkipRange + " || " + skip
	}
	fix := fmt.Sprintf("set skipRange: %q on the entry", skip)
	if last := g.last(furthest); last != nil && e.Replaces == g.from.Name && !l.has(g.from) {
		fix += fmt.Sprintf(", or replaces: %q", last.Name)
	}
	return fmt.Errorf("entry %q upgrades %q, which is not the last version of channel %s; no channel upgrades these versions to %s or newer: %s; %s",
		g.first.Name, g.from.Name, quoted(ended), g.first.version, some(names, len(names)), fix)
}

// last returns the head of the other channel if there is only one other channel and all its
// versions can be upgraded to the head. Otherwise it returns nil.
func (g *gap) last(furthest map[string]*semver.Version) *bundleFacts {
	d := g.ended[0]
	if len(g.ended) > 1 || len(d.shape.Stranded) > 0 || d.shape.Skipped[d.at[g.from.Name]] {
		return nil
	}
	head := d.facts[d.shape.Heads[0]]
	for _, f := range g.left {
		if furthest[f.Name].LT(*head.version) {
			return nil
		}
	}
	return head
}

// bridge returns the first entry of channel l that channel d does not have, and the newest
// bundle of d that the entry upgrades. from is nil if l does not continue d: if a channel
// does not have one head, OLM does not offer the entry, or d has a version as new as the
// entry. It is also nil if d is the default channel from which l branches off.
func (l *line) bridge(d *line, p *pkg) (first, from *bundleFacts) {
	if l == d || len(l.shape.Chain) == 0 || len(d.shape.Heads) != 1 {
		return nil, nil
	}
	head := d.facts[d.shape.Heads[0]]
	if head == nil || head.version == nil || l.sorted.after(head.version) == len(l.sorted.facts) {
		return nil, nil
	}
	for _, i := range slices.Backward(l.shape.Chain) {
		e := l.Entries[i]
		if _, shared := d.at[e.Name]; shared {
			continue
		}
		first := l.facts[i]
		if l.shape.Skipped[i] || first == nil || first.version == nil || head.version.GE(*first.version) {
			return nil, nil
		}
		newest := func(f *bundleFacts) {
			if f != nil && f.version != nil && f.version.LT(*first.version) && (from == nil || f.version.GT(*from.version)) {
				from = f
			}
		}
		for _, name := range append(slices.Clip(e.Skips), e.Replaces) {
			if _, ok := d.at[name]; ok {
				newest(p.byName[name])
			}
		}
		for _, s := range l.skip[i].Spans(d.sorted.versions) {
			newest(d.sorted.facts[s.To-1])
		}
		if from != nil && p.blob != nil && d.Name == p.blob.DefaultChannel && l.has(from) {
			return nil, nil
		}
		return first, from
	}
	return nil, nil
}

func (l *line) has(f *bundleFacts) bool {
	_, ok := l.at[f.Name]
	return ok
}

// behind returns the bundles of channel l that are newer than from, are not in the channel
// next, and cannot be upgraded to the version of first or a newer one.
func (l *line) behind(next *line, from, first *bundleFacts, furthest map[string]*semver.Version) []*bundleFacts {
	var out []*bundleFacts
	for _, f := range l.sorted.facts[l.sorted.after(from.version):] {
		if !next.has(f) && furthest[f.Name].LT(*first.version) {
			out = append(out, f)
		}
	}
	return out
}

// furthest returns, by name of each bundle of a package, the newest version to which it can
// be upgraded in any number of steps. Users may change the channel before each step. The
// search begins at the newest version, goes backwards along edges, and visits each bundle
// once.
func (v *validator) furthest(p *pkg) map[string]*semver.Version {
	offered := map[string][]*line{} // the channels that offer a bundle
	for _, l := range p.lines {
		for i, f := range l.facts {
			if f != nil && !l.shape.Skipped[i] && !f.prohibited() {
				offered[f.Name] = append(offered[f.Name], l)
			}
		}
	}
	var all []*bundleFacts
	for _, f := range p.byName {
		all = append(all, f)
	}
	sorted := byVersion(all)
	// From each index, next leads to the first index at or after it that no range has
	// reached yet.
	next := make([]int, len(sorted.facts)+1)
	for i := range next {
		next[i] = i
	}
	free := func(i int) int {
		for ; next[i] != i; i = next[i] {
			next[i] = next[next[i]]
		}
		return i
	}
	out := make(map[string]*semver.Version, len(sorted.facts))
	for _, target := range slices.Backward(sorted.facts) {
		for todo := []*bundleFacts{target}; len(todo) > 0; {
			f := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if out[f.Name] != nil {
				continue
			}
			if v.ctx.Err() != nil {
				return out
			}
			out[f.Name] = target.version
			for _, l := range offered[f.Name] {
				i := l.at[f.Name]
				for _, name := range append(slices.Clip(l.Entries[i].Skips), l.Entries[i].Replaces) {
					if from := p.byName[name]; from != nil && from.version != nil {
						todo = append(todo, from)
					}
				}
				for _, s := range l.skip[i].Spans(sorted.versions) {
					for k := free(s.From); k < s.To; k = free(k) {
						todo = append(todo, sorted.facts[k])
						next[k] = k + 1
					}
				}
			}
		}
	}
	return out
}
