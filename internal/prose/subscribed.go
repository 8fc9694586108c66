package prose

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// asks returns the predicate for the only bundles that can satisfy a subscription. left
// reports whether other candidates have been excluded.
func (w *writing) asks(q *fact.Subscribed, bundles []fact.Ref, left bool) string {
	name := q.Subscription.Name
	_, current := offers(q)
	stays := slices.ContainsFunc(bundles, fact.Ref.Installed)
	switch {
	case current == "" && q.Subscription.StartingCSV != "":
		return "is the startingCSV of subscription " + name
	case left:
		return "must be chosen for subscription " + name + ": no other candidate is left"
	case current == "":
		return "is requested by subscription " + name + " from " + origin(&q.Subscription)
	case stays && len(bundles) == 1:
		return "is installed by subscription " + name + " and has no successor" + within(&q.Subscription)
	default:
		return "must be chosen for subscription " + name + ": nothing else is one upgrade away" + within(&q.Subscription)
	}
}

// offers returns the versions that could satisfy a subscription, without duplicates, and
// the installed one.
func offers(q *fact.Subscribed) (versions []string, current string) {
	var offered []fact.Ref
	for _, c := range q.Candidates {
		if c.Installed() && c.Name == q.Subscription.InstalledCSV {
			current = c.Name
		} else {
			offered = append(offered, c)
		}
	}
	versions = slices.DeleteFunc(fact.Names(offered), func(name string) bool { return name == current })
	return versions, current
}

// unmet states that no candidate of a subscription is left.
func (w *writing) unmet(q *fact.Subscribed) string {
	versions, current := offers(q)
	text := "subscription " + q.Subscription.Name + " cannot be satisfied: "
	switch n := len(versions); {
	case current != "" && n == 0:
		return text + "the installed " + current + " cannot stay and has no successor" + within(&q.Subscription)
	case current != "" && n == 1:
		return text + "neither the installed " + current + " nor " + versions[0] + ", its only successor" + within(&q.Subscription) + ", can be chosen"
	case current != "":
		return fmt.Sprintf("%sneither the installed %s nor any of its %d successors%s can be chosen", text, current, n, within(&q.Subscription))
	case n == 1 && q.Subscription.StartingCSV != "":
		return text + "its startingCSV " + versions[0] + " cannot be chosen"
	case n == 1:
		return text + versions[0] + ", the only version" + w.wants(&q.Subscription) + ", cannot be chosen"
	case n == 2:
		return text + "neither version" + w.wants(&q.Subscription) + " can be chosen"
	default:
		return fmt.Sprintf("%snone of the %d versions%s can be chosen", text, n, w.wants(&q.Subscription))
	}
}

// fold joins a subscription and the only reason against all its candidates in one
// sentence.
func (w *writing) fold(s *step) {
	q, ok := s.Fact.(*fact.Subscribed)
	if !ok || len(s.because) != 1 || s.because[0].one == "" || s.because[0].Code == supposed {
		return
	}
	why := s.because[0]
	versions, current := offers(q)
	text := "subscription " + q.Subscription.Name + " cannot be satisfied: "
	switch n := len(versions); {
	case current != "" && n == 0:
		text += "the installed " + current + ", which has no successor" + within(&q.Subscription) + ", " + why.one
	case current != "" && n == 1:
		text += "the installed " + current + " and " + versions[0] + ", its only successor" + within(&q.Subscription) + ", " + why.many
	case current != "":
		text += fmt.Sprintf("the installed %s and %s its successors%s %s", current, all(n), within(&q.Subscription), why.many)
	case n == 1 && q.Subscription.StartingCSV != "":
		text += "its startingCSV " + versions[0] + " " + why.one
	case n == 1:
		text += versions[0] + ", the only version" + w.wants(&q.Subscription) + ", " + why.one
	default:
		text += fmt.Sprintf("%s versions%s %s", all(n), w.wants(&q.Subscription), why.many)
	}
	s.folded, s.under = text, why
}

// lead extends the sentence of an unmet requirement with the reason why its owner is
// necessary, if that is a single fact.
func (w *writing) lead(s *step, c *proof.Claim, r *Rule) {
	if _, ok := r.Facts[0].(*fact.Requires); !ok || len(c.Because) == 0 || len(s.because) == 0 {
		return
	}
	by := c.Because[0]
	if by.Kind != proof.Chosen || by.Rule < 0 || len(by.Because) > 0 || s.because[0].Fact != w.Rules[by.Rule].Facts[0] {
		return
	}
	names := fact.Names(s.Bundles)
	switch q := w.Rules[by.Rule].Facts[0].(type) {
	case *fact.Subscribed:
		_, current := offers(q)
		text := "subscription " + q.Subscription.Name + " cannot be satisfied: "
		switch {
		case len(names) > 1 && current == "":
			s.folded = text + all(len(names)) + " versions" + w.wants(&q.Subscription) + " " + s.many
		case len(names) > 1:
			return
		case current == names[0]:
			s.folded = text + "the installed " + current + ", which has no successor" + within(&q.Subscription) + ", " + s.one
		case current != "":
			return
		case q.Subscription.StartingCSV == names[0]:
			s.folded = text + "its startingCSV " + names[0] + " " + s.one
		default:
			s.folded = text + names[0] + ", the only version" + w.wants(&q.Subscription) + ", " + s.one
		}
	case *fact.MustStay:
		if q.Held != "" {
			s.folded = "the installed " + q.Operator.Name + ", which must stay (" + q.Held + "), " + s.one
			break
		}
		s.folded = "the installed " + q.Operator.Name + ", an orphan (no subscription has it as installedCSV) that must stay, " + s.one
	default:
		return
	}
	under := *s
	under.folded, under.because = "", s.because[1:]
	s.under = &under
}

// all returns "both" or "all n".
func all(n int) string {
	if n == 2 {
		return "both"
	}
	return fmt.Sprintf("all %d", n)
}

// within names the channel of a subscription, for the end of a clause. It returns "" if
// the subscription names none.
func within(s *fact.Subscription) string {
	if s.Channel == "" {
		return ""
	}
	return " in channel " + s.Channel
}

// wants names the package and channel of a subscription, for the end of a clause. If some
// of its entries cannot be selected because others skip them, it also states how many.
func (w *writing) wants(s *fact.Subscription) string {
	text := " in " + origin(s)
	if s.Channel == "" {
		text = " of " + origin(s)
	}
	switch n := w.catalogs.Skipped(s); n {
	case 0:
		return text
	case 1:
		return text + " that can be installed (1 other is skipped)"
	default:
		return fmt.Sprintf("%s that can be installed (%d others are skipped)", text, n)
	}
}

// origin returns the package and channel of a subscription.
func origin(s *fact.Subscription) string {
	if s.Channel == "" {
		return "package " + s.Package
	}
	return "channel " + s.Channel + " of package " + s.Package
}
