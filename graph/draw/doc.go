// Package draw draws upgrade graphs as Mermaid, DOT or, without an external program, SVG.
//
//	d := draw.New(pkg, &draw.Options{Channels: []string{"stable"}, Path: steps})
//	os.WriteFile("stable.svg", []byte(d.SVG()), 0o644)
//
// Each channel is a list of its entries with the head on top. The head, the installed
// bundles, a planned path, and entries that are skipped, deprecated or without a bundle
// are marked. Edges by name are lines. A skipRange, which may cover a hundred versions, is
// one line that passes all of them. A graph with faults, such as several heads or a cycle,
// is drawn as it is, with the faults written over it.
package draw
