package shrink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/shrink"
)

const catalog = `{"schema":"olm.package","name":"app","defaultChannel":"stable"}
{"schema":"olm.channel","package":"app","name":"stable","entries":[{"name":"app.v1"},{"name":"app.v2","replaces":"app.v1"},{"name":"app.v3","replaces":"app.v2","skipRange":"<3.0.0"}]}
{"schema":"olm.channel","package":"app","name":"fast","entries":[{"name":"app.v3"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1","image":"i","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"Db"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v2","image":"i","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}},{"type":"color","value":"red"},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"Db"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v3","image":"i","properties":[{"type":"olm.package","value":{"packageName":"app","version":"3.0.0"}},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"Db"}}]}
{"schema":"olm.package","name":"web","defaultChannel":"stable"}
{"schema":"olm.channel","package":"web","name":"stable","entries":[{"name":"web.v1"}]}
{"schema":"olm.bundle","package":"web","name":"web.v1","image":"i","properties":[{"type":"olm.package","value":{"packageName":"web","version":"1.0.0"}}]}
`

func problem(t testing.TB) resolver.Problem {
	text := catalog
	p := resolver.Problem{
		Namespace:     "ns",
		Catalogs:      []resolver.Catalog{{Name: "c", Namespace: "olm", Priority: 3, FBC: &text}, {Name: "d", Namespace: "olm", FBC: &text}},
		Subscriptions: []resolver.Subscription{{Package: "app", Channel: "stable", Catalog: "c", CatalogNamespace: "olm"}, {Package: "web"}},
	}
	if err := p.Open(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func conflict(t testing.TB, p resolver.Problem) *resolver.Conflict {
	t.Helper()
	_, err := resolver.Resolve(context.Background(), p)
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		t.Fatalf("got %v, want a conflict", err)
	}
	return no
}

// TestProblem shrinks a problem to the one bundle that matters.
func TestProblem(t *testing.T) {
	p := problem(t)
	small, err := shrink.Shrink(context.Background(), p, shrink.SameConflict(conflict(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	conflict(t, small)
	got, err := json.Marshal(small)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"formatVersion":1,"catalogs":[{"name":"c","namespace":"olm","priority":0,"fbc":"` +
		`{\"schema\":\"olm.package\",\"name\":\"app\",\"defaultChannel\":\"stable\"}\n` +
		`{\"schema\":\"olm.channel\",\"package\":\"app\",\"name\":\"stable\",\"entries\":[{\"name\":\"app.v3\"}]}\n` +
		`{\"schema\":\"olm.bundle\",\"package\":\"app\",\"name\":\"app.v3\",\"properties\":[{\"type\":\"olm.package\",\"value\":{\"packageName\":\"app\",\"version\":\"3.0.0\"}},{\"type\":\"olm.gvk.required\",\"value\":{\"group\":\"g\",\"version\":\"v1\",\"kind\":\"Db\"}}]}\n` +
		`"}],"namespace":"ns","subscriptions":[{"package":"app"}],"installed":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := shrink.Shrink(context.Background(), p, func(context.Context, resolver.Problem) (bool, error) { return false, nil }); !errors.Is(err, shrink.ErrNotKept) {
		t.Errorf("got the error %v, want ErrNotKept", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := shrink.Shrink(ctx, p, shrink.SameConflict(conflict(t, p))); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want the context's", err)
	}
}

// TestReal shrinks a conflict of a real catalog to a few bundles.
func TestReal(t *testing.T) {
	p := resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: realcat.Graph(t, "community")}},
		Subscriptions: []resolver.Subscription{{Package: "sn-operator"}, {Package: "pulsar-operator"}, {Package: "cert-manager"}},
	}
	small, err := shrink.Shrink(context.Background(), p, shrink.SameConflict(conflict(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	bundles := 0
	for _, c := range small.Catalogs {
		bundles += c.Graph.Size().Bundles
	}
	if len(small.Subscriptions) != 2 || bundles != 2 {
		t.Errorf("got %d subscriptions and %d bundles, want 2 of each:\n%s", len(small.Subscriptions), bundles, *small.Catalogs[0].FBC)
	}
	t.Logf("%d bytes are left", len(*small.Catalogs[0].FBC))
}

func ExampleProblem() {
	ctx := context.Background()
	c, err := graph.LoadReader(ctx, strings.NewReader(catalog), "catalog.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: c}},
		Subscriptions: []resolver.Subscription{{Package: "app"}, {Package: "web"}},
	}
	var no *resolver.Conflict
	if _, err := resolver.Resolve(ctx, p); !errors.As(err, &no) {
		fmt.Println(err)
		return
	}
	small, err := shrink.Shrink(ctx, p, shrink.SameConflict(no))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(small.Subscriptions), "subscription and", small.Catalogs[0].Graph.Size().Bundles, "bundle are left")
	// Output: 1 subscription and 1 bundle are left
}
