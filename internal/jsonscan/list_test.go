package jsonscan_test

import (
	"encoding/json"
	"testing"

	"github.com/olmkit/olmkit/internal/jsonscan"
)

func TestField(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": [2, {"a": 3}]}`:   "1",
		" {\"a\": 1}\n":                  "1",
		`{"b":{"a":1}}`:                  "",
		`{"a":1,"a":{"x":"}"}}`:          `{"x":"}"}`,
		`{"b":"\"a\":2" , "\u0061":"x"}`: `"x"`,
		`{"a":null}`:                     "null",
		`{"A":1,"":2}`:                   "",
		`{}`:                             "",
		`["a",1]`:                        "",
		`"a"`:                            "",
		`1`:                              "",
		``:                               "",
	} {
		if text != "" && !json.Valid([]byte(text)) {
			t.Errorf("%s is not valid", text)
		}
		if got := string(jsonscan.Field([]byte(text), "a")); got != want {
			t.Errorf("Field(%s) = %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a" 1}`, `{"a":x}`, `{"b":1 "a":2}`, `{,}`, `{"a\`} {
		jsonscan.Field([]byte(text), "a") // does not panic
	}
}
