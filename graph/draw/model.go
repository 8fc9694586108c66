package draw

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
)

// Options adjust a drawing. A nil *Options means all defaults.
type Options struct {
	// Channels to draw. Default: all, the default channel first, then by name.
	Channels []string
	// Installed bundles are marked. One that is in no channel is drawn if an edge
	// admits it.
	Installed []graph.Node
	// Path is a list of steps to mark.
	Path []graph.Step
}

// A Drawing is a package or some of its channels, ready to be drawn. It is immutable
// and safe for concurrent use.
type Drawing struct {
	title  string
	panels []panel
}

// A panel is a channel.
type panel struct {
	name   string
	notes  []note // default, deprecated, faults
	rows   []row  // from the head down
	edges  []edge // by name
	ranges []cover
	path   []edge
}

// A note is a line of text above a channel.
type note struct {
	text  string
	fault bool
}

// A row is an entry, or a name that only edges mention.
type row struct {
	label   string
	marks   []mark // after the label
	version *semver.Version

	head, skipped, deprecated, installed, virtual, onPath bool
}

// A mark is a text after the label of a row.
type mark struct {
	kind markKind
	text string
}

// A markKind decides how a mark is drawn.
type markKind int

const (
	markOther markKind = iota
	markHead
	markInstalled
	markSkipped
	markDeprecated
	markRange // which the text formats draw as a box
)

// An edge leads from one row up to another.
type edge struct {
	from, to int
	kind     graph.Edge
}

// A cover is a skipRange of a row, and the rows that it covers.
type cover struct {
	to   int
	text string
	rows []int
}

// New returns the drawing of a package.
func New(p graph.Package, opts *Options) *Drawing {
	if opts == nil {
		opts = &Options{}
	}
	d := &Drawing{title: p.Name()}
	var list []graph.Channel
	if opts.Channels != nil {
		for _, name := range opts.Channels {
			if ch, ok := p.Channel(name); ok {
				list = append(list, ch)
			}
		}
	} else {
		if ch, ok := p.DefaultChannel(); ok {
			list = append(list, ch)
		}
		for ch := range p.Channels() {
			if !ch.IsDefault() {
				list = append(list, ch)
			}
		}
	}
	for _, ch := range list {
		d.panels = append(d.panels, newPanel(ch, opts))
	}
	return d
}

// A panelBuilder turns the entries of a channel into rows in order.
type panelBuilder struct {
	panel
	ch      graph.Channel
	opts    *Options
	names   []string
	number  map[string]int
	entries []graph.Entry // of each row; the zero Entry for a name
}

func newPanel(ch graph.Channel, opts *Options) panel {
	b := &panelBuilder{ch: ch, opts: opts, number: map[string]int{}}
	b.name = ch.Name()
	if ch.IsDefault() {
		b.notes = append(b.notes, note{text: "default channel"})
	}
	if m, ok := ch.Deprecation(); ok {
		b.notes = append(b.notes, note{text: "deprecated: " + visible.Words(m)})
	}
	b.notes = append(b.notes, faults(ch)...)
	b.collect()
	b.connect()
	b.sort()
	b.mark()
	return b.panel
}

// maxFaults is the maximum number of faults that are written over a channel.
const maxFaults = 5

// faults returns the faults of a channel.
func faults(ch graph.Channel) []note {
	var out []note
	for _, p := range ch.Package().Catalog().Findings() {
		if p.Schema != fbc.SchemaChannel || p.Name != ch.Name() || p.Package != ch.Package().Name() {
			continue
		}
		if len(out) == maxFaults {
			return append(out, note{text: "and more faults", fault: true})
		}
		out = append(out, note{text: "fault: " + visible.Words(p.Err.Error()), fault: true})
	}
	return out
}

func (b *panelBuilder) add(name string, e graph.Entry) {
	if i, ok := b.number[name]; ok {
		if e != (graph.Entry{}) {
			b.entries[i] = e
		}
		return
	}
	b.number[name] = len(b.names)
	b.names = append(b.names, name)
	b.entries = append(b.entries, e)
}

// collect adds a row for each name that the channel mentions.
func (b *panelBuilder) collect() {
	for e := range b.ch.Entries() {
		b.add(e.Name(), e)
	}
	for e := range b.ch.Entries() {
		if e.Replaces() != "" {
			b.add(e.Replaces(), graph.Entry{})
		}
		for s := range e.Skips() {
			b.add(s, graph.Entry{})
		}
	}
	versions := map[string]*semver.Version{}
	for _, n := range b.opts.Installed {
		v, err := semver.Parse(n.Version)
		if err == nil {
			versions[n.Name] = &v
		}
		for e := range b.ch.Entries() {
			if err == nil && e.Admits(n.Name, v) != graph.NoEdge {
				b.add(n.Name, graph.Entry{})
				break
			}
		}
	}
	prefix := stem(b.ch.Package())
	for i, name := range b.names {
		r := row{label: name, version: versions[name]}
		if x, ok := b.bundle(i); ok && x.HasVersion() {
			v := x.Version()
			r.version = &v
		}
		if short, ok := strings.CutPrefix(name, prefix); ok && prefix != "" && (r.version == nil || short == r.version.String()) {
			r.label = short
		} else if r.version != nil && !strings.HasSuffix(name, r.version.String()) {
			r.label = name + " (" + r.version.String() + ")"
		}
		b.rows = append(b.rows, r)
	}
}

// stem returns the common beginning of all names of bundles before their version, such
// as "etcdoperator.v", or "" if they differ.
func stem(p graph.Package) string {
	all := ""
	for x := range p.Bundles() {
		s, ok := strings.CutSuffix(x.Name(), x.Node().Version)
		if !ok || s == x.Name() || all != "" && s != all {
			return ""
		}
		all = s
	}
	return all
}

