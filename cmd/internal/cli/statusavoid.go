package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
)

// A statusAvoid shows how an operator gets to the head of its channels without upgrades to avoid.
type statusAvoid struct {
	// Next is set if the next upgrade is one to avoid. Otherwise, Later is the first one to avoid that
	// OLM takes on its own. Command then keeps OLM from it, unless install plans wait for approval anyway.
	Next    bool        `json:"next,omitzero"`
	Later   *edgeImpact `json:"later,omitzero"`
	Command string      `json:"command,omitempty"`
	// Shortest is the shortest path without upgrades to avoid, with their verdicts. Avoided are the
	// upgrades on shorter paths. Without such a path, each takes at least one of Blocking.
	Shortest []edgeImpact `json:"shortest,omitempty"`
	Avoided  []edgeImpact `json:"avoided,omitempty"`
	Blocking []edgeImpact `json:"blocking,omitempty"`

	of      string      // the package
	edge    *edgeImpact // the upgrade that OLM is to be kept from
	verdict string      // of the flag
	how     string      // how to keep OLM from it
}

// acts reports whether OLM has to be kept from an upgrade.
func (x *statusAvoid) acts() bool { return x != nil && (x.Next || x.Later != nil) }

// around sets how an operator gets to the head without upgrades to avoid (G4).
func (a *avoidance) around(ctx context.Context, judge *edgeJudge, o *operatorStatus, packages []graph.Package) error {
	from := graph.Node{Name: o.Installed, Version: o.Version}
	for _, p := range packages {
		reading, channels := graph.Classic, []string{o.Channel}
		switch {
		case o.isV1():
			reading, channels = graph.V1, o.channels
		case o.Channel == "": // which means all
			channels = nil
		}
		u := p.Upgrades(reading, &graph.UpgradeOptions{Channels: channels, Installed: []graph.Node{from}})
		if u.Err() != nil {
			return u.Err()
		}
		path := &pathAnswer{From: from}
		if path.find(u); !path.OK {
			continue // it is stuck, or another catalog leads to the head
		}
		walk := u.Walk(from).Steps
		if err := (&avoidance{verdict: a.verdict}).avoiding(ctx, judge, u, path); err != nil {
			return err
		}
		x := a.ahead(o)
		x.Shortest, x.Avoided, x.Blocking = path.Impact, path.Avoided, path.Blocking
		for i := 1; i < len(walk) && !x.acts(); i++ {
			edge, err := judge.of(ctx, walk[i].From.Name, walk[i].To.Name)
			if err != nil {
				return err
			}
			if a.refuses(edge) {
				x.Later, x.edge = edge, edge
				x.hold(o, walk[i-1:])
			}
		}
		if x.Next {
			x.hold(o, path.Shortest)
		} else if len(path.Avoided) == 0 && x.Later == nil {
			return nil
		}
		o.Avoid = x
		return nil
	}
	if x := a.ahead(o); x.Next {
		x.hold(o, nil)
		o.Avoid = x
	}
	return nil
}

// ahead returns what is known of the next upgrade of an operator.
func (a *avoidance) ahead(o *operatorStatus) *statusAvoid {
	return &statusAvoid{Next: a.refuses(o.Impact), of: o.Package, edge: o.Impact, verdict: a.verdict}
}

// hold sets how to keep OLM from an upgrade of an operator: in OLM v1, with the first step of the path around
// it or before it, if there is one. Classic OLM has one install plan for all upgrades of a namespace.
func (x *statusAvoid) hold(o *operatorStatus, path []graph.Step) {
	version := o.Version
	if len(path) > 0 {
		version = path[0].To.Version
	}
	what := "an install plan with " + x.edge.To + ". Install plans have all upgrades of their namespace, so other operators there wait as well"
	switch {
	case o.isV1():
		x.how = "set the version of ClusterExtension " + o.Object.Name + " to " + version
	case o.Moves == movesApproval:
		x.how = "do not approve " + what
		return
	case x.Later != nil:
		x.how = "set installPlanApproval to Manual now, approve upgrades as far as " + x.Later.From + ", and do not approve " + what
	default:
		x.how = "set installPlanApproval to Manual, and do not approve " + what
	}
	x.Command = kubectl.Operator{V1: o.isV1(), Namespace: o.Object.Namespace, Name: o.Object.Name}.Hold(version)
}

// text prints what to avoid, and the way around it.
func (x *statusAvoid) text(w io.Writer) error {
	if x == nil {
		return nil
	}
	t := proseWriter(w)
	without := "without " + avoidText(x.verdict)
	if x.acts() {
		which := "the next"
		if x.Later != nil {
			which = "a later"
		}
		t.Line(nil, fmt.Sprintf("avoid %s upgrade of %s, %s -> %s (%s): %s", which, x.of, x.edge.From, x.edge.To, x.edge.verdictText(), x.how), "", "  ")
		if x.Command != "" {
			t.Verbatim(x.Command, "  ")
		}
	}
	switch {
	case len(x.Shortest) > 0:
		t.Line(nil, fmt.Sprintf("the shortest path of %s to the head %s has %s:", x.of, without, phrase.Count(len(x.Shortest), "step")), "", "  ")
		edgeLines(t, x.Shortest)
	case len(x.Blocking) == 1 && x.acts() && x.Blocking[0].From == x.edge.From && x.Blocking[0].To == x.edge.To:
		t.Line(nil, "every path of "+x.of+" to the head takes it", "", "  ")
	case len(x.Blocking) > 0:
		t.Line(nil, fmt.Sprintf("no path of %s leads to the head %s; each takes at least one of these, and may take more like them:", x.of, without), "", "  ")
		edgeLines(t, x.Blocking)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// edgeLines writes upgrades with their verdicts.
func edgeLines(t *prose.Writer, list []edgeImpact) {
	for _, e := range list {
		t.Line(nil, fmt.Sprintf("%s -> %s: %s", e.From, e.To, e.verdictText()), "  ", "    ")
	}
}
