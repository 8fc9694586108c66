package resolver_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/resolver"
)

// TestSkipsItself checks that an explanation distinguishes an entry that skips itself from one that another entry
// skips. Neither is ever offered (H3, H27).
func TestSkipsItself(t *testing.T) {
	for skipper, want := range map[string]string{
		`{"name":"d2","replaces":"d1"},{"name":"d1","skips":["d1"]}`: "cannot be selected: it skips itself in channel s",
		`{"name":"d2","skips":["d1"]},{"name":"d1"}`:                 "cannot be selected: d2 in channel s skips it",
	} {
		text := `{"schema":"olm.package","name":"d","defaultChannel":"s"}
{"schema":"olm.channel","name":"s","package":"d","entries":[` + skipper + `]}
{"schema":"olm.bundle","name":"d1","package":"d","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"d","version":"1.0.0"}}]}
{"schema":"olm.bundle","name":"d2","package":"d","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"d","version":"2.0.0"}}]}
{"schema":"olm.package","name":"e","defaultChannel":"s"}
{"schema":"olm.channel","name":"s","package":"e","entries":[{"name":"e2"},{"name":"e1"}]}
{"schema":"olm.channel","name":"alone","package":"e","entries":[{"name":"e1"}]}
{"schema":"olm.bundle","name":"e1","package":"e","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"e","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"d","versionRange":"1.0.0"}}]}
{"schema":"olm.bundle","name":"e2","package":"e","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"e","version":"2.0.0"}}]}`
		p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: &text}},
			Subscriptions: []resolver.Subscription{{Name: "e", Package: "e", Channel: "alone", Catalog: "c", CatalogNamespace: "olm"}}}
		if err := p.Open(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		_, err := resolver.Resolve(t.Context(), p)
		var no *resolver.Conflict
		if !errors.As(err, &no) {
			t.Fatalf("%s: %v; want a conflict", skipper, err)
		}
		said, err := no.Text(t.Context(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
			t.Errorf("%s: the text of the conflict is\n%s\nwant %q", skipper, said, want)
		}
		p.Subscriptions = nil
		sol, err := resolver.Resolve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		nots, err := sol.WhyNot(t.Context(), "d1")
		if err != nil {
			t.Fatal(err)
		}
		if len(nots) != 1 || nots[0].Text != want {
			t.Errorf("%s: why not: %+v; want %q", skipper, nots, want)
		}
	}
}
