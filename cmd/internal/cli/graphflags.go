package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
)

// addReading adds the flag that chooses between the two readings of a graph.
func addReading(cmd *cobra.Command) *graph.Reading {
	r := graph.Classic
	cmd.Flags().Var(readingValue{&r}, "reading", "how to read the graph: classic as classic OLM (v0) does, or v1 as OLM v1 does")
	complete(cmd, "reading", graph.Classic.String(), graph.V1.String())
	return &r
}

// A readingValue is the value of --reading.
type readingValue struct{ r *graph.Reading }

// String, Set and Type implement pflag.Value.
func (v readingValue) String() string { return v.r.String() }
func (v readingValue) Type() string   { return graph.Classic.String() + "|" + graph.V1.String() }
func (v readingValue) Set(s string) error {
	if err := v.r.UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("write one of %s, %s", graph.Classic, graph.V1)
	}
	return nil
}

// checkChannels reports a channel that a package does not have.
func checkChannels(p graph.Package, names []string) error {
	for _, name := range names {
		if _, ok := p.Channel(name); !ok {
			var known []string
			for ch := range p.Channels() {
				known = append(known, ch.Name())
			}
			return fmt.Errorf("package %s has no channel %q%s", p.Name(), name, cmp.Or(hint(name, known), "; it has "+phrase.Few(known)))
		}
	}
	return nil
}

// findNode returns the node that an operand names in a package.
func findNode(p graph.Package, text string) (graph.Node, error) {
	return nodeOf(findOperand(text, []*graph.Catalog{p.Catalog()}, p.Name()))
}

// findFrom is findNode for an installed operator; see findInstalled.
func (l *loader) findFrom(p graph.Package, text string) (graph.Node, error) {
	return nodeOf(l.findInstalled(text, []*graph.Catalog{p.Catalog()}, p.Name()))
}

func nodeOf(o operand, err error) (graph.Node, error) {
	if err == nil && o.channel != "" {
		err = fmt.Errorf("a channel is not allowed here; name channels with --channel")
	}
	return o.Node, err
}
