package fbc_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/fbc"
)

// TestDiagnosticJSON checks that a Diagnostic and a pointer to one marshal to the same JSON
// (A1).
func TestDiagnosticJSON(t *testing.T) {
	for want, d := range map[string]fbc.Diagnostic{
		`{"code":"no-bundle","severity":"warning","file":"a/b.yaml","line":3,"fieldLine":5,"schema":"olm.channel","package":"a","name":"stable","path":"/entries/0","message":"is missing"}`: {
			Code: "no-bundle", Severity: fbc.Warning, Pos: fbc.Pos{File: "a/b.yaml", Line: 3}, FieldLine: 5,
			Schema: "olm.channel", Package: "a", Name: "stable", Path: "/entries/0", Err: errors.New("is missing"),
		},
		`{"code":"empty","severity":"error","message":"empty"}`: {Code: "empty"},
	} {
		for _, v := range []any{d, &d} {
			if got, err := json.Marshal(v); err != nil || string(got) != want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, want)
			}
		}
	}
	if got, err := json.Marshal(fbc.Diagnostics(nil)); err != nil || string(got) != "[]" {
		t.Errorf("got %s (%v), want an empty list", got, err)
	}
}
