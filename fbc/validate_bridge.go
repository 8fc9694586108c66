package fbc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// bridges warns of channels that continue another one before its end (B9): the
// first entry replaces a version of a channel that ends before this one begins,
// and users of its later versions get no further than that end.
func (v *validator) bridges(p *pkg) {
	var furthest map[string]*semver.Version
	for _, l := range p.lines {
		first, from, ok := l.bridge(p)
		if !ok {
			continue
		}
		if furthest == nil {
			if furthest = v.furthest(p); v.ctx.Err() != nil {
				return
			}
		}
		var left []*bundleFacts
		var ended []string
		for _, d := range p.lines {
			behind := d.behind(l, from, first, furthest)
			if len(behind) == 0 {
				continue
			}
			ended = append(ended, d.Name)
			left = append(left, behind...)
		}
		if len(left) == 0 {
			continue
		}
		slices.SortFunc(left, func(a, b *bundleFacts) int {
			return cmp.Or(a.version.Compare(*b.version), cmp.Compare(a.Name, b.Name))
		})
		var names []string
		for _, f := range slices.Compact(left) {
			names = append(names, f.Name)
		}
		slices.Sort(ended)
		path := fmt.Sprintf("/entries/%d/replaces", l.at[first.Name])
		v.report(CodeBridge, &l.Meta, path, fmt.Errorf("the first entry %q replaces %q, which is not the last version of channel %s; no channel updates these to %s or newer: %s; replace the last version instead, or add a skipRange",
			first.Name, from.Name, quoted(ended), first.version, strings.Join(names, ", ")))
	}
}

// bridge returns the first entry of a channel and what it replaces in another
// one. The channel has one head, and the entry is offered.
func (l *line) bridge(p *pkg) (first, from *bundleFacts, ok bool) {
	if len(l.shape.Chain) == 0 {
		return nil, nil, false
	}
	i := l.shape.Chain[len(l.shape.Chain)-1]
	name := l.Entries[i].Replaces
	if _, here := l.at[name]; here || name == "" || l.shape.Skipped[i] {
		return nil, nil, false
	}
	first, from = l.facts[i], p.byName[name]
	return first, from, first != nil && from != nil && first.version != nil && from.version != nil
}

// behind returns the entries of channel l that are newer than from, that the next
// channel does not have, and that cannot be updated to first or a newer version.
// There are none if channel l does not have from, or does not end before first:
// such a channel runs in parallel.
func (l *line) behind(next *line, from, first *bundleFacts, furthest map[string]*semver.Version) []*bundleFacts {
	if _, ok := l.at[from.Name]; !ok || len(l.shape.Heads) != 1 {
		return nil
	}
	if head := l.facts[l.shape.Heads[0]]; head == nil || head.version == nil || head.version.GE(*first.version) {
		return nil
	}
	var out []*bundleFacts
	for _, f := range l.facts {
		if f == nil || f.version == nil || f.version.LE(*from.version) {
			continue
		}
		if _, ok := next.at[f.Name]; !ok && furthest[f.Name].LT(*first.version) {
			out = append(out, f)
		}
	}
	return out
}

// furthest returns the newest version to which each bundle of a package can be
// updated in any number of steps, by users who may change the channel before each.
// It goes backwards from the newest version, and comes to each bundle once.
func (v *validator) furthest(p *pkg) map[string]*semver.Version {
	var nodes []*bundleFacts
	offered := map[string][]*line{} // the channels that offer a bundle
	for _, l := range p.lines {
		for i, f := range l.facts {
			if f != nil && !l.shape.Skipped[i] && !f.prohibited() {
				offered[f.Name] = append(offered[f.Name], l)
			}
		}
	}
	for _, f := range p.byName {
		if f.version != nil {
			nodes = append(nodes, f)
		}
	}
	slices.SortFunc(nodes, func(a, b *bundleFacts) int { return b.version.Compare(*a.version) })
	out := make(map[string]*semver.Version, len(nodes))
	for _, target := range nodes {
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
				if r := l.skip[i]; !r.IsZero() {
					for _, from := range nodes {
						if out[from.Name] == nil && r.Contains(*from.version) {
							todo = append(todo, from)
						}
					}
				}
			}
		}
	}
	return out
}
