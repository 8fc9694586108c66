package resolver_test

import (
	"slices"
	"testing"
)

// TestOracle compares the oracle with the recorded answers of the running OLM.
func TestOracle(t *testing.T) {
	for _, name := range []string{"classic-simple.jsonl", "classic-upgrade.jsonl", "classic-compound.jsonl"} {
		t.Run(name, func(t *testing.T) {
			agree := 0
			cases := readCases(t, name)
			for i := range cases {
				c := &cases[i]
				o := newOracle(t, problemOf(t, c))
				best, ok := o.best()
				var got []answer
				best.each(func(i int) bool {
					x := o.all[i]
					if x.catalog < 0 {
						return true
					}
					a := answer{x.ref.Name, x.ref.Channel, x.ref.Package, x.ref.Catalog.Name, x.ref.Catalog.Namespace, x.entry.Replaces}
					x.replaces.each(func(in int) bool { a.Replaces = o.all[in].ref.Name; return true })
					got = append(got, a)
					return true
				})
				slices.SortFunc(got, compareAnswers)
				fine := ok == c.Want.OK
				if ok && fine {
					fine = slices.ContainsFunc(c.Want.Answers, func(w []answer) bool {
						slices.SortFunc(w, compareAnswers)
						return slices.Equal(w, got)
					})
				}
				if fine {
					agree++
				} else {
					t.Errorf("%s: got %v %v, want %v %v", c.ID, ok, got, c.Want.OK, c.Want.Answers)
				}
			}
			t.Logf("%d of %d agree", agree, len(cases))
		})
	}
}
