package resolver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// TestEqualFormulas checks that rewriting every constraint of a problem as an equivalent
// formula does not change the answer (D20).
func TestEqualFormulas(t *testing.T) {
	ctx := context.Background()
	seeds(t, func(t *testing.T, seed uint64) {
		p := randomProblem(seed)
		if seed%2 == 0 {
			p = formulaProblem(seed)
		}
		r := &rewriter{rand.New(rand.NewPCG(seed, 0xd20))}
		q := p
		q.Catalogs = slices.Clone(p.Catalogs)
		for i := range q.Catalogs {
			docs := readDocs(t, *q.Catalogs[i].FBC)
			for k := range docs {
				docs[k].Properties = r.properties(docs[k].Properties)
			}
			text := render(docs)
			q.Catalogs[i].FBC = &text
		}
		q.Installed = slices.Clone(p.Installed)
		for i := range q.Installed {
			q.Installed[i].Properties = r.properties(q.Installed[i].Properties)
		}
		want, got := choice(ctx, open(t, p)), choice(ctx, open(t, q))
		if diff := cmp.Diff(want, got); diff != "" {
			text, _ := json.Marshal(q)
			t.Errorf("seed %d: the answer depends on the form of the constraints (-first +second):\n%s\n%s", seed, diff, text)
		}
	})
}

// formulaProblem returns a problem in which everything depends on one formula.
func formulaProblem(seed uint64) resolver.Problem {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0xf0))}
	var docs []doc
	add := func(pkg string, more ...property.Property) {
		var entries []docEntry
		for _, v := range []string{"1.0.0", "2.0.0"} {
			name := pkg + ".v" + v
			docs = append(docs, doc{Schema: "olm.bundle", Package: pkg, Name: name, Properties: append([]property.Property{
				text(property.TypePackage, `{"packageName":%q,"version":%q}`, pkg, v), text("color", "%q", pick(g, "red", "blue", "green")),
			}, more...)})
			e := docEntry{Name: name}
			if entries != nil {
				e.Replaces = entries[0].Name
			}
			entries = append(entries, e)
		}
		docs = append(docs, doc{Schema: "olm.channel", Package: pkg, Name: "s", Entries: entries}, doc{Schema: "olm.package", Name: pkg, DefaultChannel: "s"})
	}
	for _, pkg := range []string{"a", "b", "c", "d", "e"} {
		add(pkg, api(property.TypeGVK, pick(g, pkg, "s", "t")))
	}
	add("root", property.Property{Type: property.TypeConstraint, Value: json.RawMessage(g.tree(0))})
	text := render(docs)
	return resolver.Problem{
		Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: &text}},
		Subscriptions: []resolver.Subscription{{Package: "root"}},
	}
}

// choice returns the result of a problem: the bundles that are installed, or could be, and the operators that stay.
func choice(ctx context.Context, p resolver.Problem) []string {
	sol, err := resolver.Resolve(ctx, p)
	var no *resolver.Conflict
	if errors.As(err, &no) {
		sol = no.Planned()
		err = errors.New("refused")
	}
	if sol == nil {
		return []string{err.Error()}
	}
	out := []string{fmt.Sprint(err)}
	for _, s := range sol.Selected {
		out = append(out, fmt.Sprint(s.Name, s.Channel, s.Catalog, s.Replaces))
	}
	for _, s := range sol.Stayed {
		out = append(out, fmt.Sprint(s.Name, s.Reason))
	}
	return out
}

// A rewriter rewrites constraints as equivalent ones.
type rewriter struct{ *rand.Rand }

func (r *rewriter) properties(list []property.Property) []property.Property {
	out := slices.Clone(list)
	for i, p := range out {
		var tree map[string]any
		if p.Type == property.TypeConstraint && json.Unmarshal(p.Value, &tree) == nil {
			if text, err := json.Marshal(r.tree(tree, 0)); err == nil {
				out[i].Value = text
			}
		}
	}
	return out
}

// tree returns an equal tree.
func (r *rewriter) tree(x map[string]any, depth int) map[string]any {
	for _, kind := range []string{"all", "any", "not"} {
		of := parts(x, kind)
		if len(of) == 0 {
			continue
		}
		var list []any
		for _, part := range of {
			part = r.tree(part, depth+1)
			// Parts of the same kind can be inlined.
			if inner := parts(part, kind); kind != "not" && len(inner) > 0 && r.IntN(2) == 0 {
				for _, p := range inner {
					list = append(list, p)
				}
				continue
			}
			list = append(list, part)
		}
		// A part can be repeated.
		if r.IntN(4) == 0 {
			list = append(list, list[r.IntN(len(list))])
		}
		// Consecutive parts can be grouped into one part of the same kind.
		if n := len(list); kind != "not" && n > 2 && r.IntN(2) == 0 {
			k := 1 + r.IntN(n-1)
			list = append(list[:k:k], joined(kind, list[k:]...))
		}
		x = joined(kind, list...)
		// Apply De Morgan's laws.
		switch n := r.IntN(4); {
		case n == 0 && kind == "not":
			x = joined("all", negations(list)...)
		case n == 1 && kind == "not":
			x = joined("not", joined("any", list...))
		case n == 0 && kind == "all":
			x = joined("not", negations(list)...)
		case n == 0 && kind == "any":
			x = joined("not", joined("all", negations(list)...))
		}
		break
	}
	for depth < 6 && r.IntN(4) == 0 {
		depth++
		if r.IntN(3) == 0 {
			x = joined("not", joined("not", x))
			continue
		}
		x = joined([]string{"all", "any"}[r.IntN(2)], x)
	}
	return x
}

// parts returns the constraints of a compound one of a kind.
func parts(x map[string]any, kind string) (out []map[string]any) {
	of, _ := x[kind].(map[string]any)
	list, _ := of["constraints"].([]any)
	for _, part := range list {
		if m, ok := part.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func joined(kind string, list ...any) map[string]any {
	return map[string]any{kind: map[string]any{"constraints": list}}
}

func negations(list []any) []any {
	var out []any
	for _, x := range list {
		out = append(out, joined("not", x))
	}
	return out
}
