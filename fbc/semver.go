package fbc

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/yamlout"
	"github.com/olmkit/olmkit/property"
)

// A SemverTemplate says which bundles a package has in three grades of
// stability; channels and edges follow from their versions (A15):
//
//	schema: olm.semver
//	generateMajorChannels: true
//	generateMinorChannels: false
//	candidate:
//	  bundles:
//	  - image: quay.io/example/etcd-bundle:v0.9.0
//	stable:
//	  bundles: …
type SemverTemplate struct {
	// Major and Minor say which channels to make: stable-v1, stable-v1.2. With
	// neither, minor ones are made.
	Major, Minor bool
	// Prefer is "major" or "minor": the kind of the default channel where both
	// kinds end at one version. Default "minor" if those are made. opm looks at
	// the versions that the channels begin with, and rarely takes "major".
	Prefer string
	// Candidate, Fast and Stable are images of bundles.
	Candidate, Fast, Stable []string
}

// ParseSemver reads a semver template in YAML or JSON. The name stands for the
// file in errors, which are a [Diagnostics]. Keys are read whatever their case,
// as the documentation has them in several.
func ParseSemver(ctx context.Context, data []byte, name string) (*SemverTemplate, error) {
	t, err := readTemplate(ctx, data, name, "schema", "generateMajorChannels", "generateMinorChannels", "defaultChannelTypePreference", "candidate", "fast", "stable")
	if err != nil {
		return nil, err
	}
	if s := t.text("schema"); s != "olm.semver" {
		t.fault(CodeType, "/schema", fmt.Errorf("schema %q: want olm.semver", s))
	}
	s := &SemverTemplate{Major: t.bool("generateMajorChannels"), Minor: t.bool("generateMinorChannels"), Prefer: t.text("defaultChannelTypePreference")}
	if !s.Major && !s.Minor {
		s.Minor = true
	}
	if s.Prefer == "" {
		s.Prefer = map[bool]string{true: "minor", false: "major"}[s.Minor]
	}
	if !(s.Prefer == "major" && s.Major || s.Prefer == "minor" && s.Minor) {
		t.fault(CodeType, "/defaultChannelTypePreference", fmt.Errorf("%q: want a kind of channel that is generated, major or minor", s.Prefer))
	}
	for grade, to := range s.grades() {
		seen := map[string]bool{}
		for i, image := range t.gradeBundles(grade) {
			at := fmt.Sprintf("/%s/bundles/%d/image", grade, i)
			if err := checkImage(image); err != nil {
				t.fault(CodeImage, at, err)
			} else if seen[image] {
				t.fault(CodeDuplicate, at, fmt.Errorf("image %q appears a second time", image))
			}
			seen[image] = true
			*to = append(*to, image)
		}
	}
	if len(s.Candidate)+len(s.Fast)+len(s.Stable) == 0 && len(t.faults) == 0 {
		t.fault(CodeRequired, "", errors.New("lists no bundles; name images under candidate, fast or stable"))
	}
	return s, t.err()
}

// grades yields the grades of stability, from low to high.
func (s *SemverTemplate) grades() func(func(string, *[]string) bool) {
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
		t.fault(CodeType, "/"+grade, fmt.Errorf("must be an object with bundles, found %s", jsonkind.Name(n.Kind)))
	}
	var out []string
	for _, m := range n.Members {
		if !strings.EqualFold(m.Key, "bundles") {
			t.fault(CodeType, "/"+grade+"/"+m.Key, errors.New("unknown key: want bundles"))
			continue
		}
		if m.Value.Kind != '[' && m.Value.Kind != 'n' {
			t.fault(CodeType, "/"+grade+"/bundles", fmt.Errorf("must be a list, found %s", jsonkind.Name(m.Value.Kind)))
		}
		for i, e := range m.Value.Elems {
			image := ""
			for _, f := range e.Members {
				if strings.EqualFold(f.Key, "image") {
					image = f.Value.Text
				} else {
					t.fault(CodeType, fmt.Sprintf("/%s/bundles/%d/%s", grade, i, f.Key), errors.New("unknown key: want image"))
				}
			}
			out = append(out, image)
		}
	}
	return out
}

// A graded is a bundle with its version.
type graded struct {
	*Bundle
	version semver.Version
}

// Expand returns the package that the template describes: its bundles, a
// channel for each grade and each major or minor version among them, and the
// edges. In each channel family the newest bundle of a minor version replaces
// the newest of the minor version before it and skips all others before it, as
// far as the major version is the same. The default channel is that of the
// highest grade with the newest version.
//
// bundle returns the blob of an image. A blob has no description and no icon of
// its package: [SemverTemplate.ExpandDirs] keeps those.
func (s *SemverTemplate) Expand(ctx context.Context, bundle func(ctx context.Context, image string) (*Bundle, error)) (*Catalog, error) {
	return s.ExpandDirs(ctx, func(ctx context.Context, image string) (*BundleDir, error) {
		b, err := bundle(ctx, image)
		return &BundleDir{Bundle: b}, err
	})
}

