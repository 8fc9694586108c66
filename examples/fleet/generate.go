package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// A generator writes the problem documents of a fleet. Equal seeds give equal files.
type generator struct {
	index         string
	clusters      int
	namespaces    int
	subscriptions int
	seed          uint64

	catalog resolver.Catalog
	choices []choice
}

// A choice is a channel that can be subscribed to.
type choice struct {
	channel graph.Channel
	order   []graph.Entry // from the head
}

// write writes one file for each cluster.
func (g *generator) write(ctx context.Context, root, dir string) error {
	index, err := graph.OpenIndex(filepath.Join(root, filepath.FromSlash(g.index)), nil)
	if err != nil {
		return err
	}
	g.catalog = resolver.Catalog{Name: "catalog", Namespace: "olm", Dir: g.index, Digest: index.Digest()}
	if err := g.choose(ctx, index); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for cluster := range g.clusters {
		text, err := g.cluster(cluster)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("cluster-%04d.jsonl", cluster)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// choose finds the default channels from which an operator can be installed by itself.
func (g *generator) choose(ctx context.Context, index *graph.Catalog) error {
	for pkg := range index.Packages() {
		ch, ok := pkg.DefaultChannel()
		if !ok {
			continue
		}
		c := choice{channel: ch}
		for e := range ch.Order() {
			c.order = append(c.order, e)
		}
		catalog := g.catalog
		catalog.Graph = index
		alone := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{catalog}, Subscriptions: []resolver.Subscription{g.subscription(c)}}
		if _, err := resolver.Resolve(ctx, alone); err == nil && len(c.order) > 0 {
			g.choices = append(g.choices, c)
		} else if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if len(g.choices) == 0 {
		return errors.New("no operator of the index can be installed by itself")
	}
	return nil
}

func (g *generator) subscription(c choice) resolver.Subscription {
	return resolver.Subscription{Package: c.channel.Package().Name(), Channel: c.channel.Name(), Catalog: g.catalog.Name, CatalogNamespace: g.catalog.Namespace}
}

// cluster returns the documents of a cluster. In each namespace, about every third operator
// is already installed.
func (g *generator) cluster(number int) ([]byte, error) {
	random := rand.New(rand.NewPCG(g.seed, uint64(number)))
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	for i := range g.namespaces {
		p := resolver.Problem{
			ID: fmt.Sprintf("cluster-%04d/team-%04d", number, i), Namespace: fmt.Sprintf("team-%04d", i), Catalogs: []resolver.Catalog{g.catalog},
		}
		for _, n := range random.Perm(len(g.choices))[:min(g.subscriptions, len(g.choices))] {
			c := g.choices[n]
			s := g.subscription(c)
			if random.IntN(3) == 0 {
				install(&p, &s, c.order[random.IntN(len(c.order))])
			}
			p.Subscriptions = append(p.Subscriptions, s)
		}
		if err := lines.Encode(p); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// install adds the operator of an entry to a problem.
func install(p *resolver.Problem, s *resolver.Subscription, e graph.Entry) {
	b, ok := e.Bundle()
	if !ok {
		return
	}
	in := resolver.Installed{Name: b.Name(), Version: b.Version().String(), Package: s.Package}
	for q := range b.Properties() {
		if !property.IsHeavy(q.Type) {
			in.Properties = append(in.Properties, q)
		}
	}
	s.InstalledCSV = in.Name
	p.Installed = append(p.Installed, in)
}
