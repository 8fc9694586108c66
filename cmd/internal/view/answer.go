package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/resolver"
)

// newAnswer resolves a problem, whose catalogs must be loaded, and returns the data of the
// answer. The error is that of ctx, or reports that the problem is invalid.
func newAnswer(ctx context.Context, name string, p *resolver.Problem) (*answerData, error) {
	a := &answerData{Name: name, Namespace: p.Namespace, Nodes: []reasonNode{}, Edges: []reasonEdge{}}
	sol, err := resolver.Resolve(ctx, *p)
	var conflict *resolver.Conflict
	var unhealthy *resolver.UnhealthyError
	switch {
	case errors.As(err, &conflict):
		if a.Cores, err = cores(ctx, conflict); err != nil {
			return nil, err
		}
		sol = conflict.Planned()
	case errors.As(err, &unhealthy):
		a.Error = err.Error()
		return a, nil
	case err != nil:
		return nil, err
	default:
		a.OK = sol.Refused == nil
		a.Partial = sol.Refused != nil
	}
	if sol == nil {
		return a, nil
	}
	if sol.Refused != nil {
		if a.Cores, err = cores(ctx, sol.Refused); err != nil {
			return nil, err
		}
	}
	r := reasoner{answerData: a, problem: p, solution: sol, number: map[string]int{}, asks: map[string]int{}, alone: map[int]bool{}}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	a.Warnings = sol.Warnings()
	for _, d := range sol.Differs {
		if d.Subscription == "" { // others are about Subscriptions of a cluster, which the page does not have
			a.Warnings = append(a.Warnings, d.String())
		}
	}
	return a, nil
}

// A reasoner builds the graph of reasons of a solution.
type reasoner struct {
	*answerData
	problem  *resolver.Problem
	solution *resolver.Solution
	number   map[string]int // of operators' nodes, by name; never ranged over
	asks     map[string]int // of subscriptions' nodes, by name; never ranged over
	alone    map[int]bool   // nodes for which the solution has no reason; never ranged over
}

// left returns a text that explains why an installed operator that is not part of the plan
// stays.
func (r *reasoner) left(name string) string {
	for _, s := range r.problem.Subscriptions {
		if s.InstalledCSV == name {
			return "stays: its subscription has no plan"
		}
	}
	return "stays: no subscription"
}

func (r *reasoner) build(ctx context.Context) error {
	versions := map[string]string{}
	replaced := map[string]bool{}
	for _, in := range r.problem.Installed {
		versions[in.Name] = in.Version
	}
	for _, s := range r.solution.Selected {
		replaced[s.Replaces] = true
		n := reasonNode{Kind: "install", Name: s.Name, Package: s.Package, Channel: s.Channel, Catalog: s.Catalog, To: s.Version}
		if v, ok := versions[s.Replaces]; ok {
			n.Kind, n.From = "upgrade", v
			if s.Replaces == s.Name { // as in the table of resolve
				n.Kind = "keep"
			}
		}
		n.Detail = detail(n)
		r.number[s.Name] = len(r.Nodes)
		r.Nodes = append(r.Nodes, n)
	}
	advice, err := r.solution.AdviceWithFixes(ctx)
	if err != nil {
		return err
	}
	why := map[string]string{} // by subscription
	for _, a := range advice {
		why[a.Subscription] = a.String()
		if a.NeedsAttention() || len(a.Fixes) > 0 {
			h := heldData{Text: a.Summary(), Commands: a.Commands, Fixes: fixes(a.Fixes)}
			if len(h.Commands) > 0 {
				h.Text = a.String() // which states the order
			}
			r.Held = append(r.Held, h)
		}
	}
	for _, s := range r.solution.Stayed {
		n := reasonNode{Kind: "keep", Name: s.Name, Package: s.Package, From: versions[s.Name], To: versions[s.Name], Detail: cmp.Or(why[s.Subscription], "stays: "+s.String())}
		r.number[s.Name] = len(r.Nodes)
		r.Nodes = append(r.Nodes, n)
	}
	for _, in := range r.problem.Installed {
		if _, known := r.number[in.Name]; !known && !replaced[in.Name] {
			r.number[in.Name] = len(r.Nodes)
			r.alone[len(r.Nodes)] = true
			r.Nodes = append(r.Nodes, reasonNode{Kind: "keep", Name: in.Name, Package: in.PackageName(), From: in.Version, To: in.Version, Detail: r.left(in.Name)})
		}
	}
	return r.connect(ctx)
}

