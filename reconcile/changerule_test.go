package reconcile_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/olmkit/olmkit/reconcile"
)

// ruleInText matches the id of a rule at the end of a text.
var ruleInText = regexp.MustCompile(`\([A-Z]\d+\)$`)

// knownRules returns the ids in docs/rules.tsv.
var knownRules = sync.OnceValues(func() (map[string]bool, error) {
	text, err := os.ReadFile("../docs/rules.tsv")
	ids := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(line, "\t")
		ids[id] = true
	}
	return ids, err
})

// citesRule: the rule of a change is a known one, and is not part of the reason.
func citesRule(c *reconcile.Change) error {
	known, err := knownRules()
	if err != nil {
		return err
	}
	if c.Rule != "" && !known[c.Rule] || ruleInText.MatchString(c.Reason) {
		return fmt.Errorf("the change %s has the rule %q, which is not in docs/rules.tsv, or one in its reason", c, c.Rule)
	}
	return nil
}
