package resolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Closure lists the requirements of a bundle that the installed operators do not
// satisfy, and bundles that would satisfy them. OLM v1 does not install these bundles, but
// an administrator can.
type Closure struct {
	// Unmet are the requirements that the installed operators do not satisfy, in the
	// order of the bundle's properties.
	Unmet []UnmetRequirement `json:"unmet"`
	// Install are bundles that satisfy the requirements. Each comes after the bundles that
	// it requires, unless they require each other.
	Install []Selected `json:"install"`
	// Conflict explains why the catalogs cannot satisfy the requirements, or is nil.
	Conflict *Conflict `json:"-"`
	// Reason states in one line why the catalogs cannot satisfy the requirements.
	Reason string `json:"reason,omitempty"`
}

// MarshalJSON returns the closure as an object. Required lists are never null.
func (c Closure) MarshalJSON() ([]byte, error) {
	type plain Closure
	return json.Marshal(plain(c), json.Deterministic(true))
}

// An UnmetRequirement is a requirement of a bundle.
type UnmetRequirement struct {
	Property int    `json:"property"` // index in the bundle's properties
	Requires string `json:"requires"`
	// Reason is why the catalogs cannot satisfy the requirement. It is empty if they can
	// satisfy it on its own.
	Reason string `json:"reason,omitempty"`
}

// Offered reports whether bundles in the catalogs satisfy the requirement but cannot be installed.
func (u *UnmetRequirement) Offered() bool { return u.Reason != "" && u.Reason != nowhere }

// String returns the unmet requirements and the bundles to install, in one line, or "" if
// there are no unmet requirements.
func (c *Closure) String() string {
	if c == nil || len(c.Unmet) == 0 {
		return ""
	}
	var b strings.Builder
	all := make([]string, len(c.Unmet))
	for i, u := range c.Unmet {
		all[i] = u.Requires
	}
	b.WriteString("it requires " + phrase.And(all))
	if len(c.Install) == 1 && c.Reason == "" {
		b.WriteString(", which " + c.Install[0].Name + " provides")
		return b.String()
	}
	for i, x := range c.Install {
		if i == 0 {
			b.WriteString("; installing ")
		} else {
			b.WriteString(", then ")
		}
		b.WriteString(x.Name)
	}
	if len(c.Install) > 0 {
		b.WriteString(" satisfies that")
	}
	if c.Reason != "" {
		b.WriteString("; no given catalog satisfies " + c.beyond())
	}
	return b.String()
}

// nowhere is the reason of a requirement that no bundle satisfies.
const nowhere = "no bundle provides it"

// beyond names the requirements that no given catalog satisfies, with the reasons of those that some
// bundle satisfies.
func (c *Closure) beyond() string {
	var list, why []string
	for _, u := range c.Unmet {
		if u.Reason == "" {
			continue
		}
		list = append(list, u.Requires)
		if u.Reason != nowhere && !slices.Contains(why, u.Reason) {
			why = append(why, u.Reason)
		}
	}
	if len(why) > 0 {
		return strings.Join(list, " and ") + ", because " + strings.Join(why, "; ")
	}
	switch {
	case len(list) == 0:
		return "these together"
	case len(list) == len(c.Unmet):
		return "that"
	}
	return strings.Join(list, " and ")
}