// connect adds to each node its reasons, and draws a line to it from each node that requires
// it.
func (r *reasoner) connect(ctx context.Context) error {
	var at []int // nodes
	var names []string
	for i := range r.Nodes {
		if !r.alone[i] {
			at, names = append(at, i), append(names, r.Nodes[i].Name)
		}
	}
	chains, err := r.solution.Why(ctx, names...)
	if err != nil {
		return err
	}
	for k, chain := range chains {
		i := at[k]
		r.Nodes[i].See = chain.See
		for _, link := range chain.Reasons {
			w := whyData{Text: link.String()}
			if link.Place != nil {
				w.Place = link.Place.String()
			}
			for _, s := range link.Preferred {
				w.Over = append(w.Over, steps(s, 0))
			}
			r.Nodes[i].Why = append(r.Nodes[i].Why, w)
		}
		all, err := r.solution.RequiredBy(ctx, chain.Bundle)
		if err != nil {
			return err
		}
		first := chain.Reasons[0].String()
		for _, link := range all {
			if text := link.String(); text != first {
				r.Nodes[i].Also = append(r.Nodes[i].Also, text)
			}
		}
		r.draw(i, all)
	}
	return nil
}

// draw adds a line to a node from each subscription and each other node that requires it.
func (r *reasoner) draw(to int, all []resolver.Reason) {
	line := map[int]int{} // by the node that it comes from; never ranged over
	for _, link := range all {
		at, text := 0, "requests"
		switch {
		case link.Subscription != "":
			at = r.subscriptionNode(link.Subscription)
		default:
			var known bool
			if at, known = r.number[link.By.Name]; !known {
				continue
			}
			text = "requires " + link.Requirement
		}
		if i, drawn := line[at]; drawn {
			r.Edges[i].Text += "; " + strings.TrimPrefix(text, "requires ")
			continue
		}
		line[at] = len(r.Edges)
		r.Edges = append(r.Edges, reasonEdge{at, to, text})
	}
}

// subscriptionNode returns the index of a subscription's node, adding it if
// necessary.
func (r *reasoner) subscriptionNode(name string) int {
	at, ok := r.asks[name]
	if !ok {
		at = len(r.Nodes)
		r.asks[name] = at
		r.Nodes = append(r.Nodes, r.subscription(name))
	}
	return at
}

// subscription returns the node of a subscription.
func (r *reasoner) subscription(name string) reasonNode {
	n := reasonNode{Kind: "subscription", Name: name}
	for _, s := range r.problem.Subscriptions {
		if s.Name != name && (s.Name != "" || s.Package != name) {
			continue
		}
		n.Package, n.Channel, n.Catalog = s.Package, s.Channel, s.Catalog
		n.Detail = "package " + s.Package
		if s.Channel != "" {
			n.Detail += ", channel " + s.Channel
		}
		if s.Catalog != "" {
			n.Detail += ", catalog " + s.Catalog
		}
		break
	}
	return n
}

func detail(n reasonNode) string {
	if n.Kind == "upgrade" {
		return fmt.Sprintf("upgrade %s to %s, channel %s of %s", n.From, n.To, n.Channel, n.Catalog)
	}
	return fmt.Sprintf("install %s, channel %s of %s", n.To, n.Channel, n.Catalog)
}
