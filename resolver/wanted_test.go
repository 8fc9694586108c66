package resolver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/resolver"
)

// TestManyHeldBack checks that the work for fixes does not grow with the square of the number of
// subscriptions that do not get their newest version (D21): only some of the entries get fixes.
func TestManyHeldBack(t *testing.T) {
	const n, want = 150, 10_000 / 150
	var b strings.Builder
	p := resolver.Problem{Namespace: "ns"}
	for i := range n {
		fmt.Fprintf(&b, `---
{schema: olm.package, name: p%[1]d, defaultChannel: s}
---
{schema: olm.channel, package: p%[1]d, name: s, entries: [{name: p%[1]d.v1}, {name: p%[1]d.v2, replaces: p%[1]d.v1}]}
---
{schema: olm.bundle, package: p%[1]d, name: p%[1]d.v1, image: x, properties: [{type: olm.package, value: {packageName: p%[1]d, version: 1.0.0}}]}
---
{schema: olm.bundle, package: p%[1]d, name: p%[1]d.v2, image: x, properties: [{type: olm.package, value: {packageName: p%[1]d, version: 2.0.0}}, {type: olm.package.required, value: {packageName: none%[1]d, versionRange: ">1.0.0"}}]}
`, i)
		p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Name: fmt.Sprint("p", i), Package: fmt.Sprint("p", i)})
	}
	text := b.String()
	p.Catalogs = []resolver.Catalog{{Name: "c", Namespace: "ns", FBC: &text}}
	sol, err := resolver.Resolve(context.Background(), open(t, p))
	if err != nil {
		t.Fatal(err)
	}
	list, err := sol.AdviceWithFixes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fixed := 0
	for i := range list {
		if len(list[i].Fixes) > 0 {
			fixed++
		}
	}
	if len(list) != n || fixed != want {
		t.Errorf("%d of %d entries have fixes, want %d of %d", fixed, len(list), want, n)
	}
	if last, err := sol.Fixes(context.Background(), &list[n-1], 0); err != nil || len(last) == 0 {
		t.Errorf("the last entry has the fixes %v, and the error is %v", last, err)
	}
}
