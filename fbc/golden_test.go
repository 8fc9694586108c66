package fbc

import (
	"fmt"
	"strings"
)

// describe returns the result of a load: the blobs, findings and errors.
func describe(c *Catalog, err error) string {
	var b strings.Builder
	if c != nil {
		for _, m := range metas(c) {
			fmt.Fprintf(&b, "%s: %s %q of %q\n", m.Pos, m.Schema, m.Name, m.Package)
		}
		for _, d := range c.Findings {
			fmt.Fprintf(&b, "%s [%s] %v\n", d.Severity, d.Code, d)
		}
	}
	switch err := err.(type) {
	case nil:
	case Diagnostics:
		for _, d := range err {
			fmt.Fprintf(&b, "refused [%s] %v\n", d.Code, d)
		}
	default:
		fmt.Fprintf(&b, "error %v\n", err)
	}
	return b.String()
}

// metas returns the Meta of all blobs, ordered by kind.
func metas(c *Catalog) []*Meta {
	var all []*Meta
	for _, x := range c.Packages {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Channels {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Bundles {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Deprecations {
		all = append(all, &x.Meta)
	}
	for _, x := range c.Others {
		all = append(all, &x.Meta)
	}
	return all
}
