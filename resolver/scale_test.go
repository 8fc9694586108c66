package resolver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// broken returns the text of a package whose versions require packages that no catalog has:
// either all the same one, or each a different one.
func broken(name string, versions int, same bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"c"}`+"\n", name)
	fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"c","entries":[{"name":"%s.v0"}`, name, name)
	for v := 1; v < versions; v++ {
		fmt.Fprintf(&b, `,{"name":"%s.v%d","replaces":"%s.v%d"}`, name, v, name, v-1)
	}
	b.WriteString("]}\n")
	for v := range versions {
		needs := "none"
		if !same {
			needs = fmt.Sprintf("none%d", v)
		}
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":"%s.v%d","image":"i","properties":[`+
			`{"type":"olm.package","value":{"packageName":%q,"version":"%d.0.0"}},`+
			`{"type":"olm.package.required","value":{"packageName":%q,"versionRange":">=1.0.0"}}]}`+"\n", name, name, v, name, v, needs)
	}
	return b.String()
}

// TestLargeConflicts checks that the cost of an explanation is proportional to its size. Each of these problems once
// took minutes or more: every core was examined for every fact, every fact was tried with the whole namespace, and
// every requirement was tried as a fix.
func TestLargeConflicts(t *testing.T) {
	explain := func(t *testing.T, text string, cores int, packages ...string) {
		c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "broken", nil)
		if err != nil {
			t.Fatal(err)
		}
		p := over(c)
		for _, name := range packages {
			p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: name})
		}
		no := conflictOf(t, p)
		if len(no.Cores) != cores {
			t.Errorf("got %d cores, want %d", len(no.Cores), cores)
		}
		if _, err := no.Text(context.Background(), 100, nil); err != nil {
			t.Error(err)
		}
	}
	var gone, bad []string
	for i := range 4500 {
		gone = append(gone, fmt.Sprintf("gone%d", i))
	}
	var text strings.Builder
	for i := range 700 {
		bad = append(bad, fmt.Sprintf("p%d", i))
		text.WriteString(broken(bad[i], 12, true))
	}
	t.Run("missing packages", func(t *testing.T) { explain(t, broken("p", 1, true), len(gone), gone...) })
	t.Run("broken packages", func(t *testing.T) { explain(t, text.String(), len(bad), bad...) })
	t.Run("a long broken channel", func(t *testing.T) { explain(t, broken("p", 1000, false), 1, "p") })
}
