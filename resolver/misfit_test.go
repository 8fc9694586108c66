package resolver_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// withRuntime gives bundles of a problem install modes and a minKubeVersion, and the problem a late operator group and a version
// of Kubernetes. It returns the problem and the holder of each bundle that does not run.
func withRuntime(p resolver.Problem, seed uint64) (resolver.Problem, map[string]resolver.Holder) {
	r := rand.New(rand.NewPCG(seed, 0x6e5))
	unfit := map[string]resolver.Holder{}
	p.OperatorGroup = &resolver.OperatorGroup{Name: "og", Late: true, TargetNamespaces: []string{""}}
	p.Options.Cluster.KubeVersion = "1.30.2"
	p.Catalogs = slices.Clone(p.Catalogs)
	values := map[string]string{} // catalogs may share a bundle
	for i := range p.Catalogs {
		var docs []doc
		for l := range strings.Lines(*p.Catalogs[i].FBC) {
			var d doc
			if err := json.Unmarshal([]byte(l), &d); err != nil {
				panic(err)
			}
			if d.Schema == "olm.bundle" {
				if values[d.Name] == "" {
					values[d.Name] = `{"minKubeVersion":"1.30.0","installModes":[{"type":"AllNamespaces","supported":true}]}`
					switch r.IntN(6) {
					case 0:
						values[d.Name], unfit[d.Name] = `{"minKubeVersion":"1.31.0"}`, resolver.HeldByPlatform
					case 1:
						values[d.Name], unfit[d.Name] = `{"installModes":[{"type":"AllNamespaces","supported":false}]}`, resolver.HeldByInstallMode
					}
				}
				d.Properties = append(d.Properties, text(property.TypeCSVMetadata, "%s", values[d.Name]))
			}
			docs = append(docs, d)
		}
		text := render(docs)
		p.Catalogs[i].FBC = &text
	}
	return p, unfit
}

// G7, F2, H40: what runs in the namespace does not change solutions. A fix states which of the bundles that it adds do not
// run, and is then offered only if the others remove something; an outlook ends at the first such bundle; and in place of a selected one, a
// channel is offered whose bundle runs.
func TestMisfits(t *testing.T) {
	var n struct{ fixes, told, ends, instead int }
	for seed := range testsize.Of(1500, 4000, 40000) {
		given := randomProblem(uint64(seed))
		given.Options.Partial = false
		changed, unfit := withRuntime(given, uint64(seed))
		p := open(t, changed)
		sol, err := resolver.Resolve(t.Context(), p)
		before, failed := resolver.Resolve(t.Context(), open(t, given))
		if (err == nil) != (failed == nil) {
			t.Fatalf("seed %d: %v, without a cluster %v", seed, err, failed)
		}
		var fixes []*resolver.Fix
		check := func(list []*resolver.Fix, plan []resolver.Selected) {
			told, better := 0, false
			for _, f := range list {
				removes := func(c resolver.Change) bool {
					return c.Kind == resolver.DropSubscription || c.Kind == resolver.RemoveSubscribed || c.Kind == resolver.RemoveOperator
				}
				better = better || len(f.Misfits) == 0 && slices.ContainsFunc(f.Changes, func(c resolver.Change) bool { return !removes(c) })
				var want []string
				for _, x := range f.Selected {
					if unfit[x.Name] != "" && !slices.ContainsFunc(plan, func(o resolver.Selected) bool { return o.Name == x.Name }) {
						want = append(want, x.Name+string(unfit[x.Name]))
					}
				}
				var got []string
				for _, m := range f.Misfits {
					got = append(got, m.Bundle+string(m.By))
					if !strings.Contains(f.String(), "; but "+m.Why) {
						t.Errorf("seed %d: %s does not state %s", seed, f, m)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("seed %d: %s: misfits %v, want %v", seed, f, got, want)
				}
				told += min(1, len(got))
			}
			if told > 0 && better {
				t.Errorf("seed %d: %v and better fixes", seed, list)
			}
			n.told, fixes = n.told+told, append(fixes, list...)
		}
		var no *resolver.Conflict
		if errors.As(err, &no) {
			var plan []resolver.Selected
			if s := no.Planned(); s != nil {
				plan = s.Selected
			}
			for _, c := range no.Cores {
				list, err := c.Fixes(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				check(list, plan)
			}
		}
		n.fixes += len(fixes)
		if err != nil {
			continue
		}
		if !slices.EqualFunc(sol.Selected, before.Selected, func(a, b resolver.Selected) bool { return a.Compare(b) == 0 }) {
			t.Errorf("seed %d: selected %v, without a cluster %v", seed, sol.Selected, before.Selected)
		}
		list, err := sol.AdviceWithFixes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			check(a.Fixes, sol.Selected)
			if a.DeadEnd != nil && a.DeadEnd.Misfit != nil {
				if n.ends++; unfit[a.DeadEnd.Bundle.Name] != a.DeadEnd.Misfit.By {
					t.Errorf("seed %d: %s", seed, a)
				}
			}
			selected := slices.ContainsFunc(sol.Selected, func(x resolver.Selected) bool { return unfit[x.Name] != "" })
			for _, x := range a.Outlook.Steps {
				if unfit[x.To.Name] != "" && !selected && a.DeadEnd == nil && a.Rejected == nil && a.Kind != resolver.AdviceUnmanaged && a.Kind != resolver.AdviceDuplicate {
					t.Errorf("seed %d: %s, but %s does not run", seed, a, x.To)
				}
			}
		}
		for _, x := range sol.Selected {
			f, err := sol.Instead(t.Context(), x.Name)
			if err != nil {
				t.Fatal(err)
			}
			if f == nil || unfit[x.Name] == "" {
				continue
			}
			n.instead++
			next, _ := afterChanges(t, p, f.Changes)
			got, err := resolver.Resolve(t.Context(), next)
			if err != nil {
				t.Errorf("seed %d: %s: %v", seed, f, err)
				continue
			}
			runs := slices.ContainsFunc(got.Selected, func(y resolver.Selected) bool {
				return y.Package == x.Package && y.Name != x.Name && unfit[y.Name] == ""
			})
			if !runs || len(f.Misfits) > 0 {
				t.Errorf("seed %d: %s, in place of %s, leads to %v", seed, f, x.Name, got.Selected)
			}
		}
	}
	t.Logf("%d fixes of conflicts, %d with bundles that do not run, %d ends, %d other channels", n.fixes, n.told, n.ends, n.instead)
	if n.told == 0 || n.ends == 0 || n.instead == 0 {
		t.Error("nothing was checked")
	}
}
