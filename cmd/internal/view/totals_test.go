package view

import (
	"fmt"
	"strings"
	"testing"
)

// TestTotals checks that the page counts what it does not list (A1).
func TestTotals(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"schema":"olm.package","name":"p","defaultChannel":"c"}` + "\n" + `{"schema":"olm.channel","package":"p","name":"c","entries":[`)
	const entries = 115
	for i := range entries {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"p.v1.0.%d","skipRange":"no range %d"}`, i, i)
	}
	b.WriteString("]}\n")
	c := load(t, b.String())
	all := len(c.Findings())
	d, err := newCatalog(t.Context(), Catalog{Name: "x", Graph: c}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all <= maxProblems || len(d.Problems) != maxProblems || d.NumProblems != all {
		t.Errorf("%d problems: %d listed of %d", all, len(d.Problems), d.NumProblems)
	}
	ch := d.Packages[0].Channels[0]
	if len(ch.Faults) < maxFaults || ch.NumFaults < entries || ch.NumFaults == len(ch.Faults) {
		t.Errorf("%d faults listed of %d", len(ch.Faults), ch.NumFaults)
	}
}