// CheckDependencies returns the requirements of a bundle that the installed operators do
// not satisfy, and bundles in the catalogs that would satisfy them, under the
// [Documented] semantics. It chooses as [Resolve] does for dependencies. The error is a
// [*document.Error] or the context's.
func CheckDependencies(ctx context.Context, b graph.Bundle, installed []Installed, catalogs []Catalog) (*Closure, error) {
	const namespace = "dependencies"
	catalogs = slices.Clone(catalogs)
	for i := range catalogs {
		catalogs[i].Namespace = cmp.Or(catalogs[i].Namespace, namespace)
	}
	self := Installed{Name: b.Name(), Version: b.Version().String(), Package: b.Package().Name()}
	var facts, requires []property.Property
	var at []int
	n := 0
	for p := range b.Properties() {
		switch {
		case property.IsRequirement(p.Type):
			requires, at = append(requires, p), append(at, n)
		case p.Type != property.TypeDeprecated && !property.IsHeavy(p.Type):
			facts = append(facts, p)
		}
		n++
	}
	problem := Problem{Namespace: namespace, clusterWide: true}
	for _, x := range installed {
		if x.Name == self.Name || x.Package == self.Package && x.Package != "" {
			continue // the bundle replaces it
		}
		problem.Installed = append(problem.Installed, x)
	}
	out := &Closure{Unmet: []UnmetRequirement{}, Install: []Selected{}}
	compiler := constraints.NewCompiler(nil)
	var unmet []property.Property
	for i, p := range requires {
		one := self
		one.Properties = append(slices.Clone(facts), p)
		alone := Problem{Namespace: namespace, Installed: []Installed{one}}
		for _, x := range problem.Installed {
			x.Properties = slices.DeleteFunc(slices.Clone(x.Properties), func(p property.Property) bool {
				return property.IsRequirement(p.Type) || p.Type == property.TypeDeprecated
			})
			alone.Installed = append(alone.Installed, x)
		}
		_, err := Resolve(ctx, alone)
		var no *Conflict
		if errors.As(err, &no) {
			u := UnmetRequirement{Property: at[i], Requires: p.Type}
			if x, _, err := compiler.FromProperty(p); err == nil {
				u.Requires = prose.Requirement(x)
			} else {
				u.Requires = fmt.Sprintf("%s, which cannot be read: %v", p.Type, err)
			}
			out.Unmet, unmet = append(out.Unmet, u), append(unmet, p)
		} else if err != nil {
			return nil, err
		}
	}
	if len(out.Unmet) == 0 {
		return out, nil
	}
	problem.Catalogs = catalogs
	with := func(requires ...property.Property) Problem {
		p, x := problem, self
		x.Properties = slices.Concat(facts, requires)
		p.Installed = append(slices.Clip(p.Installed), x)
		return p
	}
	sol, err := Resolve(ctx, with(requires...))
	if errors.As(err, &out.Conflict) {
		for i, p := range unmet {
			var no *Conflict
			if _, err := Resolve(ctx, with(p)); errors.As(err, &no) {
				out.Unmet[i].Reason = no.lacking(b.Name())
			} else if err != nil {
				return nil, err
			}
		}
		out.Reason = out.lack(b.Name())
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Install, err = inOrder(ctx, sol.Selected)
	return out, err
}

// lacking returns why a requirement of the named bundle leads to the conflict: no bundle
// satisfies it, or the bundles that would satisfy it have requirements that no bundle
// satisfies.
func (c *Conflict) lacking(name string) string {
	var list []string
	for _, core := range c.Cores {
		for _, f := range core.Facts {
			r, ok := f.(*fact.Requires)
			switch {
			case !ok || len(r.Candidates) > 0:
			case r.Bundle.Name == name:
				return nowhere
			default:
				list = append(list, fmt.Sprintf("%s requires %s, which no bundle provides", r.Bundle.Name, prose.Requirement(r.Requirement)))
			}
		}
	}
	if len(list) == 0 {
		return "nothing that satisfies it can be installed"
	}
	return strings.Join(list, "; ")
}

// lack returns which requirements of the named bundle the catalogs cannot satisfy, each
// with the reason.
func (c *Closure) lack(name string) string {
	var list []string
	for _, u := range c.Unmet {
		if u.Reason != "" {
			list = append(list, fmt.Sprintf("%s requires %s: %s", name, u.Requires, u.Reason))
		}
	}
	if len(list) == 0 {
		return "the requirements of " + name + " cannot be satisfied together"
	}
	return strings.Join(list, "; ")
}

// inOrder sorts bundles so that each comes after those that satisfy a part of its
// requirements. Bundles that require each other are sorted by package.
func inOrder(ctx context.Context, list []Selected) ([]Selected, error) {
	e := constraints.NewEvaluator(constraints.Cluster{}, nil)
	needs, numbers := make([][]int, len(list)), make([]int, len(list))
	for i := range list {
		numbers[i] = i
	}
	pkgs := func(i int) []string { return []string{list[i].Package} }
	found := post(numbers, pkgs, func(i int) constraints.Bundle { return list[i].Bundle })
	for i, x := range list {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for r := range x.Bundle.Requirements() {
			for part := range constraints.Walk(r.Expr) {
				if len(constraints.Children(part)) > 0 {
					continue
				}
				for j := range reach(found, part) {
					ok, err := e.Satisfies(ctx, part, list[j].Bundle)
					if err != nil {
						return nil, err
					}
					if ok.OK && i != j {
						needs[i] = append(needs[i], j)
					}
				}
			}
		}
	}
	out := make([]Selected, 0, len(list))
	state := make([]int, len(list)) // 1 in progress, 2 done
	var visit func(i int)
	visit = func(i int) {
		if state[i] != 0 {
			return
		}
		state[i] = 1
		slices.Sort(needs[i])
		for _, j := range needs[i] {
			visit(j)
		}
		state[i] = 2
		out = append(out, list[i])
	}
	for i := range list {
		visit(i)
	}
	return out, nil
}
