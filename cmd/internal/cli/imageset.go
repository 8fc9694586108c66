package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"go.yaml.in/yaml/v3"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver/subset"
)

// An imageSet is an ImageSetConfiguration of oc-mirror. Writing it keeps everything except the
// packages of operators, and also keeps comments.
type imageSet struct {
	doc       *yaml.Node
	isV1      bool // v1alpha2; otherwise v2alpha1
	operators []imageSetOperator
}

// The versions of an ImageSetConfiguration.
const (
	imageSetGroup = "mirror.openshift.io"
	imageSetKind  = "ImageSetConfiguration"
	imageSetV1    = imageSetGroup + "/v1alpha2"
	imageSetV2    = imageSetGroup + "/v2alpha1"
)

// An imageSetOperator is an entry of mirror.operators: a catalog, and what to mirror from it.
type imageSetOperator struct {
	node             *yaml.Node
	Catalog          string            `yaml:"catalog"`
	Full             bool              `yaml:"full"`
	SkipDependencies bool              `yaml:"skipDependencies"`
	Packages         []imageSetPackage `yaml:"packages"`
}

type imageSetPackage struct {
	Name           string            `yaml:"name"`
	DefaultChannel string            `yaml:"defaultChannel,omitempty"`
	Channels       []imageSetChannel `yaml:"channels,omitempty"`
	Bundles        []imageSetBundle  `yaml:"bundles,omitempty"`
	imageSetRange  `yaml:",inline"`
}

type imageSetChannel struct {
	Name          string `yaml:"name"`
	imageSetRange `yaml:",inline"`
}

type imageSetRange struct {
	MinVersion string `yaml:"minVersion,omitempty"`
	MaxVersion string `yaml:"maxVersion,omitempty"`
	MinBundle  string `yaml:"minBundle,omitempty"` // only in v1alpha2
}

type imageSetBundle struct {
	Name string `yaml:"name"`
}

// imageSetShape is the form of an ImageSetConfiguration. What a mirror contains depends on the
// packages, so their fields are all known.
var imageSetShape = func() *yamlShape {
	ranged := func(fields map[string]*yamlShape) *yamlShape {
		for _, name := range []string{"name", "minVersion", "maxVersion", "minBundle"} {
			fields[name] = yamlText
		}
		return &yamlShape{fields: fields}
	}
	packages := ranged(map[string]*yamlShape{
		"defaultChannel": yamlText,
		"channels":       yamlList(ranged(map[string]*yamlShape{})),
		"bundles":        yamlList(&yamlShape{fields: map[string]*yamlShape{"name": yamlText}}),
	})
	operator := &yamlShape{open: true, fields: map[string]*yamlShape{
		"catalog": yamlText, "full": yamlBool, "skipDependencies": yamlBool, "packages": yamlList(packages),
	}}
	mirror := &yamlShape{open: true, fields: map[string]*yamlShape{"operators": yamlList(operator)}}
	return &yamlShape{open: true, fields: map[string]*yamlShape{"apiVersion": yamlText, "kind": yamlText, "mirror": mirror}}
}()

// readImageSet reads an ImageSetConfiguration.
func (l *loader) readImageSet(ctx context.Context, name string) (*imageSet, error) {
	in, err := l.input(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("--imageset: %w", err)
	}
	defer in.Close()
	set, err := parseImageSet(io.LimitReader(in, l.limits.load.WithDefaults().DocumentSize))
	if err != nil {
		return nil, fmt.Errorf("--imageset: %s: %w", display(name), err)
	}
	return set, nil
}

