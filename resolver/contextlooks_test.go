package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
)

// looks is a context that counts how often it is checked, and ends at a given check.
type looks struct {
	context.Context
	n, last int
}

func (c *looks) Err() error {
	if c.n++; c.last > 0 && c.n >= c.last {
		return context.Canceled
	}
	return nil
}

// TestContextLooks checks that the number of context checks is proportional to the work, and that the context is
// obeyed wherever it ends (D18).
func TestContextLooks(t *testing.T) {
	const n = 60
	check := func(name string, least int, f func(context.Context) error) {
		t.Helper()
		all := &looks{Context: context.Background()}
		if err := f(all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if all.n < least {
			t.Errorf("%s checks the context %d times, want at least %d", name, all.n, least)
		}
		for _, last := range []int{1, all.n / 4, all.n / 2, all.n - 1} {
			ctx := &looks{Context: context.Background(), last: max(last, 1)}
			if err := f(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ended at check %d of %d: got %v", name, last, all.n, err)
			}
			if after := ctx.n - ctx.last; after > 10 {
				t.Errorf("%s checks the context %d more times after it ended", name, after)
			}
		}
	}
	for _, c := range testcatalog.Cases() {
		p := shaped(t, c, n)
		var no *resolver.Conflict
		name := c.Shape + ", " + string(c.Outcome)
		least := n
		if c.Shape == "versions" && c.Outcome == testcatalog.FirstTry {
			least = 1 // only the head is examined
		}
		check(name, least, func(ctx context.Context) error {
			if _, err := resolver.Resolve(ctx, p); !errors.As(err, &no) {
				return err
			}
			return nil
		})
		if no == nil {
			continue
		}
		check("explaining "+name, 1, func(ctx context.Context) error { _, err := no.Report(ctx); return err })
	}
	p := shaped(t, testcatalog.Case{Shape: "chain", Outcome: testcatalog.FirstTry}, n)
	pkg, _ := p.Catalogs[0].Graph.Package(p.Subscriptions[0].Package)
	for b := range pkg.Bundles() {
		check("the dependencies of "+b.Name(), 2*n, func(ctx context.Context) error {
			_, err := resolver.CheckDependencies(ctx, b, nil, p.Catalogs)
			return err
		})
	}
}

// TestContextLooksForEachBundle checks that testing a requirement on many bundles checks the context for each of them,
// because the versions of a package may take long to compare (D18).
func TestContextLooksForEachBundle(t *testing.T) {
	const n = 200
	var b strings.Builder
	b.WriteString(`{"schema": "olm.package", "name": "app", "defaultChannel": "s"}
{"schema": "olm.channel", "package": "app", "name": "s", "entries": [{"name": "app.v1"}]}
{"schema": "olm.bundle", "package": "app", "name": "app.v1", "image": "img/app:1", "properties": [{"type": "olm.package", "value": {"packageName": "app", "version": "1.0.0"}}, {"type": "olm.package.required", "value": {"packageName": "db", "versionRange": ">=0.0.0"}}]}
{"schema": "olm.package", "name": "db", "defaultChannel": "s"}
`)
	entries := make([]string, n)
	for i := range n {
		entries[i] = fmt.Sprintf(`{"name": "db.v%d", "replaces": "db.v%d"}`, i+1, i)
		fmt.Fprintf(&b, `{"schema": "olm.bundle", "package": "db", "name": "db.v%d", "image": "img/db:%d", "properties": [{"type": "olm.package", "value": {"packageName": "db", "version": "%d.0.0"}}]}`+"\n", i+1, i+1, i+1)
	}
	fmt.Fprintf(&b, `{"schema": "olm.channel", "package": "db", "name": "s", "entries": [%s]}`, strings.Join(entries, ","))
	g, err := graph.LoadReader(t.Context(), strings.NewReader(b.String()), "c.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "ns", Graph: g}}, Subscriptions: []resolver.Subscription{{Package: "app"}}}
	all := &looks{Context: context.Background()}
	if _, err := resolver.Resolve(all, p); err != nil {
		t.Fatal(err)
	}
	if all.n < n {
		t.Errorf("the context is checked %d times for %d bundles", all.n, n)
	}
	ctx := &looks{Context: context.Background(), last: n / 2}
	if _, err := resolver.Resolve(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
