package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/graph/draw"
	"github.com/olmkit/olmkit/internal/visible"
)

// The formats of pictures, in addition to those of every command.
const (
	formatMermaid = "mermaid"
	formatDOT     = "dot"
	formatSVG     = "svg"
)

func newGraph(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph CATALOG PACKAGE",
		Short: "Show the upgrade graph of a package, also as a picture",
		Long: `Graph lists the upgrades that OLM takes in each channel of a package, the versions
with no path to a head, the heads and faults of its channels, and where classic OLM
and OLM v1 read the graph differently. With -o mermaid, dot or svg, it draws the
channels. --installed and --to mark a version and the path from it.`,
		Example: `  olmkit graph ./catalog etcd
  olmkit graph ./catalog etcd --channel stable --installed 0.9.0 -o svg > etcd.svg`,
	}
	f := addFormats(cmd, "mermaid, dot or svg for a picture", formatMermaid, formatDOT, formatSVG)
	fl := cmd.Flags()
	from, reading := addCatalog(cmd), addReading(cmd)
	var channels []string
	var installed, to string
	addList(fl, &channels, "channel", "c", "a `CHANNEL` to show (repeatable; default all)")
	fl.StringVarP(&installed, "installed", "i", "", "mark what is installed, and its path: `VERSION`, the name of a bundle, or BUNDLE@VERSION for a bundle that is in no catalog")
	fl.StringVar(&to, "to", "", "mark the shortest path to a `VERSION` or bundle instead of that to the head")
	cmd.ValidArgsFunction = from.completeArgs(e, 0)
	completeFlag(cmd, "channel", from.completeChannel(e))
	completeFlag(cmd, "installed", from.completeOperand(e))
	completeFlag(cmd, "to", from.completeOperand(e))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l := newLoader(e)
		l.onDemand = true
		p, args, err := from.pkg(cmd.Context(), l, args)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			return usagef("unexpected argument %s; give only one package", strings.Join(args, ", "))
		}
		if err := checkChannels(p, channels); err != nil {
			return err
		}
		o := &graph.UpgradeOptions{Channels: channels}
		var path []graph.Step
		if installed != "" {
			n, err := findNode(p, installed)
			if err != nil {
				return fmt.Errorf("--installed %s: %w", installed, err)
			}
			o.Installed = []graph.Node{n}
			u := p.Upgrades(*reading, o)
			w := u.Walk(n)
			path = w.Steps
			if to != "" {
				end, err := findNode(p, to)
				if err != nil {
					return fmt.Errorf("--to %s: %w", to, err)
				}
				var ok bool
				if path, ok = u.Path(n, end); !ok {
					visible.Fprintf(e.stderr, "note: no path leads from %s to %s\n", n, end)
				}
			}
		} else if to != "" {
			return usagef("--to requires --installed, where the path begins; give both")
		}
		d := draw.New(p, &draw.Options{Channels: channels, Installed: o.Installed, Path: path})
		switch *f {
		case formatMermaid:
			_, err = io.WriteString(e.stdout, d.Mermaid())
		case formatDOT:
			_, err = io.WriteString(e.stdout, d.DOT())
		case formatSVG:
			_, err = io.WriteString(e.stdout, d.SVG())
		default:
			u := p.Upgrades(*reading, o)
			if u.Err() != nil {
				return u.Err()
			}
			err = (&printer{w: e.stdout, format: *f}).print(&graphAnswer{
				Package: p.Name(), Reading: *reading, Channels: graphChannels(p, channels), Faults: channelFaults(p, channels), Heads: u.Heads(), Nodes: slices.Collect(u.Nodes()), Steps: slices.Collect(u.AllSteps()),
				Stranded: slices.Collect(u.Stranded()), Installed: o.Installed, Path: path, Disagreements: p.Disagreements(o), p: p, u: u,
			})
		}
		return err
	}
	return cmd
}

// A graphAnswer is the upgrade graph of a package.
type graphAnswer struct {
	Package string        `json:"package"`
	Reading graph.Reading `json:"reading"`
	// Channels are the selected channels, sorted by name.
	Channels []graphChannel `json:"channels"`
	// Faults lists the faults of those channels, in order of position.
	Faults   []channelFault `json:"faults,omitempty"`
	Heads    []graph.Node   `json:"heads"`
	Nodes    []graph.Node   `json:"nodes"`
	Steps    []graph.Step   `json:"steps"`
	Stranded []graph.Node   `json:"stranded"`
	// Installed has the bundle of --installed.
	Installed []graph.Node `json:"installed,omitempty"`
	// Path are the upgrades from there to the head, or the shortest path to --to.
	Path []graph.Step `json:"path,omitempty"`
	// Disagreements lists the nodes from which classic and v1 upgrade
	// differently.
	Disagreements []graph.Disagreement `json:"disagreements"`

	p graph.Package
	u *graph.Upgrades
}

// A graphChannel is a channel and the names of its heads (B1). A valid channel has exactly one
// head.
type graphChannel struct {
	Name  string   `json:"name"`
	Heads []string `json:"heads"`
}

// A channelFault is something wrong with a channel.
type channelFault struct {
	Code    fbc.Code `json:"code"`
	Channel string   `json:"channel"`
	Message string   `json:"message"`
}