// ExpandDirs is Expand from bundle directories, as [ReadBundleDir] reads them.
// The package has the description and the icon of the bundle that its default
// channel ends with, as in opm.
func (s *SemverTemplate) ExpandDirs(ctx context.Context, dir func(ctx context.Context, image string) (*BundleDir, error)) (*Catalog, error) {
	out := &Catalog{}
	dirs := map[string]*BundleDir{} // by the name of the bundle
	byImage := map[string]*graded{}
	byName := map[string]string{}
	pkg := ""
	e := semverExpander{s: s, channels: map[string]*Channel{}, heads: map[string]head{}}
	level := 0
	for grade, images := range s.grades() {
		var list []graded
		for _, image := range *images {
			g, ok := byImage[image]
			if !ok {
				d, err := dir(ctx, image)
				if err != nil {
					return nil, fmt.Errorf("bundle %q: %w", image, err)
				}
				b := d.Bundle
				version, known := b.version()
				switch {
				case !known:
					return nil, fmt.Errorf("bundle %q of image %q has no valid %s property", b.Name, image, property.TypePackage)
				case pkg != "" && b.Package != pkg:
					return nil, fmt.Errorf("bundle %q of image %q is of package %q, the others of %q; a template describes one package", b.Name, image, b.Package, pkg)
				case byName[b.Name] != "":
					return nil, fmt.Errorf("images %q and %q hold the same bundle %q", byName[b.Name], image, b.Name)
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
	p := &Package{Meta: Meta{Schema: SchemaPackage, Name: pkg, Package: pkg}, DefaultChannel: e.best}
	if best := e.channels[e.best]; best != nil {
		var err error
		if p, err = p.presented(dirs[best.Entries[len(best.Entries)-1].Name]); err != nil {
			return nil, err
		}
	}
	out.Packages = []*Package{p}
	return out, nil
}

// distinct returns an error if two bundles of one grade, which are in the order of
// their versions, have the same version, build metadata aside: neither is newer.
func distinct(grade string, list []graded) error {
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.version.EQ(b.version) {
			return fmt.Errorf("%s lists bundles %q (%s) and %q (%s): versions that are equal or differ only in build metadata have no order; keep one of them", grade, a.Name, a.version, b.Name, b.version)
		}
	}
	return nil
}

// presented returns the package with the description and the icon of a bundle.
// An icon that user interfaces could not show is left out.
func (p *Package) presented(by *BundleDir) (*Package, error) {
	n := encode(p)
	if by.Description != "" {
		n.Set("description", yamlout.String(by.Description))
	}
	if icon := by.Icon; icon != nil && icon.Base64Data != "" && icon.MediaType != "" {
		if _, err := base64.StdEncoding.DecodeString(icon.Base64Data); err == nil {
			n.Set("icon", yamlout.Object(
				yamlout.Member{Key: "base64data", Value: yamlout.String(icon.Base64Data)},
				yamlout.Member{Key: "mediatype", Value: yamlout.String(icon.MediaType)}))
		}
	}
	b, err := whole(n, Pos{})
	if err != nil {
		return nil, err
	}
	return b.(*Package), nil
}

// A head is what a channel ends in.
type head struct {
	level   int
	version semver.Version
	kind    string
}

type semverExpander struct {
	s        *SemverTemplate
	channels map[string]*Channel
	heads    map[string]head
	best     string
}

// link makes the channels of one grade and kind from bundles by version.
func (e *semverExpander) link(grade string, level int, kind, pkg string, list []graded) {
	before := "" // the newest of the minor version before
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
			ch = &Channel{Meta: Meta{Schema: SchemaChannel, Package: pkg, Name: name}}
			e.channels[name] = ch
		}
		entry := Entry{Name: g.Name}
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

// better reports whether a channel that ends in h is the better default.
func (e *semverExpander) better(h, best head) bool {
	if h.level != best.level {
		return h.level > best.level
	}
	if c := h.version.Compare(best.version); c != 0 {
		return c > 0
	}
	return h.kind == e.s.Prefer && best.kind != e.s.Prefer
}

func (e *semverExpander) sorted() []*Channel {
	var out []*Channel
	for _, ch := range e.channels {
		out = append(out, ch)
	}
	slices.SortFunc(out, func(a, b *Channel) int { return strings.Compare(a.Name, b.Name) })
	return out
}
