package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// newAnswer resolves a problem, whose catalogs are loaded, and returns what came
// of it. The error is the problem's fault, or the context's.
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
		a.OK = true
	}
	if sol == nil {
		return a, nil
	}
	if sol.Refused != nil {
		if a.Cores, err = cores(ctx, sol.Refused); err != nil {
			return nil, err
		}
	}
	r := reasoner{answerData: a, problem: p, solution: sol, number: map[string]int{}, alone: map[int]bool{}}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	a.Warnings = warnings(sol)
	return a, nil
}

// A reasoner makes the graph of reasons of a solution.
type reasoner struct {
	*answerData
	problem  *resolver.Problem
	solution *resolver.Solution
	number   map[string]int // of the nodes of operators, by name; never ranged over
	alone    map[int]bool   // nodes that the solution says nothing of; never ranged over
}

// left says why an installed operator is not part of the plan.
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
		}
		n.Detail = detail(n)
		r.number[s.Name] = len(r.Nodes)
		r.Nodes = append(r.Nodes, n)
	}
	for _, s := range r.solution.Stayed {
		n := reasonNode{Kind: "keep", Name: s.Name, Package: s.Package, From: versions[s.Name], To: versions[s.Name], Detail: stayText(s)}
		r.number[s.Name] = len(r.Nodes)
		r.Nodes = append(r.Nodes, n)
	}
	for _, in := range r.problem.Installed {
		if _, known := r.number[in.Name]; !known && !replaced[in.Name] {
			r.number[in.Name] = len(r.Nodes)
			r.alone[len(r.Nodes)] = true
			r.Nodes = append(r.Nodes, reasonNode{Kind: "keep", Name: in.Name, Package: in.Package, From: in.Version, To: in.Version, Detail: r.left(in.Name)})
		}
	}
	return r.connect(ctx)
}

// connect asks why each node is there, and draws the first link of each chain.
func (r *reasoner) connect(ctx context.Context) error {
	subscriptions := map[string]int{}
	names := make([]string, len(r.Nodes))
	for i, n := range r.Nodes {
		names[i] = n.Name
	}
	for i, name := range names {
		if r.alone[i] {
			continue
		}
		chain, err := r.solution.Why(ctx, name)
		if err != nil {
			return err
		}
		for _, link := range chain {
			w := whyData{Text: link.String()}
			if link.Place != nil {
				w.Place = link.Place.String()
			}
			for _, s := range link.Preferred {
				w.Over = append(w.Over, steps(s, 0))
			}
			r.Nodes[i].Why = append(r.Nodes[i].Why, w)
		}
		switch link := chain[0]; {
		case link.Subscription != "":
			at, ok := subscriptions[link.Subscription]
			if !ok {
				at = len(r.Nodes)
				subscriptions[link.Subscription] = at
				r.Nodes = append(r.Nodes, r.subscription(link.Subscription))
			}
			r.Edges = append(r.Edges, reasonEdge{at, i, "asks for"})
		case link.By.Name != "":
			if at, ok := r.number[link.By.Name]; ok {
				r.Edges = append(r.Edges, reasonEdge{at, i, "requires " + link.Requirement})
			}
		}
	}
	return nil
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

func stayText(s resolver.Stay) string {
	switch s.Reason {
	case resolver.AtHead:
		return "stays: at the head of its channel"
	case resolver.Blocked:
		var names []string
		for _, r := range s.Blocked {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
		return "stays: " + strings.Join(names, ", ") + " would break a rule"
	}
	return "stays: nothing in the channel follows it"
}

// warnings tells the authors' deprecations of what is chosen (D12), what was left
// out, and the rules that could not be evaluated (D7).
func warnings(sol *resolver.Solution) []string {
	var out []string
	for _, s := range sol.Selected {
		if s.Bundle == (graph.Bundle{}) {
			continue
		}
		pkg := s.Bundle.Package()
		if m, ok := pkg.Deprecation(); ok {
			out = append(out, fmt.Sprintf("package %s is deprecated: %s", s.Package, m))
		}
		if ch, ok := pkg.Channel(s.Channel); ok {
			if m, ok := ch.Deprecation(); ok {
				out = append(out, fmt.Sprintf("channel %s of package %s is deprecated: %s", s.Channel, s.Package, m))
			}
		}
		if m, ok := s.Bundle.Deprecation(); ok {
			out = append(out, fmt.Sprintf("bundle %s is deprecated: %s", s.Name, m))
		}
	}
	for _, x := range sol.LeftOut {
		out = append(out, fmt.Sprintf("%s is left out: %s", x.Bundle, x.Reason))
	}
	for _, f := range sol.Faults {
		out = append(out, fmt.Sprintf("rule %q counts as false where it failed: %s", f.Rule, f.Error))
	}
	return out
}