// graphChannels returns the named channels, or all, with their heads by name: the
// entries that no other entry replaces or skips.
func graphChannels(p graph.Package, names []string) []graphChannel {
	out := []graphChannel{}
	for ch := range p.Channels() {
		if names != nil && !slices.Contains(names, ch.Name()) {
			continue
		}
		below := map[string]bool{}
		for e := range ch.Entries() {
			note := func(name string) { below[name] = below[name] || name != e.Name() }
			note(e.Replaces())
			for s := range e.Skips() {
				note(s)
			}
		}
		c := graphChannel{Name: ch.Name(), Heads: []string{}}
		for e := range ch.Entries() {
			if !below[e.Name()] {
				c.Heads = append(c.Heads, e.Name())
			}
		}
		out = append(out, c)
	}
	return out
}

// channelFaults returns the faults of the named channels, or of all.
func channelFaults(p graph.Package, names []string) []channelFault {
	var out []channelFault
	for _, d := range p.Catalog().Findings() {
		if d.Schema == fbc.SchemaChannel && d.Package == p.Name() && (names == nil || slices.Contains(names, d.Name)) {
			out = append(out, channelFault{d.Code, d.Name, d.Err.Error()})
		}
	}
	return out
}

func (a *graphAnswer) text(w io.Writer) error {
	t := table{header: []string{"FROM", "NEXT", "BY", "NOTE"}}
	stranded := map[graph.Node]bool{}
	for _, n := range a.Stranded {
		stranded[n] = true
	}
	next := a.successors()
	for _, n := range a.newestFirst() {
		mark := notes(note(slices.Contains(a.Heads, n), "head"), note(slices.Contains(a.Installed, n), "installed"), a.where(n), note(stranded[n], "stranded"))
		if len(next[n]) == 0 {
			t.add(n.String(), "", "", mark)
		}
		for _, s := range next[n] {
			onPath := slices.ContainsFunc(a.Path, func(x graph.Step) bool { return x.From == s.From && x.To == s.To })
			t.add(n.String(), s.To.String(), s.Why(), notes(mark, note(onPath, "on the path")))
		}
	}
	if err := t.text(w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\nHeads of the channels:\n"); err != nil {
		return err
	}
	for _, c := range a.Channels {
		if _, err := visible.Fprintf(w, "  %s: %s\n", c.Name, cmp.Or(strings.Join(c.Heads, ", "), "none")); err != nil {
			return err
		}
	}
	for i, x := range a.Faults {
		if i == 0 {
			if _, err := io.WriteString(w, "\nFaults:\n"); err != nil {
				return err
			}
		}
		if _, err := visible.Fprintf(w, "  %s: %s (%s)\n", x.Channel, visible.Words(x.Message), x.Code); err != nil {
			return err
		}
	}
	for i, d := range a.Disagreements {
		if i == 0 {
			if _, err := io.WriteString(w, "\nClassic OLM and OLM v1 differ:\n"); err != nil {
				return err
			}
		}
		if _, err := visible.Fprintf(w, "  from %s: classic %s, v1 %s%s%s\n", d.From, nextText(d.Classic), nextText(d.V1),
			onlyText("classic", d.OnlyClassic), onlyText("v1", d.OnlyV1)); err != nil {
			return err
		}
	}
	return nil
}

// where returns where the catalog has a node that is in none of the channels, or "".
func (a *graphAnswer) where(n graph.Node) string {
	b, ok := a.p.Bundle(n.Name)
	if !ok {
		return note(a.u.IsVirtual(n), "no content")
	}
	place := "in no channel"
	for e := range b.Entries() {
		if slices.ContainsFunc(a.Channels, func(c graphChannel) bool { return c.Name == e.Channel().Name() }) {
			return ""
		}
		place = "in another channel"
	}
	return place
}

// newestFirst returns the nodes in the order of the table: names without a version, then the newest first.
func (a *graphAnswer) newestFirst() []graph.Node {
	others := func(n graph.Node) bool { return n.Version != "" && a.where(n) != "" } // last in Nodes, whatever their version
	all := slices.Clone(a.Nodes)
	slices.Reverse(all)
	nodes := slices.DeleteFunc(slices.Clone(all), others)
	for _, n := range all {
		if !others(n) {
			continue
		}
		i := slices.IndexFunc(nodes, func(x graph.Node) bool { return older(x, n) })
		if i < 0 {
			i = len(nodes)
		}
		nodes = slices.Insert(nodes, i, n)
	}
	return nodes
}

// successors returns the upgrades of each node: those that OLM takes in any of the channels, the preferred ones first,
// then that on the path.
func (a *graphAnswer) successors() map[graph.Node][]graph.Step {
	takes := map[[2]graph.Node]bool{}
	for _, ch := range a.Channels {
		u := a.p.Upgrades(a.Reading, &graph.UpgradeOptions{Channels: []string{ch.Name}, Installed: a.Installed})
		for n := range u.Nodes() {
			if s, ok := u.Next(n); ok {
				takes[[2]graph.Node{s.From, s.To}] = true
			}
		}
	}
	for _, s := range a.Path {
		takes[[2]graph.Node{s.From, s.To}] = true
	}
	next := map[graph.Node][]graph.Step{}
	for _, s := range a.Steps {
		if takes[[2]graph.Node{s.From, s.To}] && s.From != s.To { // an entry that accepts itself has no effect
			next[s.From] = append(next[s.From], s)
		}
	}
	return next
}

func nextText(s *graph.Step) string {
	if s == nil {
		return "stays"
	}
	return "goes to " + s.To.String()
}

func onlyText(who string, list []graph.Node) string {
	if len(list) == 0 {
		return ""
	}
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.String()
	}
	return fmt.Sprintf("; only %s gets to %s", who, strings.Join(names, ", "))
}