func parseImageSet(in io.Reader) (*imageSet, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(in).Decode(&doc); err == io.EOF {
		return nil, errors.New("is empty")
	} else if err != nil {
		return nil, err
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is not an object")
	}
	var head struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
	}
	if err := doc.Decode(&head); err != nil {
		return nil, err
	}
	if head.Kind != imageSetKind || head.APIVersion != imageSetV1 && head.APIVersion != imageSetV2 {
		return nil, fmt.Errorf("is %q of %q; it must be an %s of %s or %s", head.Kind, head.APIVersion, imageSetKind, imageSetV1, imageSetV2)
	}
	if err := imageSetShape.check(doc.Content[0], ""); err != nil {
		return nil, err
	}
	s := &imageSet{doc: &doc, isV1: head.APIVersion == imageSetV1}
	operators := member(member(doc.Content[0], "mirror"), "operators")
	if operators == nil || len(operators.Content) == 0 {
		return nil, errors.New("/mirror/operators is missing or empty; name a catalog there")
	}
	for i, n := range operators.Content {
		o := imageSetOperator{node: n}
		if err := n.Decode(&o); err != nil {
			return nil, fmt.Errorf("/mirror/operators/%d: %w", i, err)
		}
		if err := o.check(); err != nil {
			return nil, fmt.Errorf("line %d: /mirror/operators/%d%w", n.Line, i, err)
		}
		s.operators = append(s.operators, o)
	}
	return s, nil
}

// member returns the value of a key of a mapping, or nil.
func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// check returns an error, which begins with a JSON pointer, for combinations that oc-mirror
// rejects.
func (o *imageSetOperator) check() error {
	if o.node.Kind != yaml.MappingNode || o.Catalog == "" {
		return errors.New("/catalog: is missing; name the image of the catalog")
	}
	if n := member(o.node, "headsOnly"); n != nil {
		return errors.New("/headsOnly: is a field of v1alpha1; write full: true in place of headsOnly: false, and omit headsOnly: true")
	}
	for i, p := range o.Packages {
		own := p.imageSetRange != imageSetRange{}
		hasRange := own || slices.ContainsFunc(p.Channels, func(c imageSetChannel) bool { return c.imageSetRange != imageSetRange{} })
		switch {
		case own && len(p.Channels) > 0:
			return fmt.Errorf("/packages/%d: has channels and versions; move the versions to the channels", i)
		case p.Name == "":
			return fmt.Errorf("/packages/%d/name: is missing", i)
		case o.Full && hasRange:
			return fmt.Errorf("/packages/%d: has versions, which full: true does not allow", i)
		case len(p.Bundles) > 0 && (len(p.Channels) > 0 || hasRange):
			return fmt.Errorf("/packages/%d: has bundles and channels or versions; choose one", i)
		}
	}
	return nil
}

// path returns the catalog as an argument of the command line.
func (o *imageSetOperator) path() string {
	if dir, ok := strings.CutPrefix(o.Catalog, "oci://"); ok {
		return "oci:" + dir
	}
	if isReference(o.Catalog) {
		return o.Catalog
	}
	return registryScheme + o.Catalog
}

// everyVersion is a range that contains all versions.
const everyVersion = ">=0.0.0-0"

// request returns what to keep of the catalog.
func (o *imageSetOperator) request(cat *graph.Catalog) (subset.Request, error) {
	r := subset.Request{NoDependencies: o.SkipDependencies}
	all := func(p graph.Package) (names []string) {
		for ch := range p.Channels() {
			names = append(names, ch.Name())
		}
		return names
	}
	if len(o.Packages) == 0 {
		for p := range cat.Packages() {
			w := subset.Want{Package: p.Name()}
			if o.Full {
				w.Channels, w.Versions = all(p), everyVersion
			}
			r.Packages = append(r.Packages, w)
		}
	}
	for _, x := range o.Packages {
		p, ok := cat.Package(x.Name)
		if !ok {
			return r, noPackage(o.Catalog, x.Name, namesOf([]*graph.Catalog{cat}))
		}
		add := func(versions string, channels ...string) {
			r.Packages = append(r.Packages, subset.Want{Package: x.Name, Channels: channels, Versions: versions})
		}
		if len(x.Bundles) > 0 {
			for _, b := range x.Bundles {
				if err := x.bundle(p, b.Name, add); err != nil {
					return r, err
				}
			}
			continue
		}
		channels := x.Channels
		switch {
		case len(channels) == 0 && o.Full:
			add(everyVersion, all(p)...)
		case len(channels) == 0:
			channels = []imageSetChannel{{p.DefaultChannelName(), x.imageSetRange}}
		}
		for _, ch := range channels {
			versions, err := ch.versions(p)
			if err != nil {
				return r, fmt.Errorf("package %s: channel %s: %w", x.Name, ch.Name, err)
			}
			if o.Full {
				versions = everyVersion
			}
			add(versions, ch.Name)
		}
	}
	return r, nil
}

