package prose

import (
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// rivals returns the conclusion of a core that consists only of several subscriptions to
// one package and the rule that a namespace can hold only one version of it. It returns nil
// for any other core. The conclusion names the subscriptions rather than the versions that
// conflict.
func (w *writing) rivals() *step {
	var one *fact.OnePerPackage
	var subs []*fact.Subscribed
	for _, r := range w.Rules {
		for _, f := range r.Facts {
			switch f := f.(type) {
			case *fact.OnePerPackage:
				one = f
			case *fact.Subscribed:
				subs = append(subs, f)
			default:
				return nil
			}
		}
	}
	if w.Supposed != proof.NoClass || one == nil || len(subs) < 2 {
		return nil
	}
	var names []string
	var owner, owned string
	s := &step{Step: fact.Step{Fact: one, Code: one.Code()}}
	shared := fact.Names(subs[0].Candidates)
	for _, q := range subs {
		names = append(names, q.Subscription.Name)
		if _, current := offers(q); current != "" {
			owner, owned = q.Subscription.Name, current
		}
		offered := fact.Names(q.Candidates)
		shared = slices.DeleteFunc(shared, func(name string) bool { return !slices.Contains(offered, name) })
		x := &step{Step: fact.Step{Fact: q, Code: q.Code(), Bundles: q.Candidates, Text: w.allows(q)}}
		x.Likeness = w.like([]byte(x.Text))
		s.because = append(s.because, x)
	}
	why := "no version satisfies all of them"
	switch {
	case len(shared) > 0 && owner != "" && len(subs) == 2:
		why = "the installed " + owned + " belongs to subscription " + owner + ", and OLM would install a second one for the other subscription"
	case len(shared) > 0:
		why = "they count a version in two channels or catalogs as two bundles"
	case len(subs) == 2:
		why = "no version satisfies both"
	}
	s.Text = "subscriptions " + phrase.And(names) + " request the same package " + one.Package +
		", of which a namespace can hold only one version, but " + why
	s.Likeness = w.like([]byte(s.Text))
	return s
}

// allows states which versions satisfy a subscription.
func (w *writing) allows(q *fact.Subscribed) string {
	text := "subscription " + q.Subscription.Name + " allows only " + w.group(q.Candidates, true)
	switch versions, current := offers(q); {
	case current != "" && len(versions) == 0:
		text += ", which has no successor" + within(&q.Subscription)
	case current != "":
		text += ", the installed version and its successors" + within(&q.Subscription)
	case q.Subscription.StartingCSV != "":
		text += ", its startingCSV"
	case q.Subscription.Channel != "":
		text += ", from channel " + q.Subscription.Channel
	}
	if q.Subscription.Catalog != "" {
		text += ", from catalog " + q.Subscription.Catalog
	}
	return text
}
