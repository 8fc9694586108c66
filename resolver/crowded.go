package resolver

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
)

// crowded states that more bundles are required than the namespace can hold.
func (w *narrator) crowded(s *Step, c *proof.Claim) {
	var subs, who, kinds, holds []string
	for _, d := range c.Crowding.Demands {
		r := &w.rules[d.Rule]
		x := &Step{Fact: r.Fact, Code: r.Code(), either: true, Because: w.steps(d.Because)}
		for _, k := range d.Classes {
			x.Bundles = append(x.Bundles, w.refs(k)...)
		}
		w.cite(x, r, c)
		switch q := r.Fact.(type) {
		case *Subscribed:
			subs = append(subs, q.Subscription.Name)
			x.one = w.asks(q, x.Bundles, len(d.Because) > 0)
			x.many = x.one
		case *Requires:
			who = append(who, fmt.Sprintf("%s (for %s)", w.name(r.Owner, true), requirement(q)))
			x.one = onlyChoice(q, w.name(r.Owner, true))
			x.many = x.one
		}
		w.finish(x, w.e.r.u.group(x.Bundles, true))
		x.like = w.likenessOf(x, &proof.Claim{Kind: proof.Chosen, Rule: d.Rule, Because: d.Because})
		s.Because = append(s.Because, x)
	}
	if len(subs) > 0 {
		who = slices.Insert(who, 0, pluralOf(len(subs), "subscription")+" "+andList(subs))
	}
	var apis, packages []string
	for _, i := range c.Crowding.Limits {
		switch q := w.rules[i].Fact.(type) {
		case *OneProvider:
			apis = append(apis, q.API.String())
		case *OnePerPackage:
			packages = append(packages, q.Package)
		case *Replaced:
			kinds = append(kinds, fmt.Sprintf("is %s or the installed %s", q.Bundle.Name, q.Operator.Name))
			holds = append(holds[:0], "one of an operator and its replacement")
		}
	}
	if len(packages) > 0 {
		kinds, holds = append(kinds, "is of package "+wordList(packages)), append(holds, "one version of a package")
	}
	if len(apis) > 0 {
		kinds, holds = append(kinds, "provides "+wordList(apis)), append(holds, "one provider of an API")
	}
	s.Code = CodeCrowded
	s.Text = fmt.Sprintf("%s need %d bundles, but there is room for %d: each %s, and a namespace can hold only %s",
		andList(who), len(c.Crowding.Demands), len(c.Crowding.Limits), wordList(kinds), andList(holds))
}
