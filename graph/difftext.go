package graph

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
)

// String returns the changes as text, breaking changes first.
func (d *Diff) String() string {
	if d.IsEmpty() {
		return "No changes.\n"
	}
	var b strings.Builder
	list := func(format string, names ...string) {
		if len(names) > 0 {
			visible.Fprintf(&b, format, strings.Join(names, ", "))
		}
	}
	list("Packages removed: %s\n", d.PackagesRemoved...)
	list("Packages added: %s\n", d.PackagesAdded...)
	list("APIs no longer provided: %s\n", texts(d.APIsRemoved)...)
	for _, p := range d.Packages {
		visible.Fprintf(&b, "\n%s\n", p.Name)
		if c := p.DefaultChannel; c != nil {
			visible.Fprintf(&b, "  default channel: %s, was %s\n", c.New, c.Old)
		}
		list("  channels removed: %s\n", p.ChannelsRemoved...)
		list("  channels added: %s\n", p.ChannelsAdded...)
		list("  bundles removed: %s\n", texts(p.BundlesRemoved)...)
		list("  bundles added: %s\n", texts(p.BundlesAdded)...)
		for _, c := range p.BundlesChanged {
			visible.Fprintf(&b, "  bundle %s changed, but bundles must be immutable: %s\n", c.Name, c.String())
		}
		list("  APIs removed: %s\n", texts(p.APIsRemoved)...)
		for _, c := range p.Deprecations {
			what := strings.TrimSpace(c.Scope + " " + c.Name)
			switch {
			case c.New == "":
				visible.Fprintf(&b, "  %s: no longer deprecated\n", what)
			default:
				visible.Fprintf(&b, "  %s: deprecated: %s\n", what, visible.Words(c.New))
			}
		}
		for _, c := range p.Channels {
			visible.Fprintf(&b, "  channel %s:\n", c.Name)
			if h := c.Head; h != nil {
				visible.Fprintf(&b, "    head: %s, was %s\n", orNone(h.New), orNone(h.Old))
			}
			if len(c.Lost) == len(c.Stranded) { // all stranded nodes were lost
				list("    stranded, no longer with a path to the head: %s\n", texts(c.Lost)...)
			} else {
				list("    stranded, no path to the head: %s\n", texts(c.Stranded)...)
				list("    of these, newly stranded: %s\n", texts(c.Lost)...)
			}
			list("    now with a path to the head: %s\n", texts(c.Gained)...)
			for _, r := range c.Changed {
				visible.Fprintf(&b, "    %s upgrades to %s, was %s\n", r.From, orNone(r.New.String()), r.Old)
			}
			for _, r := range c.Ranges {
				visible.Fprintf(&b, "    skipRange of %s is %s, was %s; it also applies to versions outside the catalog\n", r.Name, orNone(r.New), orNone(r.Old))
			}
			list("    newest patch release no longer one step away: %s\n", texts(c.Behind)...)
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func texts[T fmt.Stringer](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x.String()
	}
	return out
}
