package jq_test

import (
	"testing"

	"github.com/olmkit/olmkit/internal/jq"
)

func TestEdit(t *testing.T) {
	pin := jq.Select(".policies[]?", map[string]any{"package": "it's", "pin": `"1"`, "hold": false, "from": ""})
	for _, tt := range []struct{ got, want string }{
		{jq.Edit("p.json", "", "del("+pin+")"),
			`jq 'del(.policies[]? | select((.from // "") == "" and (.hold // false) == false and .package == "it'\''s" and .pin == "\"1\""))' p.json > p.json.new && mv p.json.new p.json`},
		{jq.Edit("-p p", `"`, "del(.x)"), `jq 'if .id == "\"" then del(.x) else . end' './-p p' > './-p p.new' && mv './-p p.new' './-p p'`},
		{jq.Edit("-", "", jq.Replace(".x", "pin", "exclude", ">2")), `jq '(.x) |= (del(.pin) | .exclude = ">2")'`},
		{jq.Edit("-", "", jq.Assign(".x", "pin", "2")), `jq '(.x).pin = "2"'`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}
