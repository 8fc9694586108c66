package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
)

// A row is an item of a list. Tables show its cells; other formats encode the row itself.
type row interface{ cells() []string }

func newList(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the content of a catalog",
		Long: `List prints the packages, channels or bundles of a catalog. CATALOG is a
directory, one file, or - for standard input.`,
		Example: `  olmkit list packages ./catalog
  olmkit list channels ./catalog etcd
  olmkit list bundles --sample etcd -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("cannot list %q; list packages, channels or bundles%s", args[0], hint(args[0], subcommands(cmd)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{
		newLister(e, "packages", "List packages with the head of their default channel",
			[]string{"PACKAGE", "CHANNEL", "HEAD", "VERSION", "CHANNELS", "BUNDLES", "NOTE"}, listPackage),
		newLister(e, "channels", "List channels with their heads",
			[]string{"PACKAGE", "CHANNEL", "HEAD", "VERSION", "ENTRIES", "NOTE"}, listChannels),
		newLister(e, "bundles", "List the bundles of each channel, from the head down",
			[]string{"PACKAGE", "CHANNEL", "BUNDLE", "VERSION", "REPLACES", "SKIPS", "SKIPRANGE", "NOTE"}, listBundles),
	} {
		e.timed(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// newLister returns a command that lists the rows returned by of for one package, or for
// every package.
func newLister(e *env, noun, short string, header []string, of func(graph.Package) []row) *cobra.Command {
	cmd := &cobra.Command{
		Use:   noun + " CATALOG [PACKAGE]",
		Short: short,
		Long:  short + ", of all packages or of one.",
		Example: fmt.Sprintf(`  olmkit list %[1]s ./catalog
  olmkit list %[1]s --sample etcd`, noun),
	}
	f, from := addFormat(cmd), addCatalog(cmd)
	cmd.ValidArgsFunction = from.completeArgs(e, 0)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, args, err := from.take(args)
		if err != nil {
			return err
		}
		if len(args) > 1 {
			return usagef("give at most one package, not %s", strings.Join(args, ", "))
		}
		l := newLoader(e)
		l.onDemand = len(args) == 1
		cat, err := l.index(cmd.Context(), path)
		if err != nil {
			return err
		}
		l.note(path, cat)
		var rows []row
		if len(args) == 1 {
			p, ok := cat.Package(args[0])
			if !ok {
				return noPackage(path, args[0], namesOf([]*graph.Catalog{cat}))
			}
			rows = of(p)
		} else {
			for p := range cat.Packages() {
				rows = append(rows, of(p)...)
			}
		}
		return printRows(&printer{w: e.stdout, format: *f}, header, rows)
	}
	return cmd
}

// printRows prints a table for people, and one document per row for machines.
func printRows(p *printer, header []string, rows []row) error {
	if p.format != formatText {
		for _, r := range rows {
			if err := p.encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	t := table{header: header}
	for _, r := range rows {
		t.add(r.cells()...)
	}
	return t.text(p.w)
}

// A packageRow is a package and the head of its default channel.
type packageRow struct {
	Name           string `json:"name"`
	DefaultChannel string `json:"defaultChannel"`
	Head           string `json:"head,omitempty"`
	Version        string `json:"version,omitempty"`
	Channels       int    `json:"channels"`
	Bundles        int    `json:"bundles"`
	Deprecated     string `json:"deprecated,omitempty"`
}

func (r packageRow) cells() []string {
	return []string{r.Name, r.DefaultChannel, r.Head, r.Version, strconv.Itoa(r.Channels), strconv.Itoa(r.Bundles), note(r.Deprecated != "", "deprecated")}
}

func listPackage(p graph.Package) []row {
	r := packageRow{Name: p.Name(), DefaultChannel: p.DefaultChannelName(), Channels: len(slices.Collect(p.Channels())), Bundles: p.NumBundles()}
	if ch, ok := p.DefaultChannel(); ok {
		r.Head, r.Version = head(ch)
	}
	r.Deprecated, _ = p.Deprecation()
	return []row{r}
}

// A channelRow is a channel and its head.
type channelRow struct {
	Package    string `json:"package"`
	Name       string `json:"name"`
	Default    bool   `json:"default"`
	Head       string `json:"head,omitempty"`
	Version    string `json:"version,omitempty"`
	Entries    int    `json:"entries"`
	Deprecated string `json:"deprecated,omitempty"`
	// Error is the reason why the channel cannot be used.
	Error string `json:"error,omitempty"`
}

func (r channelRow) cells() []string {
	return []string{r.Package, r.Name, r.Head, r.Version, strconv.Itoa(r.Entries),
		notes(note(r.Default, "default"), note(r.Deprecated != "", "deprecated"), note(r.Error != "", "broken"))}
}

func listChannels(p graph.Package) []row {
	var rows []row
	for ch := range p.Channels() {
		r := channelRow{Package: p.Name(), Name: ch.Name(), Default: ch.IsDefault(), Entries: ch.NumEntries()}
		r.Head, r.Version = head(ch)
		r.Deprecated, _ = ch.Deprecation()
		if err := ch.Err(); err != nil {
			r.Error = err.Error()
		}
		rows = append(rows, r)
	}
	return rows
}

// A bundleRow is a bundle in a channel. Channel is empty if no channel contains
// the bundle.
type bundleRow struct {
	Package   string   `json:"package"`
	Channel   string   `json:"channel,omitempty"`
	Name      string   `json:"name"`
	Version   string   `json:"version,omitempty"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`
	Head      bool     `json:"head,omitzero"`
	// Skipped is set if the channel never installs the bundle.
	Skipped    bool   `json:"skipped,omitzero"`
	Deprecated string `json:"deprecated,omitempty"`
	// Error is the reason why the bundle cannot be chosen.
	Error string `json:"error,omitempty"`
}

func (r bundleRow) cells() []string {
	return []string{r.Package, r.Channel, r.Name, r.Version, r.Replaces, strings.Join(r.Skips, ","), r.SkipRange,
		notes(note(r.Head, "head"), note(r.Skipped, "skipped"), note(r.Deprecated != "", "deprecated"), note(r.Error != "", "unusable"))}
}

func listBundles(p graph.Package) []row {
	var rows []row
	placed := map[string]bool{}
	for ch := range p.Channels() {
		for _, e := range slices.SortedFunc(ch.Entries(), compareRank) {
			placed[e.Name()] = true
			r := bundleRow{Package: p.Name(), Channel: ch.Name(), Name: e.Name(), Replaces: e.Replaces(), SkipRange: e.SkipRange()}
			r.Skips = slices.Collect(e.Skips())
			rank, offered := e.Rank()
			r.Head = offered && rank == 0
			b, exists := e.Bundle()
			r.Skipped = exists && !offered && ch.Err() == nil
			r.describe(b, exists)
			rows = append(rows, r)
		}
	}
	for b := range p.Bundles() {
		if !placed[b.Name()] {
			r := bundleRow{Package: p.Name(), Name: b.Name()}
			r.describe(b, true)
			rows = append(rows, r)
		}
	}
	return rows
}

func (r *bundleRow) describe(b graph.Bundle, exists bool) {
	if !exists {
		r.Error = "the catalog has no bundle of this name"
		return
	}
	r.Version = versionText(b)
	r.Deprecated, _ = b.Deprecation()
	if err := b.Err(); err != nil {
		r.Error = err.Error()
	}
}

// versionText returns the version of a bundle, or "" if it has none.
func versionText(b graph.Bundle) string {
	if !b.HasVersion() {
		return ""
	}
	return b.Version().String()
}

// compareRank orders entries from the head down, with unreachable ones last.
func compareRank(a, b graph.Entry) int {
	ra, oka := a.Rank()
	rb, okb := b.Rank()
	switch {
	case oka && okb:
		return cmp.Compare(ra, rb)
	case oka:
		return -1
	case okb:
		return 1
	}
	return cmp.Compare(a.Name(), b.Name())
}

func head(ch graph.Channel) (name, version string) {
	e, ok := ch.Head()
	if !ok {
		return "", ""
	}
	if b, ok := e.Bundle(); ok {
		version = versionText(b)
	}
	return e.Name(), version
}

func note(on bool, word string) string {
	if on {
		return word
	}
	return ""
}

func notes(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ",")
}
