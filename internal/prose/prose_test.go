package prose_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/fact"
)

// catalogs has bundles NAME.vVERSION. near holds its only near miss.
type catalogs struct{ near prose.Near }

func (catalogs) Version(r fact.Ref) semver.Version {
	_, version, _ := strings.Cut(r.Name, ".v")
	return semver.MustParse(version)
}
func (catalogs) Installed(string) bool              { return false }
func (catalogs) Skipped(*fact.Subscription) int     { return 0 }
func (c catalogs) Near(constraints.Expr) prose.Near { return c.near }

func bundle(name string) fact.Ref {
	pkg, _, _ := strings.Cut(name, ".v")
	return fact.Ref{Catalog: fact.CatalogID{Name: "cat", Namespace: "olm"}, Package: pkg, Channel: "stable", Name: name}
}

// A problem builds the rules of a proof; in its core they have the same numbers.
type problem struct {
	rules []proof.Rule
	core  prose.Core
}

// class adds bundles that behave alike.
func (p *problem) class(names ...string) int {
	var refs []fact.Ref
	for _, name := range names {
		refs = append(refs, bundle(name))
	}
	p.core.Classes = append(p.core.Classes, refs)
	return len(p.core.Classes) - 1
}

func (p *problem) add(r proof.Rule, f fact.Fact) {
	p.rules = append(p.rules, r)
	p.core.Rules = append(p.core.Rules, prose.Rule{Facts: []fact.Fact{f}, Owner: r.Owner, Need: r.Need, Like: len(p.rules)})
}

func (p *problem) subscribe(pkg string, class int) {
	f := &fact.Subscribed{Subscription: fact.Subscription{Name: pkg, Package: pkg, Channel: "stable"}, Candidates: p.core.Classes[class]}
	p.add(proof.Rule{Kind: proof.Needs, Owner: proof.NoClass, Need: &proof.Formula{Classes: []int{class}}}, f)
}

func (p *problem) requires(owner int, x constraints.Expr, classes ...int) {
	need := &proof.Formula{Classes: classes}
	p.core.Parts[need], p.core.Likes[need] = x, len(p.core.Likes)+1
	p.add(proof.Rule{Kind: proof.Needs, Owner: owner, Need: need},
		&fact.Requires{Bundle: p.core.Classes[owner][0], Pos: fbc.Pos{File: "a.yaml", Line: 7}, Property: 2, Requirement: x})
}

func (p *problem) forbid(class int, f fact.Fact) {
	p.add(proof.Rule{Kind: proof.Forbidden, Owner: class}, f)
}

// derive returns the derivation of the contradiction as text (D16).
func (p *problem) derive(t *testing.T, near prose.Near) string {
	t.Helper()
	end, err := proof.Prove(t.Context(), p.rules, len(p.core.Classes), nil, proof.NoClass, 1000)
	if err != nil || end == nil {
		t.Fatalf("no proof: %v", err)
	}
	w := prose.NewWriter(0, &prose.Style{Places: true})
	w.Derivation(prose.NewNarrator(catalogs{near}).Derive(&p.core, end))
	return w.String()
}

