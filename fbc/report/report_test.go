package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/internal/codes"
)

func findings(t *testing.T) fbc.Diagnostics {
	t.Helper()
	text := `{"schema":"olm.package","name":"a","defaultChannel":"gone"}
{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1","image":"a","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.typo","value":1}]}
{"schema":
`
	_, found, err := fbc.CheckReader(t.Context(), strings.NewReader(text), "a 100%, b:c/index.json", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(found, &fbc.Diagnostic{Code: "other-code", Severity: fbc.Warning, Err: errors.New("of nowhere\nin two lines")}, &fbc.Diagnostic{Code: codes.Empty, Pos: fbc.Pos{File: "x"}})
}

func TestWrite(t *testing.T) {
	for _, f := range report.Formats() {
		for name, found := range map[string]fbc.Diagnostics{"findings": findings(t), "none": nil} {
			var out strings.Builder
			if err := report.Write(t.Context(), &out, f, found, &report.Options{Prefix: "catalogs/x", ToolVersion: "1.2.3"}); err != nil {
				t.Fatal(err)
			}
			golden.File(t, name+"."+string(f), out.String())
		}
	}
}

func TestWriteErrors(t *testing.T) {
	if err := report.Write(t.Context(), &strings.Builder{}, "xml", nil, nil); err == nil || !strings.Contains(err.Error(), `unknown format "xml"`) {
		t.Errorf("got %v", err)
	}
	if err := report.Write(t.Context(), full{}, report.Text, findings(t), nil); err != errFull {
		t.Errorf("got %v", err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
