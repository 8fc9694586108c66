package kubectl_test

import (
	"testing"

	"github.com/olmkit/olmkit/internal/kubectl"
)

// TestCommands: names and values cannot leave their quotes.
func TestCommands(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{kubectl.Patch("subscription", "ops", "db", map[string]any{"channel": "stable", "startingCSV": nil}),
			`kubectl patch subscription db -n ops --type merge --patch '{"spec":{"channel":"stable","startingCSV":null}}'`},
		{kubectl.Patch("clustercatalog", "", "it's", map[string]any{"priority": 3}),
			`kubectl patch clustercatalog 'it'\''s' --type merge --patch '{"spec":{"priority":3}}'`},
		{kubectl.Delete("subscription", "ops", "$(reboot)"), `kubectl delete subscription '$(reboot)' -n ops`},
		{kubectl.Delete("subscription", "", ""), `kubectl delete subscription ''`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}
