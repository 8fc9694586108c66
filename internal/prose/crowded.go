package prose

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// crowded states that more bundles are required than the namespace can hold.
func (w *writing) crowded(s *step, c *proof.Claim) {
	var subs, who, kinds, holds []string
	for _, d := range c.Crowding.Demands {
		r := &w.Rules[d.Rule]
		x := &step{Step: fact.Step{Fact: r.Facts[0], Code: r.Facts[0].Code()}, either: true, because: w.steps(d.Because)}
		for _, k := range d.Classes {
			x.Bundles = append(x.Bundles, w.Classes[k]...)
		}
		w.cite(x, r)
		switch q := r.Facts[0].(type) {
		case *fact.Subscribed:
			subs = append(subs, q.Subscription.Name)
			x.one = w.asks(q, x.Bundles, len(d.Because) > 0)
			x.many = x.one
		case *fact.Requires:
			who = append(who, fmt.Sprintf("%s (for %s)", w.name(r.Owner, true), Requirement(q.Requirement)))
			x.one = onlyChoice(q, w.name(r.Owner, true))
			x.many = x.one
		}
		x.finish(w.group(x.Bundles, true))
		x.Likeness = w.likeness(x, &proof.Claim{Kind: proof.Chosen, Rule: d.Rule, Because: d.Because})
		s.because = append(s.because, x)
	}
	if len(subs) > 0 {
		who = slices.Insert(who, 0, phrase.Plural(len(subs), "subscription")+" "+phrase.And(subs))
	}
	var apis, packages []string
	for _, i := range c.Crowding.Limits {
		switch q := w.Rules[i].Facts[0].(type) {
		case *fact.OneProvider:
			apis = append(apis, q.API.String())
		case *fact.OnePerPackage:
			packages = append(packages, q.Package)
		case *fact.Replaced:
			kinds = append(kinds, fmt.Sprintf("is %s or the installed %s", q.Bundle.Name, q.Operator.Name))
			holds = append(holds[:0], "either an operator or its replacement")
		}
	}
	if len(packages) > 0 {
		kinds, holds = append(kinds, "is of package "+phrase.Or(packages)), append(holds, "one version of a package")
	}
	if len(apis) > 0 {
		kinds, holds = append(kinds, "provides "+phrase.Or(apis)), append(holds, "one provider of an API")
	}
	s.Code = crowded
	s.Text = fmt.Sprintf("%s need %d bundles, but there is room for %d: each %s, and a namespace can hold only %s",
		phrase.And(who), len(c.Crowding.Demands), len(c.Crowding.Limits), phrase.Or(kinds), phrase.And(holds))
}