// bundle returns the bundle of a row, which may be an entry of another channel only.
func (b *panelBuilder) bundle(i int) (graph.Bundle, bool) {
	return b.ch.Package().Bundle(b.names[i])
}

// connect adds the edges.
func (b *panelBuilder) connect() {
	for i, e := range b.entries {
		if e == (graph.Entry{}) {
			continue
		}
		if to, ok := b.number[e.Replaces()]; ok {
			b.edges = append(b.edges, edge{to, i, graph.Replaces})
		}
		for s := range e.Skips() {
			b.edges = append(b.edges, edge{b.number[s], i, graph.Skips})
			b.rows[b.number[s]].skipped = true
		}
		if e.SkipRange() == "" {
			continue
		}
		c := cover{to: i, text: e.SkipRange()}
		for j := range b.rows {
			if v := b.rows[j].version; v != nil && j != i && e.Admits("", *v) == graph.SkipRange {
				c.rows = append(c.rows, j)
			}
		}
		b.ranges = append(b.ranges, c)
	}
	for _, s := range b.opts.Path {
		from, ok1 := b.number[s.From.Name]
		to, ok2 := b.number[s.To.Name]
		at := slices.IndexFunc(s.Reasons, func(r graph.Reason) bool { return r.Channel == b.name || r.Channel == "" })
		if ok1 && ok2 && at >= 0 {
			b.path = append(b.path, edge{from, to, s.Reasons[at].Edge})
			b.rows[from].onPath, b.rows[to].onPath = true, true
		}
	}
}

// sort puts rows above those that they replace or skip, and higher versions first if
// edges do not decide. It renumbers everything. A cycle is cut at its highest version.
func (b *panelBuilder) sort() {
	above := make([]int, len(b.rows)) // the number of rows that must come first
	below := make([][]int, len(b.rows))
	for _, e := range b.edges {
		if e.from != e.to {
			above[e.from]++
			below[e.to] = append(below[e.to], e.from)
		}
	}
	order := make([]int, len(b.rows)) // by version
	for i := range order {
		order[i] = i
	}
	versions := make([]*semver.Version, len(b.rows))
	for i, r := range b.rows {
		if versions[i] = r.version; versions[i] == nil {
			versions[i] = guess(b.names[i])
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		v, w := versions[i], versions[j]
		switch {
		case v != nil && w != nil && !v.Equals(*w):
			return w.Compare(*v)
		case v != nil && w == nil:
			return -1
		case v == nil && w != nil:
			return 1
		}
		return strings.Compare(b.names[i], b.names[j])
	})
	place := make([]int, len(b.rows))
	var sorted []int
	for len(order) > 0 {
		k := max(slices.IndexFunc(order, func(i int) bool { return above[i] == 0 }), 0)
		i := order[k]
		order = slices.Delete(order, k, k+1)
		above[i] = -1 // placed
		place[i] = len(sorted)
		sorted = append(sorted, i)
		for _, j := range below[i] {
			above[j]--
		}
	}
	rows, entries, names := make([]row, len(sorted)), make([]graph.Entry, len(sorted)), make([]string, len(sorted))
	for at, i := range sorted {
		rows[at], entries[at], names[at] = b.rows[i], b.entries[i], b.names[i]
	}
	b.rows, b.entries, b.names = rows, entries, names
	for _, list := range [][]edge{b.edges, b.path} {
		for i := range list {
			list[i].from, list[i].to = place[list[i].from], place[list[i].to]
		}
	}
	for i := range b.ranges {
		c := &b.ranges[i]
		c.to = place[c.to]
		for j := range c.rows {
			c.rows[j] = place[c.rows[j]]
		}
		slices.Sort(c.rows)
	}
	slices.SortFunc(b.edges, func(x, y edge) int {
		if x.to != y.to {
			return x.to - y.to
		}
		if x.from != y.from {
			return x.from - y.from
		}
		return int(x.kind) - int(y.kind)
	})
	slices.SortFunc(b.ranges, func(x, y cover) int { return x.to - y.to })
}

// guess parses a version at the end of a name, for sorting.
func guess(name string) *semver.Version {
	for at, c := range name {
		if c != '.' && c != '-' {
			continue
		}
		if v, err := semver.ParseTolerant(strings.TrimPrefix(name[at+1:], "v")); err == nil {
			return &v
		}
	}
	return nil
}

// mark sets the marks of each row.
func (b *panelBuilder) mark() {
	covered := map[int]bool{}
	for _, e := range b.edges {
		covered[e.from] = true
	}
	for i := range b.rows {
		r := &b.rows[i]
		r.virtual = b.entries[i] == (graph.Entry{})
		r.head = !r.virtual && !covered[i]
		if r.head {
			r.marks = append(r.marks, mark{markHead, "head"})
		}
		if slices.ContainsFunc(b.opts.Installed, func(n graph.Node) bool { return n.Name == b.names[i] }) {
			r.installed = true
			r.marks = append(r.marks, mark{markInstalled, "installed"})
		}
		if r.skipped {
			r.marks = append(r.marks, mark{markSkipped, "skipped"})
		}
		if x, ok := b.bundle(i); ok {
			if _, r.deprecated = x.Deprecation(); r.deprecated || x.IsProhibited() {
				r.deprecated = true
				r.marks = append(r.marks, mark{markDeprecated, "deprecated"})
			}
			if r.virtual {
				r.marks = append(r.marks, mark{markOther, "in another channel"})
			}
		} else {
			r.marks = append(r.marks, mark{markOther, "no content"})
		}
	}
	for _, c := range b.ranges {
		r := &b.rows[c.to]
		r.marks = append(r.marks, mark{markRange, "skipRange " + visible.Words(c.text)})
	}
}