// bundle adds a bundle in all channels that have it.
func (x *imageSetPackage) bundle(p graph.Package, name string, add func(versions string, channels ...string)) error {
	b, ok := p.Bundle(name)
	if !ok || !b.HasVersion() {
		return fmt.Errorf("package %s: the catalog has no bundle %q with a version", x.Name, name)
	}
	var channels []string
	for e := range b.Entries() {
		channels = append(channels, e.Channel().Name())
	}
	add("="+b.Version().String(), channels...)
	return nil
}

// versions returns the range of a channel, which includes prereleases, or "" for only the head.
func (r *imageSetRange) versions(p graph.Package) (string, error) {
	lowest := r.MinVersion
	if lowest == "" && r.MinBundle != "" {
		b, ok := p.Bundle(r.MinBundle)
		if !ok || !b.HasVersion() {
			return "", fmt.Errorf("minBundle: the catalog has no bundle %q with a version", r.MinBundle)
		}
		lowest = b.Version().String()
	}
	if lowest == "" && r.MaxVersion == "" {
		return "", nil
	}
	parts := []string{everyVersion}
	for _, limit := range [][2]string{{">=", lowest}, {"<=", r.MaxVersion}} {
		if limit[1] == "" {
			continue
		}
		if _, err := semver.Parse(limit[1]); err != nil {
			return "", fmt.Errorf("version %q: %w; write a version such as 1.2.3", limit[1], err)
		}
		parts = append(parts, limit[0]+limit[1])
	}
	isPrerelease := func(b graph.Bundle) bool { return b.HasVersion() && len(b.Version().Pre) > 0 }
	if !slices.ContainsFunc(slices.Collect(p.Bundles()), isPrerelease) {
		parts = parts[1:]
	}
	return strings.Join(parts, ", "), nil
}

// above returns warnings about channels that keep versions newer than maxVersion, because the
// part needs the upgrades to the head.
func (o *imageSetOperator) above(s *subset.Subset) (warnings []string) {
	for _, x := range o.Packages {
		for _, p := range s.Packages {
			if p.Name != x.Name {
				continue
			}
			for _, ch := range append([]imageSetChannel{{p.DefaultChannel, x.imageSetRange}}, x.Channels...) {
				top, err := semver.Parse(ch.MaxVersion)
				if err != nil {
					continue
				}
				var list []string
				for _, b := range p.Bundles {
					if v, err := semver.Parse(b.Version); err == nil && v.GT(top) && slices.ContainsFunc(p.Channels, func(c subset.Channel) bool { return c.Name == ch.Name && slices.Contains(c.Entries, b.Name) }) {
						list = append(list, b.Name)
					}
				}
				if len(list) > 0 {
					warnings = append(warnings, fmt.Sprintf("package %s: channel %s also needs %s above maxVersion %s: upgrades lead to the head of a channel", x.Name, ch.Name, phrase.And(list), ch.MaxVersion))
				}
			}
		}
	}
	return warnings
}

