package resolver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/subset"
)

// TestOnDemand changes bytes of an index that is read on demand: every answer is that of
// the intact index, or a graph.IndexError (S5).
func TestOnDemand(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(testcatalog.Mixed), "mixed.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var index bytes.Buffer
	if err := graph.WriteIndex(t.Context(), &index, c, ""); err != nil {
		t.Fatal(err)
	}
	problem := func(c *graph.Catalog, pkg string) resolver.Problem {
		return resolver.Problem{
			Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "mixed", Namespace: "olm", Graph: c}},
			Subscriptions: []resolver.Subscription{{Package: pkg}},
		}
	}
	text := func(x any, err error) (string, error) {
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(x)
		return string(b), err
	}
	questions := []func(c *graph.Catalog) (string, error){
		func(c *graph.Catalog) (string, error) { return text(resolver.Resolve(t.Context(), problem(c, "db"))) },
		func(c *graph.Catalog) (string, error) {
			_, err := resolver.Resolve(t.Context(), problem(c, "nowhere"))
			var no *resolver.Conflict
			if !errors.As(err, &no) {
				return "", err
			}
			return no.Text(t.Context(), 0, nil)
		},
		func(c *graph.Catalog) (string, error) {
			s, err := resolver.Resolve(t.Context(), problem(c, "db"))
			if err != nil {
				return "", err
			}
			return text(s.WhyNot(t.Context(), "db.v2"))
		},
		func(c *graph.Catalog) (string, error) {
			return text(olmv1.Select(t.Context(), olmv1.Request{Package: "db", Catalogs: []olmv1.Catalog{{Name: "mixed", Graph: c}}}))
		},
		func(c *graph.Catalog) (string, error) {
			return text(subset.Cut(t.Context(), c, subset.Request{Packages: []subset.Want{{Package: "db"}}}))
		},
	}
	refused := 0
	for n, q := range questions {
		want, wantErr := q(c)
		for i := 0; i < index.Len(); i += 5 {
			damaged := bytes.Clone(index.Bytes())
			damaged[i] ^= 0x55
			opened, err := graph.ReadIndex(bytes.NewReader(damaged), int64(len(damaged)), &graph.Options{OnDemand: true})
			if err != nil {
				continue
			}
			got, err := q(opened)
			switch bad := (*graph.IndexError)(nil); {
			case errors.As(err, &bad) && errors.Is(err, graph.ErrIndexCorrupt):
				refused++
			case (err == nil) != (wantErr == nil) || got != want || err != nil && err.Error() != wantErr.Error():
				t.Fatalf("question %d, byte %d: got %s, %v; want %s, %v", n, i, got, err, want, wantErr)
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was found on demand")
	}
}
