package resolver_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// sameSets checks that backtrack finds the set that the solver prefers (D9, D16), in the same order, and reports
// whether it gave up.
func sameSets(t *testing.T, name any, p resolver.Problem) (givenUp bool) {
	t.Helper()
	found, preferred, givenUp, err := resolver.Sets(context.Background(), p)
	if bad := (*document.Error)(nil); errors.As(err, &bad) {
		return false // for other tests
	} else if err != nil {
		t.Errorf("%v: %v", name, err)
	}
	if (found == nil) != (preferred == nil) || !slices.Equal(found, preferred) {
		t.Errorf("%v: backtrack finds\n%q\nthe solver prefers\n%q", name, found, preferred)
	}
	return givenUp
}

// TestBacktrack compares backtrack with the solver on random problems.
func TestBacktrack(t *testing.T) {
	n, givenUp := testsize.Of(2000, 10_000, 500_000), 0
	for seed := range uint64(n) {
		p := randomProblem(seed)
		if err := p.Open(context.Background(), nil); err != nil {
			continue
		}
		p.Options.IgnoreUnhealthy = true
		if sameSets(t, seed, p) {
			givenUp++
		}
	}
	if givenUp > n/100 {
		t.Errorf("backtrack gave up %d of %d problems", givenUp, n)
	}
}

// TestBacktrackShapes does the same for problems with long chains, cycles and lists.
func TestBacktrackShapes(t *testing.T) {
	for _, c := range testcatalog.Cases() {
		for _, n := range []int{1, 2, 3, 20, 40} {
			sameSets(t, c, shaped(t, c, n))
		}
	}
}

// TestBacktrackReal does the same for pairs and fives of packages of a real catalog.
func TestBacktrackReal(t *testing.T) {
	c := realcat.Graph(t, "community")
	var pkgs []resolver.Subscription
	for p := range c.Packages() {
		pkgs = append(pkgs, resolver.Subscription{Package: p.Name()})
	}
	for _, n := range []int{1, 2, 5} {
		step := testsize.Of(7, 3, 1)
		for i := 0; i+n <= len(pkgs); i += step {
			p := over(c)
			for k := range n {
				p.Subscriptions = append(p.Subscriptions, pkgs[(i+k*61)%len(pkgs)])
			}
			sameSets(t, p.Subscriptions, p)
		}
	}
}

// TestBacktrackReplaced checks that an operator that two upgrades would replace stays replaced when one of them turns
// out to be impossible (D11).
func TestBacktrackReplaced(t *testing.T) {
	text := `{"schema": "olm.package", "name": "one", "defaultChannel": "s"}
{"schema": "olm.channel", "package": "one", "name": "s", "entries": [{"name": "one.v2", "replaces": "both.v1"}]}
{"schema": "olm.bundle", "package": "one", "name": "one.v2", "image": "i/one", "properties": [{"type": "olm.package", "value": {"packageName": "one", "version": "2.0.0"}}]}
{"schema": "olm.package", "name": "two", "defaultChannel": "s"}
{"schema": "olm.channel", "package": "two", "name": "s", "entries": [{"name": "two.v2", "replaces": "both.v1"}]}
{"schema": "olm.bundle", "package": "two", "name": "two.v2", "image": "i/two", "properties": [{"type": "olm.package", "value": {"packageName": "two", "version": "2.0.0"}}, {"type": "olm.package.required", "value": {"packageName": "none", "versionRange": ">=1.0.0"}}]}
`
	p := resolver.Problem{
		Namespace: "ns",
		Catalogs:  []resolver.Catalog{{Name: "c", Namespace: "ns", FBC: &text}},
		Installed: []resolver.Installed{{Name: "both.v1", Version: "1.0.0", Properties: []property.Property{}}},
		Subscriptions: []resolver.Subscription{
			{Name: "a", Package: "one", Channel: "s", InstalledCSV: "both.v1"},
			{Name: "b", Package: "two", Channel: "s", InstalledCSV: "both.v1"},
		},
	}
	if err := p.Open(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	sameSets(t, "two owners", p)
}
