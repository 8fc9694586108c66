package fbc

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/codes"
)

// A faultList keeps the first faults up to a maximum and counts the rest.
type faultList struct {
	list Diagnostics
	max  int
	cut  *Diagnostic // the first of the rest
	rest int
}

func (l *faultList) add(ds ...*Diagnostic) {
	n := min(len(ds), max(l.max-len(l.list), 0))
	l.list = append(l.list, ds[:n]...)
	if l.rest += len(ds) - n; l.cut == nil && n < len(ds) {
		l.cut = ds[n]
	}
}

// addAll adds another list, including its count of the rest.
func (l *faultList) addAll(o *faultList) {
	l.add(o.list...)
	l.rest += o.rest
}

func (l *faultList) sorted() Diagnostics {
	l.list.sort()
	return l.list
}

// capped returns the kept faults in order, followed by a finding with the number of the
// others, if any.
func (l *faultList) capped() Diagnostics {
	if l.sorted(); l.rest > 0 {
		return append(l.list, &Diagnostic{Code: codes.Limit, Err: fmt.Errorf("%d more findings of this kind; raise limit Diagnostics to see them", l.rest)})
	}
	return l.list
}
