package template

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/yamlout"
	"github.com/olmkit/olmkit/property"
)

// A Semver template lists the bundles of a package in three grades of stability. Channels
// and edges follow from their versions:
//
//	schema: olm.semver
//	generateMajorChannels: true
//	generateMinorChannels: false
//	candidate:
//	  bundles:
//	  - image: quay.io/example/etcd-bundle:v0.9.0
//	stable:
//	  bundles: …
type Semver struct {
	// Major and Minor select the channels to generate: stable-v1 and stable-v1.2.
	// ParseSemver sets Minor if the template has neither.
	Major, Minor bool
	// Prefer is "major" or "minor": the kind of the default channel if channels of
	// both kinds end at the same version. ParseSemver sets it to "minor" if minor
	// channels are generated. opm compares the versions at which the channels
	// begin, and rarely chooses "major".
	Prefer string
	// Candidate, Fast and Stable are images of bundles.
	Candidate, Fast, Stable []string
}

// ParseSemver parses a semver template in YAML or JSON. The name is the file name in
// errors. The error is an [fbc.Diagnostics]. Keys are not case-sensitive, because OLM's
// documentation spells them in several ways.
func ParseSemver(ctx context.Context, data []byte, name string) (*Semver, error) {
	t, err := read(ctx, data, name, "schema", "generateMajorChannels", "generateMinorChannels", "defaultChannelTypePreference", "candidate", "fast", "stable")
	if err != nil {
		return nil, err
	}
	if s := t.text("schema"); s != "olm.semver" {
		t.fault(codes.Type, "/schema", fmt.Errorf("schema %q: want olm.semver", s))
	}
	s := &Semver{Major: t.bool("generateMajorChannels"), Minor: t.bool("generateMinorChannels"), Prefer: t.text("defaultChannelTypePreference")}
	if !s.Major && !s.Minor {
		s.Minor = true
	}
	if s.Prefer == "" {
		s.Prefer = map[bool]string{true: "minor", false: "major"}[s.Minor]
	}
	if !(s.Prefer == "major" && s.Major || s.Prefer == "minor" && s.Minor) {
		t.fault(codes.Type, "/defaultChannelTypePreference", fmt.Errorf("%q is not a kind of generated channel; want major or minor", s.Prefer))
	}
	for grade, to := range s.grades() {
		seen := map[string]bool{}
		for i, image := range t.gradeBundles(grade) {
			at := fmt.Sprintf("/%s/bundles/%d/image", grade, i)
			if err := imageref.Check(image); err != nil {
				t.fault(codes.Image, at, err)
			} else if seen[image] {
				t.fault(codes.Duplicate, at, fmt.Errorf("image %q is listed twice; remove one of the entries", image))
			}
			seen[image] = true
			*to = append(*to, image)
		}
	}
	if len(s.Candidate)+len(s.Fast)+len(s.Stable) == 0 && len(t.faults) == 0 {
		t.fault(codes.Required, "", errors.New("lists no bundles; name images under candidate, fast or stable"))
	}
	return s, t.err()
}

// grades yields the grades of stability, from low to high.
func (s *Semver) grades() func(func(string, *[]string) bool) {
	return func(yield func(string, *[]string) bool) {
		_ = yield("candidate", &s.Candidate) && yield("fast", &s.Fast) && yield("stable", &s.Stable)
	}
}

// gradeBundles returns the images under a grade: {bundles: [{image}]}.
func (t *template) gradeBundles(grade string) []string {
	n := t.n.Get(grade)
	if n == nil || n.Kind == 'n' {
		return nil
	}
	if n.Kind != '{' {
		t.fault(codes.Type, "/"+grade, fmt.Errorf("must be an object with bundles, found %s", jsonkind.Name(n.Kind)))
	}
	var out []string
	for _, m := range n.Members {
		if !strings.EqualFold(m.Key, "bundles") {
			t.fault(codes.Type, "/"+grade+"/"+m.Key, errors.New("unknown key: want bundles"))
			continue
		}
		if m.Value.Kind != '[' && m.Value.Kind != 'n' {
			t.fault(codes.Type, "/"+grade+"/bundles", fmt.Errorf("must be a list, found %s", jsonkind.Name(m.Value.Kind)))
		}
		for i, e := range m.Value.Elems {
			image := ""
			for _, f := range e.Members {
				if strings.EqualFold(f.Key, "image") {
					image = f.Value.Text
				} else {
					t.fault(codes.Type, fmt.Sprintf("/%s/bundles/%d/%s", grade, i, f.Key), errors.New("unknown key: want image"))
				}
			}
			out = append(out, image)
		}
	}
	return out
}

// A graded is a bundle with its version.
type graded struct {
	*fbc.Bundle
	version semver.Version
}