// TestDerive checks the text of proofs of small conflicts (D16).
func TestDerive(t *testing.T) {
	api := &constraints.GVK{GVK: property.GVK{Group: "g.io", Version: "v1", Kind: "K"}}
	for name, c := range map[string]struct {
		near prose.Near
		make func(*problem)
		want string
	}{
		"nothing provides an API": {
			make: func(p *problem) {
				p.subscribe("a", p.class("a.v1.0.0"))
				p.requires(0, api)
			},
			want: "subscription a cannot be satisfied: a.v1.0.0, the only version in channel stable of package a, requires API K (g.io/v1), which no bundle in any catalog provides\n" +
				"  at cat a.yaml:7, property 2\n",
		},
		"near misses": {
			near: prose.Near{Versions: []string{"v2", "v3"}},
			make: func(p *problem) {
				p.subscribe("a", p.class("a.v1.0.0"))
				p.requires(0, api)
			},
			want: "subscription a cannot be satisfied: a.v1.0.0, the only version in channel stable of package a, requires API K (g.io/v1), which no bundle in any catalog provides; the catalogs provide only v2 and v3\n" +
				"  at cat a.yaml:7, property 2\n",
		},
		"many versions": {
			make: func(p *problem) {
				p.subscribe("a", p.class("a.v1.2.0", "a.v1.0.0", "a.v1.10.0", "a.v1.3.0"))
				p.requires(0, api)
			},
			want: "subscription a cannot be satisfied: all 4 versions in channel stable of package a require API K (g.io/v1), which no bundle in any catalog provides\n" +
				"  at cat a.yaml:7, property 2\n",
		},
		"the only provider is on hold": {
			make: func(p *problem) {
				p.subscribe("a", p.class("a.v1.0.0"))
				p.requires(0, api, p.class("b.v1.0.0"))
				p.forbid(1, &fact.PolicyBlocked{Bundle: bundle("b.v1.0.0"), Policy: fact.Policy{Package: "b", Hold: true}})
			},
			want: "subscription a cannot be satisfied: a.v1.0.0, the only version in channel stable of package a, requires API K (g.io/v1), but a policy blocks every bundle that satisfies it: package b is on hold\n" +
				"  at cat a.yaml:7, property 2\n" +
				"  - b.v1.0.0 is blocked by a policy: package b is on hold\n",
		},
		"two providers of an API (D10)": {
			make: func(p *problem) {
				p.subscribe("a", p.class("a.v1.0.0"))
				p.subscribe("b", p.class("b.v1.0.0"))
				p.add(proof.Rule{Kind: proof.Exclusive, Owner: proof.NoClass, List: []int{0, 1}}, &fact.OneProvider{API: api.GVK})
			},
			want: "subscription b cannot be satisfied: b.v1.0.0, the only version in channel stable of package b, conflicts with a.v1.0.0: both provide K (g.io/v1)\n" +
				"  - a.v1.0.0 is requested by subscription a from channel stable of package a\n",
		},
		"the only provider is deprecated (D12)": {
			make: func(p *problem) {
				p.subscribe("a", p.class("a.v1.0.0", "a.v2.0.0"))
				p.requires(0, api, p.class("b.v1.0.0"))
				p.forbid(1, &fact.Prohibited{Bundle: bundle("b.v1.0.0"), Pos: fbc.Pos{File: "b.yaml", Line: 9}, Message: "use c"})
			},
			want: "subscription a cannot be satisfied: both versions in channel stable of package a require API K (g.io/v1), which only b.v1.0.0 could satisfy\n" +
				"  at cat a.yaml:7, property 2\n" +
				"  - b.v1.0.0 is deprecated: its property olm.deprecated excludes it\n" +
				"    author's message: use c\n" +
				"    at cat b.yaml:9\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &problem{core: prose.Core{Supposed: proof.NoClass, Parts: map[*proof.Formula]constraints.Expr{}, Likes: map[*proof.Formula]int{}}}
			c.make(p)
			if got := p.derive(t, c.near); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestRequirement checks noun phrases for requirements, and the messages of their authors (H9).
func TestRequirement(t *testing.T) {
	for text, want := range map[string]string{
		`{"gvk": {"group": "g.io", "version": "v1", "kind": "K"}}`:                                                                                       "API K (g.io/v1)",
		`{"package": {"packageName": "a", "versionRange": ">=1.0.0"}}`:                                                                                   "package a >=1.0.0",
		`{"failureMessage": "needs K", "all": {"constraints": [{"gvk": {"group": "g.io", "version": "v1", "kind": "K"}}]}}`:                              "API K (g.io/v1); needs K",
		`{"any": {"constraints": [{"package": {"packageName": "a", "versionRange": "1.0.0"}}, {"failureMessage": "no luck", "cel": {"rule": "true"}}]}}`: "one of (package a 1.0.0; CEL rule `true`); no luck",
		`{"not": {"constraints": [{"package": {"packageName": "a", "versionRange": "1.0.0"}}]}}`:                                                         "no package a 1.0.0",
	} {
		x, err := constraints.NewCompiler(nil).Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(append([]string{prose.Requirement(x)}, prose.Messages(x)...), "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestHidden(t *testing.T) {
	for want, h := range map[string]prose.Hidden{
		"it is not in any channel":                 {},
		"its channel stable is broken: no head":    {Channel: "stable", Err: errors.New("no head")},
		"it skips itself in channel stable":        {Channel: "stable", SkipsItself: true},
		"another entry in channel stable skips it": {Channel: "stable"},
	} {
		if got := h.Reason(); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

// steps is a derivation that repeats a step.
func steps() *fact.Step {
	shared := &fact.Step{Text: "b requires c", Likeness: 1, Because: []*fact.Step{{Text: "c is <gone>", Likeness: 2}}}
	return &fact.Step{
		Text: "nothing works", Likeness: 3,
		Because: []*fact.Step{
			{Text: "a requires b", Likeness: 4, Messages: []string{"see *docs*"}, Places: []fact.Place{{Catalog: fact.CatalogID{Name: "cat"}, File: "a.yaml", Line: 7, Property: 2}}, Because: []*fact.Step{shared}},
			shared,
		},
	}
}

// TestWriter writes a step that supports two others only once, and breaks lines between words.
func TestWriter(t *testing.T) {
	w := prose.NewWriter(24, &prose.Style{Quote: strings.ToUpper, Places: true})
	w.Derivation(steps())
	const want = `nothing works
  - a requires b
    AUTHOR'S MESSAGE:
    SEE *DOCS*
    at cat a.yaml:7,
    property 2
    - b requires c
      - c is <gone>
  - b requires c (see
    above)
`
	if got := w.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMarkdown writes the same steps as a list and escapes all external text (S8).
func TestMarkdown(t *testing.T) {
	const want = `- a requires b — *at cat a.yaml:7, property 2*; author's message: “see \*docs\*”
  - b requires c
    - c is \<gone\>
- b requires c (see above)
`
	if got := prose.Markdown(steps(), true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