// keep replaces the packages of an operator with those of a part of its catalog. It returns
// warnings about versions that the configuration cannot exclude.
func (s *imageSet) keep(o *imageSetOperator, part *subset.Subset, cat *graph.Catalog) (warnings []string, err error) {
	var list []imageSetPackage
	for _, p := range part.Packages {
		x, extra := imageSetOf(&p, cat, s.isV1)
		if len(extra) > 0 {
			warnings = append(warnings, fmt.Sprintf("package %s: the ranges of %s also contain %s, which no upgrade needs; v2alpha1 can list bundles instead", p.Name, imageSetV1, phrase.And(extra)))
		}
		list = append(list, x)
	}
	var packages yaml.Node
	if err := packages.Encode(list); err != nil {
		return nil, err
	}
	content := o.node.Content[:0:0]
	for i := 0; i+1 < len(o.node.Content); i += 2 {
		if key := o.node.Content[i].Value; key != "full" && key != "packages" {
			content = append(content, o.node.Content[i], o.node.Content[i+1])
		}
	}
	o.node.Style = 0
	o.node.Content = append(content, &yaml.Node{Kind: yaml.ScalarNode, Value: "packages"}, &packages)
	return warnings, nil
}

// imageSetOf returns the configuration of a package. Ranges of channels are used if they contain
// exactly the kept bundles, or if the configuration cannot list bundles. It also returns the
// names of other bundles in the ranges.
func imageSetOf(p *subset.Package, cat *graph.Catalog, isV1 bool) (imageSetPackage, []string) {
	out := imageSetPackage{Name: p.Name}
	pkg, _ := cat.Package(p.Name)
	if p.DefaultChannel != pkg.DefaultChannelName() {
		out.DefaultChannel = p.DefaultChannel
	}
	exact := true
	var extra []string
	for _, ch := range p.Channels {
		var kept []semver.Version
		whole, _ := pkg.Channel(ch.Name)
		for e := range whole.Entries() {
			if b, ok := e.Bundle(); ok && slices.Contains(ch.Entries, e.Name()) {
				exact = exact && b.HasVersion()
				kept = append(kept, b.Version())
			}
		}
		if len(kept) == 0 {
			continue
		}
		lowest, highest := slices.MinFunc(kept, semver.Version.Compare), slices.MaxFunc(kept, semver.Version.Compare)
		for e := range whole.Entries() {
			if b, ok := e.Bundle(); ok && b.HasVersion() && b.Version().GTE(lowest) && b.Version().LTE(highest) && !slices.Contains(ch.Entries, e.Name()) {
				extra = append(extra, e.Name())
			}
		}
		out.Channels = append(out.Channels, imageSetChannel{ch.Name, imageSetRange{MinVersion: lowest.String(), MaxVersion: highest.String()}})
	}
	if isV1 || exact && len(extra) == 0 {
		slices.Sort(extra)
		return out, slices.Compact(extra)
	}
	out.Channels = nil
	for _, b := range p.Bundles {
		out.Bundles = append(out.Bundles, imageSetBundle{b.Name})
	}
	return out, nil
}

// write writes the configuration as YAML.
func (s *imageSet) write(w io.Writer) error {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := cmp.Or(enc.Encode(s.doc), enc.Close()); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// newImageSet returns a configuration for one catalog.
func newImageSet(path string) (*imageSet, error) {
	ref, ok := referenceOf(path)
	catalog, isImage := strings.CutPrefix(ref.text, registryScheme)
	if dir, isLayout := strings.CutPrefix(ref.text, "oci:"); isLayout {
		catalog, isImage = "oci://"+dir, true
	}
	if !ok || !isImage {
		return nil, usagef("an ImageSetConfiguration refers to its catalog by image; name an image instead of %s, or the configuration with --imageset", display(path))
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": imageSetV2, "kind": imageSetKind,
		"mirror": map[string]any{"operators": []any{map[string]any{"catalog": catalog}}},
	})
	if err != nil {
		return nil, err
	}
	return parseImageSet(bytes.NewReader(text))
}
