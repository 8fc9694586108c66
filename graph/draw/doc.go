// Package draw makes pictures of upgrade graphs: as Mermaid, as DOT and, without
// any program installed, as SVG.
//
//	d := draw.New(pkg, &draw.Options{Channels: []string{"stable"}, Path: steps})
//	os.WriteFile("stable.svg", []byte(d.SVG()), 0o644)
//
// Each channel is a list of its entries with the head on top. Marked are the
// head, what is skipped, deprecated or has no content, what is installed and a
// planned path. Edges by name are lines; a skipRange, which may cover a hundred
// versions, is one line that passes all of them. A graph with faults, such as
// several heads or a cycle, is drawn as it is, with the fault written over it.
package draw
