package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/blang/semver/v4"
	api "github.com/operator-framework/api/pkg/constraints"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	opmapi "github.com/operator-framework/operator-registry/pkg/api"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// resolve compares answers with those of the running OLM's resolver, whose cache is already filled, for the same
// problem in catalogs of growing size.
func (r *run) resolve(ctx context.Context) error {
	for _, copies := range []int{1, 3, 10, 100} {
		dir, err := r.copyOf(ctx, "openshift-v4.19", generate.Tree{Copies: copies, Light: true})
		if err != nil {
			return r.absent("resolve", err)
		}
		c, err := graph.Load(ctx, os.DirFS(dir), nil)
		if err != nil {
			return err
		}
		id := resolver.CatalogID{Name: "catalog", Namespace: "olm"}
		var snapshot *cache.Snapshot
		if copies <= 10 {
			m, err := peer.Load(ctx, os.DirFS(dir))
			if err != nil {
				return err
			}
			if snapshot, err = peer.Snapshot(ctx, m, id); err != nil {
				return err
			}
		}
		requests, err := generate.NewRequests(ctx, resolver.Catalog{Name: id.Name, Namespace: id.Namespace, Graph: c})
		if err != nil {
			return err
		}
		original := requests.Originals()
		type problem struct {
			label string
			resolver.Problem
		}
		list := []problem{{"30 fresh", original.Fresh(ctx, 30)}, {"30 upgrades", original.Upgrade(ctx, 30)}}
		if copies == 1 {
			list = append([]problem{{"1 fresh", original.Fresh(ctx, 1)}, {"10 fresh", original.Fresh(ctx, 10)}}, list...)
		}
		for _, p := range list {
			row := Row{Group: "resolve", Case: fmt.Sprintf("%s, openshift-v4.19 %dx", p.label, copies), Peer: "OLM", Note: fmt.Sprintf("%d bundles", c.Size().Bundles)}
			ours := func() error { _, err := resolver.Resolve(ctx, p.Problem); return err }
			var theirs job
			if snapshot != nil {
				q, err := peer.NewProblem(&p.Problem, []*cache.Snapshot{snapshot})
				if err != nil {
					return err
				}
				theirs = func() error { _, err := q.Resolve(); return err }
			}
			note, err := allocated(ours, theirs)
			if err != nil {
				return fmt.Errorf("%s: %w", row.Case, err)
			}
			row.Note += "; " + note
			if row.Bound, row.bound, err = touching(ctx, c, p.Problem); err != nil {
				return err
			}
			if err := r.pair(ctx, row, ours, theirs); err != nil {
				return fmt.Errorf("%s: %w", row.Case, err)
			}
		}
	}
	return nil
}

// touching returns the bound of a resolution: reading the version, the APIs and the requirements of each bundle of the
// answer.
func touching(ctx context.Context, c *graph.Catalog, p resolver.Problem) (string, job, error) {
	sol, err := resolver.Resolve(ctx, p)
	if err != nil {
		return "", nil, err
	}
	type chosen struct{ pkg, name string }
	var list []chosen
	for _, s := range sol.Selected {
		list = append(list, chosen{s.Package, s.Name})
	}
	return "touching the answer", func() error {
		n := 0
		for _, x := range list {
			pkg, _ := c.Package(x.pkg)
			b, ok := pkg.Bundle(x.name)
			if !ok {
				return fmt.Errorf("the catalog does not have %s", x.name)
			}
			n += int(b.Version().Major)
			for g := range b.APIs() {
				n += len(g.Kind)
			}
			for q := range b.Requirements() {
				n += q.ID
			}
		}
		runtime.KeepAlive(n)
		return nil
	}, nil
}

// constraints compares reading and evaluating olm.constraint values with the parser and the CEL evaluation of
// operator-framework/api.
func (r *run) constraints(ctx context.Context) error {
	const nested = `{"failureMessage":"needs both","all":{"constraints":[` +
		`{"failureMessage":"a","package":{"packageName":"etcd","versionRange":">=0.9.0 <1.0.0"}},` +
		`{"failureMessage":"b","any":{"constraints":[{"failureMessage":"c","gvk":{"group":"etcd.database.coreos.com","version":"v1beta2","kind":"EtcdCluster"}},` +
		`{"failureMessage":"d","gvk":{"group":"etcd.database.coreos.com","version":"v1","kind":"EtcdCluster"}}]}}]}}`
	const rule = `properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '0.9.0') >= 0)`
	compiler := constraints.NewCompiler(nil)
	err := r.pair(ctx, Row{Group: "constraints", Case: "read a nested olm.constraint", Peer: "api and blang/semver", Note: "ours has limits and warnings"},
		func() error { _, err := compiler.Parse([]byte(nested)); return err },
		func() error {
			if _, err := api.Parse(json.RawMessage(nested)); err != nil {
				return err
			}
			_, err := semver.ParseRange(">=0.9.0 <1.0.0")
			return err
		})
	if err != nil {
		return err
	}
	env := api.NewCelEnvironment()
	n := 0
	another := func() string { n++; return fmt.Sprintf("%s || size(properties) == %d", rule, n) }
	err = r.pair(ctx, Row{Group: "constraints", Case: "compile a CEL rule", Peer: "api", Note: "another rule each time; ours has a cost limit"},
		func() error { _, err := compiler.Rule(another()); return err },
		func() error { _, err := env.Validate(another()); return err })
	if err != nil {
		return err
	}
	x, err := compiler.Rule(rule)
	if err != nil {
		return err
	}
	predicate, err := cache.CreateCelPredicate(env, rule, "")
	if err != nil {
		return err
	}
	props := []property.Property{
		property.New(property.TypePackage, property.Package{PackageName: "etcd", Version: "0.9.4"}),
		property.New(property.TypeGVK, property.GVK{Group: "etcd.database.coreos.com", Version: "v1beta2", Kind: "EtcdCluster"}),
	}
	entry := &cache.Entry{}
	for _, p := range props {
		entry.Properties = append(entry.Properties, &opmapi.Property{Type: p.Type, Value: string(p.Value)})
	}
	evaluator := constraints.NewEvaluator(constraints.Cluster{}, nil)
	err = r.pair(ctx, Row{Group: "constraints", Case: "evaluate a CEL rule on a bundle", Peer: "OLM", Note: "the first evaluation, in which both decode the properties"},
		func() error {
			_, err := evaluator.Rule(ctx, x, constraints.NewValues(slices.Values(props)))
			return err
		},
		func() error { predicate.Test(entry); return nil })
	if err != nil {
		return err
	}
	values := constraints.NewValues(slices.Values(props))
	return r.pair(ctx, Row{Group: "constraints", Case: "evaluate it again", Peer: "OLM", Note: "ours caches the properties, OLM decodes them again"},
		func() error { _, err := evaluator.Rule(ctx, x, values); return err },
		func() error { predicate.Test(entry); return nil })
}