// Expand returns the package that the template describes: its bundles, a channel for each
// grade and each major or minor version, and the edges. In each family of channels, the
// newest bundle of a minor version replaces the newest one of the previous minor version
// and skips all other older bundles of the same major version. The default channel is
// the channel of the highest grade with the newest version. As in opm, the package has
// the description and the icon of the bundle at the head of its default channel.
//
// load returns the contents of a bundle image.
func (s *Semver) Expand(ctx context.Context, load func(ctx context.Context, image string) (*bundle.Dir, error)) (*fbc.Catalog, error) { // A15
	out := &fbc.Catalog{}
	dirs := map[string]*bundle.Dir{} // by the name of the bundle
	byImage := map[string]*graded{}
	byName := map[string]string{}
	pkg := ""
	e := semverExpander{s: s, channels: map[string]*fbc.Channel{}, heads: map[string]head{}}
	level := 0
	for grade, images := range s.grades() {
		var list []graded
		for _, image := range *images {
			g, ok := byImage[image]
			if !ok {
				d, err := load(ctx, image)
				if err != nil {
					return nil, fmt.Errorf("bundle %q: %w", image, err)
				}
				b := d.Bundle
				version, known := b.Version()
				switch {
				case !known:
					return nil, fmt.Errorf("bundle %q of image %q has no valid %s property", b.Name, image, property.TypePackage)
				case pkg != "" && b.Package != pkg:
					return nil, fmt.Errorf("bundle %q of image %q is in package %q, but the others are in %q; a template describes one package", b.Name, image, b.Package, pkg)
				case byName[b.Name] != "":
					return nil, fmt.Errorf("images %q and %q contain the same bundle %q; remove one of them", byName[b.Name], image, b.Name)
				}
				pkg = b.Package
				byName[b.Name], dirs[b.Name] = image, d
				g = &graded{b, version}
				byImage[image] = g
				out.Bundles = append(out.Bundles, b)
			}
			list = append(list, *g)
		}
		slices.SortStableFunc(list, func(a, b graded) int {
			return cmp.Or(a.version.Compare(b.version), strings.Compare(a.Name, b.Name))
		})
		if err := distinct(grade, list); err != nil {
			return nil, err
		}
		for _, kind := range []string{"major", "minor"} {
			if kind == "major" && s.Major || kind == "minor" && s.Minor {
				e.link(grade, level, kind, pkg, list)
			}
		}
		level++
	}
	out.Channels = e.sorted()
	best := e.channels[e.best]
	if best == nil {
		return nil, errors.New("the template generates no channels; set Major or Minor, and list bundles")
	}
	p, err := newPackage(ctx, pkg, e.best, dirs[best.Entries[len(best.Entries)-1].Name])
	if err != nil {
		return nil, err
	}
	out.Packages = []*fbc.Package{p}
	return out, nil
}

// distinct returns an error if two bundles of a grade, which are sorted by version, have
// versions that differ at most in build metadata: neither is newer.
func distinct(grade string, list []graded) error {
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.version.EQ(b.version) {
			return fmt.Errorf("%s lists bundles %q (%s) and %q (%s): versions that are equal or differ only in build metadata have no order; keep one of them", grade, a.Name, a.version, b.Name, b.version)
		}
	}
	return nil
}

// newPackage returns the package, with the description and the icon of a bundle. It omits
// an icon that user interfaces could not show.
func newPackage(ctx context.Context, name, defaultChannel string, from *bundle.Dir) (*fbc.Package, error) {
	n := yamlout.Object()
	set := func(n *yamlout.Node, key, text string) { n.Set(key, yamlout.String(text)) }
	set(n, "schema", fbc.SchemaPackage)
	set(n, "name", name)
	set(n, "defaultChannel", defaultChannel)
	if from.Description != "" {
		set(n, "description", from.Description)
	}
	if icon := from.Icon; icon != nil && icon.Base64Data != "" && icon.MediaType != "" {
		if _, err := base64.StdEncoding.DecodeString(icon.Base64Data); err == nil {
			image := yamlout.Object()
			set(image, "base64data", icon.Base64Data)
			set(image, "mediatype", icon.MediaType)
			n.Set("icon", image)
		}
	}
	c, err := fbc.LoadReader(ctx, bytes.NewReader(n.AppendJSON(nil)), "", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		return nil, err
	}
	p := c.Packages[0]
	p.Pos = fbc.Pos{}
	return p, nil
}

// A head is the last version of a channel.
type head struct {
	level   int
	version semver.Version
	kind    string
}

type semverExpander struct {
	s        *Semver
	channels map[string]*fbc.Channel
	heads    map[string]head
	best     string
}

// link adds the channels of one grade and kind. The bundles are sorted by version.
func (e *semverExpander) link(grade string, level int, kind, pkg string, list []graded) {
	before := "" // the newest bundle of the previous minor version
	var older []string
	for i, g := range list {
		if i > 0 && list[i-1].version.Major != g.version.Major {
			before, older = "", nil
		} else if i > 0 && list[i-1].version.Minor != g.version.Minor {
			before = list[i-1].Name
		}
		name := fmt.Sprintf("%s-v%d", grade, g.version.Major)
		if kind == "minor" {
			name += fmt.Sprintf(".%d", g.version.Minor)
		}
		ch, ok := e.channels[name]
		if !ok {
			ch = &fbc.Channel{Meta: fbc.Meta{Schema: fbc.SchemaChannel, Package: pkg, Name: name}}
			e.channels[name] = ch
		}
		entry := fbc.Entry{Name: g.Name}
		last := i+1 == len(list) || list[i+1].version.Major != g.version.Major || list[i+1].version.Minor != g.version.Minor
		if last {
			entry.Replaces = before
			for _, name := range older {
				if name != before {
					entry.Skips = append(entry.Skips, name)
				}
			}
			slices.Sort(entry.Skips)
		}
		ch.Entries = append(ch.Entries, entry)
		older = append(older, g.Name)
		e.heads[name] = head{level, g.version, kind}
		if best, ok := e.heads[e.best]; !ok || e.better(e.heads[name], best) {
			e.best = name
		}
	}
}

// better reports whether the channel with head h is a better default.
func (e *semverExpander) better(h, best head) bool {
	if h.level != best.level {
		return h.level > best.level
	}
	if c := h.version.Compare(best.version); c != 0 {
		return c > 0
	}
	return h.kind == e.s.Prefer && best.kind != e.s.Prefer
}

func (e *semverExpander) sorted() []*fbc.Channel {
	var out []*fbc.Channel
	for _, ch := range e.channels {
		out = append(out, ch)
	}
	slices.SortFunc(out, func(a, b *fbc.Channel) int { return strings.Compare(a.Name, b.Name) })
	return out
}
