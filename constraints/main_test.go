package constraints

import (
	"testing"
)

func mustParse(t testing.TB, raw string) Expr {
	t.Helper()
	x, err := NewCompiler(nil).Parse([]byte(raw))
	if err != nil {
		t.Fatalf("Parse(%s): %v", raw, err)
	}
	return x
}
