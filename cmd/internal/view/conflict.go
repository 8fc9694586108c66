package view

import (
	"context"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/fact"
)

// maxDepth limits the nesting of a derivation in the page, because the script draws it recursively.
const maxDepth = 60

// cores returns the derivations of a conflict and the possible fixes.
func cores(ctx context.Context, c *resolver.Conflict) ([]coreData, error) {
	report, err := c.Report(ctx)
	if err != nil {
		return nil, err
	}
	var out []coreData
	for _, core := range report.Cores {
		s := steps(core.Conclusion, 0)
		d := coreData{Headline: core.Headline, Steps: &s, Incomplete: core.Incomplete, Notes: core.Notes, Fixes: fixes(core.Fixes)}
		if len(core.Fixes) == 0 {
			d.Notes = append(d.Notes, "No single change or pair of changes resolves this. Give up one of the requests and resolve again.")
		}
		out = append(out, d)
	}
	return out, nil
}

// fixes returns the data of fixes, which is never nil.
func fixes(list []*resolver.Fix) []fixData {
	out := []fixData{}
	for _, f := range list {
		x := fixData{Text: f.String(), Commands: f.Commands}
		for _, ch := range f.Changes {
			x.Changes = append(x.Changes, ch.String())
		}
		out = append(out, x)
	}
	return out
}

// steps returns the sentence of a step and the steps below it.
func steps(s *fact.Step, depth int) stepData {
	s = s.Shown()
	d := stepData{Code: s.Code, Text: s.Text, Messages: s.Messages}
	for _, p := range s.Places {
		d.Places = append(d.Places, p.String())
	}
	if depth == maxDepth {
		return d
	}
	for _, b := range s.Because {
		d.Because = append(d.Because, steps(b, depth+1))
	}
	return d
}

// codes returns the descriptions of the codes that answers use, in the order of the documentation.
func codes(answers []answerData) []codeData {
	used := map[fact.Code]bool{} // never ranged over
	var visit func(list []stepData)
	visit = func(list []stepData) {
		for _, s := range list {
			used[s.Code] = true
			visit(s.Because)
		}
	}
	for _, a := range answers {
		for _, c := range a.Cores {
			visit([]stepData{*c.Steps})
		}
		for _, n := range a.Nodes {
			for _, w := range n.Why {
				visit(w.Over)
			}
		}
	}
	var out []codeData
	for _, e := range fact.Explanations() {
		if used[e.Code] {
			out = append(out, codeData{e.Code, e.Title})
		}
	}
	return out
}
