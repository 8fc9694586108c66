package subset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/near"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A Request lists what a part of a catalog must contain. It can be marshaled to JSON.
type Request struct {
	FormatVersion document.FormatVersion `json:"formatVersion"`
	// Packages may be in any order, and a package may be listed several times.
	Packages  []Want      `json:"packages"`
	Installed []Installed `json:"installed,omitempty"`
	// KeepInstalled also keeps the installed bundles that the catalog has, and the entries
	// between them and the head, for mirrors that must keep their images. Upgrades do not
	// need them, because an edge only names the bundle that it replaces.
	KeepInstalled bool `json:"keepInstalled,omitzero"`
	// NoDependencies omits the dependencies of kept bundles.
	NoDependencies bool `json:"noDependencies,omitzero"`
	// Reading selects how edges are read. The part preserves upgrades under this reading; its channels are valid under
	// both.
	Reading graph.Reading `json:"reading,omitzero"`
}

// MarshalJSON returns the request as an object. Its required lists are never null.
func (r Request) MarshalJSON() ([]byte, error) {
	type plain Request
	return json.Marshal(plain(r), json.Deterministic(true))
}

// A Want is a package to keep.
type Want struct {
	Package string `json:"package"`
	// Channels default to the default channel.
	Channels []string `json:"channels,omitempty"`
	// Versions is a range in the syntax of [olmv1.VersionRange]. Default: only
	// the heads.
	Versions string `json:"versions,omitempty"`
}

// An Installed is an operator whose upgrades the part must contain.
type Installed struct {
	Package string `json:"package"`
	Name    string `json:"name"`
	// Version defaults to the version of the bundle in the catalog.
	Version string `json:"version,omitempty"`
	// Channel defaults to the default channel, and in OLM v1 to all channels.
	Channel string `json:"channel,omitempty"`
}

// wanted keeps the requested packages.
func (c *cut) wanted(r *Request) error {
	for i, w := range r.Packages {
		path := fmt.Sprintf("/packages/%d", i)
		p, ok := c.catalog.Package(w.Package)
		if !ok {
			return c.noPackage(path, w.Package)
		}
		var rng olmv1.VersionRange
		if w.Versions != "" {
			var err error
			if rng, err = olmv1.ParseVersionRange(w.Versions); err != nil {
				return &document.Error{Path: path + "/versions", Err: err}
			}
		}
		channels := w.Channels
		if len(channels) == 0 {
			channels = []string{p.DefaultChannelName()}
		}
		found := rng.IsZero()
		for _, name := range channels {
			ch, ok := p.Channel(name)
			if !ok {
				return document.Errorf(path+"/channels", "package %q has no channel %q, only %s", w.Package, name, channelNames(p))
			}
			c.head(ch)
			for e := range ch.Entries() {
				if b, ok := e.Bundle(); ok && !rng.IsZero() && b.HasVersion() && rng.Contains(b.Version()) {
					c.keep(e, "is in the range "+w.Versions)
					found = true
				}
			}
		}
		if !found {
			c.warnf("package %s has no version in range %q in the requested channels; only heads are kept", w.Package, w.Versions)
		}
	}
	for i, x := range r.Installed {
		if err := c.installed(fmt.Sprintf("/installed/%d", i), x); err != nil {
			return err
		}
	}
	return nil
}

// noPackage returns the error for a missing package, with suggestions.
func (c *cut) noPackage(path, name string) error {
	text := fmt.Sprintf("the catalog has no package %q", name)
	if likely := near.Names(name, slices.Collect(c.catalog.PackageNames()), 3); len(likely) > 0 {
		text += "; did you mean " + strings.Join(likely, ", ") + "?"
	}
	return &document.Error{Path: path + "/package", Err: errors.New(text)}
}

// installed keeps the bundles between an installed operator and the head.
func (c *cut) installed(path string, x Installed) error {
	p, ok := c.catalog.Package(x.Package)
	if !ok {
		return c.noPackage(path, x.Package)
	}
	n := graph.Node{Name: x.Name, Version: x.Version}
	b, known := p.Bundle(x.Name)
	if n.Version == "" && known {
		n = b.Node()
	}
	if n.Version != "" {
		if _, err := semver.Parse(n.Version); err != nil {
			return &document.Error{Path: path + "/version", Err: version.Error(n.Version, err)}
		}
	}
	o := &graph.UpgradeOptions{Installed: []graph.Node{n}}
	switch {
	case x.Channel != "":
		if _, ok := p.Channel(x.Channel); !ok {
			return document.Errorf(path+"/channel", "package %q has no channel %q, only %s", x.Package, x.Channel, channelNames(p))
		}
		o.Channels = []string{x.Channel}
	case c.reading == graph.Classic:
		o.Channels = []string{p.DefaultChannelName()}
	}
	for _, name := range o.Channels {
		if ch, ok := p.Channel(name); ok {
			c.head(ch)
		}
	}
	u := p.Upgrades(c.reading, o)
	if u.Err() != nil {
		return &document.Error{Path: path, Err: u.Err()}
	}
	w := u.Walk(n)
	for _, s := range w.Steps {
		c.keepStep(p, s, fmt.Sprintf("is on the path of %s, which is installed", n))
	}
	why := ""
	switch {
	case c.keepInstalled:
		why = "is installed"
	case len(w.Steps) == 0 && c.reading == graph.V1:
		why = "is installed and has no successor" // OLM v1 needs it in this case
	}
	if known && why != "" {
		for e := range b.Entries() {
			if len(o.Channels) == 0 || slices.Contains(o.Channels, e.Channel().Name()) {
				c.keep(e, why)
				break
			}
		}
	}
	if _, ok := u.PathToHead(n); !ok {
		c.warnf("package %s: %s has no upgrade path to the head in the catalog", x.Package, n)
	}
	return nil
}

// keepStep keeps the target of a step, in the channel of its first edge.
func (c *cut) keepStep(p graph.Package, s graph.Step, why string) {
	b, ok := p.Bundle(s.To.Name)
	if !ok {
		return
	}
	for e := range b.Entries() {
		if r := s.Reasons[0]; r.Channel == "" || e.Channel().Name() == r.Channel {
			c.keep(e, why)
			return
		}
	}
}

func channelNames(p graph.Package) string {
	s := ""
	for ch := range p.Channels() {
		if s != "" {
			s += ", "
		}
		s += ch.Name()
	}
	return s
}
