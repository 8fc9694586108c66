package resolver_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCasesShowRules checks that at least two cases show each rule about catalogs, the graph, selections, resolutions,
// plans and OLM's behavior. notshown.tsv lists the rules that no answer can show, with the reason.
func TestCasesShowRules(t *testing.T) {
	const sections, least = "ABCDEH", 2
	table, shown := ruleTable(t), map[string]int{}
	for _, c := range conformanceCases(t) {
		for _, id := range c.Rules {
			if table[id] == "" {
				t.Errorf("%s cites rule %s, which docs/rules.tsv does not have", c.Name, id)
			}
			shown[id]++
		}
	}
	text, err := os.ReadFile(conformanceDir + "/notshown.tsv")
	if err != nil {
		t.Fatal(err)
	}
	not := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		id, why, _ := strings.Cut(strings.TrimSpace(line), "\t")
		not[id] = true
		switch {
		case table[id] == "" || why == "":
			t.Errorf("notshown.tsv: %q: want the id of a rule and a reason, with a tab between them", line)
		case shown[id] > 0:
			t.Errorf("notshown.tsv lists rule %s, which %d cases show; remove the line", id, shown[id])
		}
	}
	for id := range table {
		if strings.Contains(sections, id[:1]) && !not[id] && shown[id] < least {
			t.Errorf("%d cases show rule %s; it needs %d, or a line in notshown.tsv with the reason", shown[id], id, least)
		}
	}
	if all := len(conformanceCases(t)); all < 300 {
		t.Errorf("%d cases are left", all)
	}
	var most []string
	for id, n := range shown {
		if n >= least {
			most = append(most, id)
		}
	}
	slices.SortFunc(most, compareRules)
	t.Logf("%d rules are shown: %s", len(most), strings.Join(most, " "))
}
