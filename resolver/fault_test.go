package resolver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/resolver"
)

// TestConflictFaults checks that a conflict lists the rules in it that could not be evaluated, as data, in every
// rendering, and in its error, which becomes a condition of the subscription (D7).
func TestConflictFaults(t *testing.T) {
	a, err := txtar.ParseFile("testdata/conflicts/cel-rule-cost.txtar")
	if err != nil {
		t.Fatal(err)
	}
	const want = "evaluation costs more than 500000; raise limit MaxCost to allow it"
	no := conflictOf(t, readCase(t, a))
	if len(no.Faults) != 1 || no.Faults[0].Error != want {
		t.Errorf("the faults of the conflict are %v", no.Faults)
	}
	if len(no.Cores) != 1 || len(no.Cores[0].Faults) != 1 {
		t.Fatalf("no fault in the core")
	}
	r, err := no.Report(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"error": no.Error(), "Markdown": r.Markdown(nil), "text": r.Text(0, nil)}
	for name, v := range map[string]any{"report": r, "conflict": no} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	for name, text := range texts {
		if !strings.Contains(text, want) {
			t.Errorf("the %s does not state the fault:\n%s", name, text)
		}
	}
}

// TestFaultsOfOthers checks that the faults of a core omit rules that are not part of it, and that a long rule is
// truncated in text for people (D7).
func TestFaultsOfOthers(t *testing.T) {
	a, err := txtar.ParseFile("testdata/conflicts/cel-rule-cost.txtar")
	if err != nil {
		t.Fatal(err)
	}
	p := readCase(t, a)
	p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: "nothing"})
	no := conflictOf(t, p)
	found := 0
	for _, core := range no.Cores {
		found += len(core.Faults)
	}
	if len(no.Cores) != 2 || found != 1 {
		t.Errorf("%d faults in %d cores", found, len(no.Cores))
	}
	f := resolver.Fault{Rule: strings.Repeat("x", 60_000), Error: "e"}
	if n := len(f.String()); n > 200 {
		t.Errorf("it takes %d characters", n)
	}
}
