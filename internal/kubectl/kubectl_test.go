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

// TestObjects: objects that are created, and objects whose name or spec only the cluster knows.
func TestObjects(t *testing.T) {
	object := map[string]any{"kind": "CatalogSource", "metadata": map[string]any{"name": "it's"}}
	for _, tt := range []struct{ got, want string }{
		{kubectl.Apply(object), `echo '{"kind":"CatalogSource","metadata":{"name":"it'\''s"}}' | kubectl apply -f -`},
		{kubectl.Copy("catalogsource", "olm", "it's", object),
			`echo '{"kind":"CatalogSource","metadata":{"name":"it'\''s"},"spec":'"$(kubectl get catalogsource 'it'\''s' -n olm -o jsonpath={.spec})"'}' | kubectl apply -f -`},
		{kubectl.PatchStatus("subscription", "ops", "db", map[string]any{"currentCSV": "db.v1"}),
			`kubectl patch subscription db -n ops --subresource=status --type merge --patch '{"status":{"currentCSV":"db.v1"}}'`},
		{kubectl.Recreate("clusterextension", "", "db", map[string]any{"channel": "stable"}),
			`kubectl get clusterextension db -o json | kubectl patch --local -f - --type merge --patch '{"spec":{"channel":"stable"}}' -o json | kubectl replace --force -f -`},
		{kubectl.PatchOnly("operatorgroup", "ops", map[string]any{"targetNamespaces": []string{"ops"}}),
			`kubectl get operatorgroup -n ops -o name | xargs kubectl patch -n ops --type merge --patch '{"spec":{"targetNamespaces":["ops"]}}'`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// TestEdit: changes of documents in files. The fields of what is selected that are not set do not
// matter.
func TestEdit(t *testing.T) {
	pin := kubectl.Select(".policies[]?", map[string]any{"package": "it's", "pin": `"1"`, "hold": false, "from": ""})
	for _, tt := range []struct{ got, want string }{
		{kubectl.Edit("p.json", "", "del("+pin+")"),
			`jq 'del(.policies[]? | select(.package == "it'\''s" and .pin == "\"1\""))' p.json > p.json.new && mv p.json.new p.json`},
		{kubectl.Edit("-p p", `"`, "del(.x)"), `jq 'if .id == "\"" then del(.x) else . end' './-p p' > './-p p.new' && mv './-p p.new' './-p p'`},
		{kubectl.Edit("-", "", kubectl.Assign(".x", "pin", "2")), `jq '(.x).pin = "2"'`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}
